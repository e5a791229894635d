#include "cli/attack_targets.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <climits>

#include "cli/console.h"
#include "pepe/base/memory.h"
#include "pepe/base/text.h"

namespace pepe {
namespace {

/// Targets that were read already, in their order.
class TargetList final : public Targeter {
 public:
  explicit TargetList(std::vector<Target> targets) : targets_{std::move(targets)} {}

  Expected<std::optional<Target>> next() override {
    if (taken_ == targets_.size()) return std::optional<Target>{};
    return std::optional<Target>{std::move(targets_[taken_++])};
  }

 private:
  std::vector<Target> targets_;
  std::size_t taken_{0};
};

/// A list of GET targets in the http format, as a stream of bytes.
ReadBytes read_urls(const std::vector<std::string>& urls) {
  std::string text;
  for (const std::string& url : urls) text += "GET " + url + "\n";
  return [text = std::move(text), pos = std::size_t{0}](std::span<char> buffer) mutable -> Expected<std::size_t> {
    const std::size_t size = text.copy(buffer.data(), buffer.size(), pos);
    pos += size;
    return size;
  };
}

/// A pipe that ends the reading of a list when something was written to it.
class ReadSwitch {
 public:
  ReadSwitch() { [[maybe_unused]] const int failed = ::pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK); }
  ReadSwitch(const ReadSwitch&) = delete;
  ReadSwitch& operator=(const ReadSwitch&) = delete;
  ~ReadSwitch() {
    for (const int end : ends_) ::close(end);
  }

  int descriptor() const { return ends_[0]; }
  void flip() const {
    const char byte = 0;
    [[maybe_unused]] const ssize_t written = ::write(ends_[1], &byte, 1);
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

ReadHooks until(const ReadSwitch& stop) { return {.before_read = {}, .before_wait = {}, .cancel = stop.descriptor()}; }

// Unlike the files that flags name, a body is never standard input, and the error says no more than `open PATH`.
Expected<std::string> read_named_file(const std::string& path, const ReadSwitch& stop, std::vector<FileId>* files) {
  auto file = InputFile::open_path(path);
  if (!file) return std::move(file).error();
  if (files != nullptr) files->push_back(file->id());
  return file->read_all(until(stop));
}

Expected<const TargetFormat*> find_format(const std::string& name) {
  std::string known;
  for (const TargetFormat& format : target_formats()) {
    if (format.name == name) return &format;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", format.name);
  }
  return Error{fmt::format("format {} isn't one of [{}]", quote(name), known)};
}

/// Opens the list; its bytes and its name go to `options`.
Expected<void> open_list(const AttackFlags& flags, const std::shared_ptr<ReadSwitch>& stop, TargeterOptions& options,
                         AttackTargets& targets) {
  const std::string name = flags.targets_given ? flags.targets : "stdin";
  auto opened = InputFile::open(name);
  if (!opened) return opening_error(name, opened.error());
  if (name == "stdin" && is_terminal(STDIN_FILENO)) {
    print_note("reading targets from the terminal: METHOD URL on a line each, Ctrl-D at the end");
  }
  targets.files.push_back(opened->id());
  const auto file = std::make_shared<InputFile>(*std::move(opened));
  options.name = name;
  options.read = [file, stop](std::span<char> buffer) { return file->read(buffer, until(*stop)); };
  targets.cancel = [stop] { stop->flip(); };
  return {};
}

Expected<void> read_default_body(const AttackFlags& flags, TargeterOptions& options, std::vector<FileId>& files) {
  if (flags.body.empty()) return {};
  auto file = InputFile::open(flags.body);
  if (!file) return opening_error(flags.body, file.error());
  files.push_back(file->id());
  auto body = file->read_all();
  if (!body) return std::move(body).error();
  options.defaults.body = std::make_shared<const std::string>(*std::move(body));
  return {};
}

/// Adds the output to `files` where the list, a file in the http format, names it as a body: a lazy list is read when
/// the output is open and empty already.
void add_body_that_is_output(const AttackFlags& flags, std::vector<FileId>& files) {
  const FileId output = file_id(flags.output);
  if (!output.regular || !file_id(flags.targets).regular) return;
  auto list = InputFile::open_path(flags.targets);
  if (!list) return;
  std::array<char, 64 * 1024> buffer;
  std::string line;  // as much of it as a path may be long
  const auto on_line = [&] {
    const std::string_view words = trim(line);
    if (words.starts_with('@') && file_id(std::string{words.substr(1)}) == output) files.push_back(output);
    line.clear();
  };
  for (auto size = list->read(buffer); size && *size > 0; size = list->read(buffer)) {
    for (const char c : std::string_view{buffer.data(), *size}) {
      if (c == '\n') {
        on_line();
      } else if (line.size() < PATH_MAX) {
        line += c;
      }
    }
  }
  on_line();
}

/// The engine reads them when the output is open already.
void add_tls_files(const TlsOptions& tls, std::vector<FileId>& files) {
  for (const std::string& path : {tls.cert_file, tls.key_file}) files.push_back(file_id(path));
  for (const std::string& path : tls.root_cert_files) files.push_back(file_id(path));
}

}  // namespace

Error opening_error(std::string_view name, const Error& error) {
  return Error{fmt::format("error opening {}: {}", name, error.text())};
}

Expected<AttackTargets> open_attack_targets(const AttackFlags& flags, const std::vector<std::string>& urls) {
  AttackTargets targets;
  TargeterOptions options;
  options.defaults.headers = flags.headers;
  const auto stop = std::make_shared<ReadSwitch>();
  // A lazy list names its bodies when the output is open already, and any number of them.
  std::vector<FileId>* const bodies = flags.options.lazy ? nullptr : &targets.files;
  options.read_file = [stop, bodies](const std::string& path) { return read_named_file(path, *stop, bodies); };
  options.warn = [](const std::string& text) { print_note(text); };
  if (urls.empty()) {
    if (auto opened = open_list(flags, stop, options, targets); !opened) return std::move(opened).error();
  } else {
    options.name = "command line";
    options.read = read_urls(urls);
  }
  if (auto read = read_default_body(flags, options, targets.files); !read) return std::move(read).error();
  add_tls_files(flags.options.tls, targets.files);
  if (flags.options.lazy && urls.empty() && flags.targets_given) add_body_that_is_output(flags, targets.files);
  auto format = find_format(flags.format);
  if (format && !urls.empty()) format = find_format("http");
  if (!format) return format.error();
  targets.targeter = (*format)->make(std::move(options));
  if (flags.options.lazy) return targets;
  // A list without end is better refused than met by the system's own remedy.
  auto all = read_all_targets(*targets.targeter, usable_memory() / 4 * 3);
  if (!all) return std::move(all).error();
  targets.targeter = std::make_unique<TargetList>(*std::move(all));
  return targets;
}

}  // namespace pepe
