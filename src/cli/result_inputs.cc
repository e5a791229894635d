#include "cli/result_inputs.h"

#include <fmt/format.h>

#include <utility>

#include "cli/console.h"
#include "cli/interrupt.h"

namespace pepe {
namespace {

/// Notes the time of each result that passes.
class SpanReader final : public ResultReader {
 public:
  SpanReader(std::unique_ptr<ResultReader> reader, RunSpans& spans, std::size_t input)
      : reader_{std::move(reader)}, spans_{spans}, input_{input} {}

  Expected<const Result*> next() override {
    auto result = reader_->next();
    if (result && *result != nullptr) spans_.add(input_, **result);
    return result;
  }

 private:
  std::unique_ptr<ResultReader> reader_;
  RunSpans& spans_;
  std::size_t input_;
};

/// Refuses results of which nobody knows how late they were.
class LagReader final : public ResultReader {
 public:
  LagReader(std::unique_ptr<ResultReader> reader, std::string name)
      : reader_{std::move(reader)}, name_{std::move(name)} {}

  Expected<const Result*> next() override {
    auto result = reader_->next();
    if (!result || *result == nullptr || (*result)->has_lag) return result;
    return Error{name_ +
                 ": it does not say how late its hits were sent: only what attack wrote in its own encoding does"};
  }

 private:
  std::unique_ptr<ResultReader> reader_;
  std::string name_;
};

/// `damaged` outlives what is made of these.
DecoderEvents events_of(const std::string& name, const ResultInputsOptions& options, bool& damaged) {
  DecoderEvents events;
  events.facts = options.facts;
  events.remark = [name](const std::string& text) {
    if (!interrupt::happened()) print_note(fmt::format("{}: {}", name, text));
  };
  events.damage = [remark = events.remark, &damaged](const std::string& text) {
    damaged = damaged || !interrupt::happened();
    remark(text);
  };
  return events;
}

}  // namespace

struct ResultInputs::State {
  ResultInputsOptions options;
  std::vector<FileId> ids;
  RunSpans spans;
  bool damaged{false};
  std::uint64_t given{0};  ///< Results.
  std::unique_ptr<ResultReader> reader;
};

ResultInputs::ResultInputs(std::unique_ptr<State> state) : state_{std::move(state)} {}
ResultInputs::ResultInputs(ResultInputs&&) noexcept = default;
ResultInputs::~ResultInputs() = default;

Expected<ResultInputs> ResultInputs::open(std::vector<std::string> names, ResultInputsOptions options) {
  if (names.empty()) names.emplace_back("stdin");
  const bool several = names.size() > 1;
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  std::vector<std::unique_ptr<ResultReader>> readers;
  std::optional<Error> empty;
  for (const std::string& name : names) {
    auto opened = InputFile::open(name);
    if (!opened && interrupt::happened()) break;
    if (!opened) return std::move(opened).error();
    const auto file = std::make_shared<InputFile>(*std::move(opened));
    state->ids.push_back(file->id());
    const auto read = [file, hooks = &state->options.hooks](std::span<char> buffer) {
      return file->read(buffer, *hooks);
    };
    auto reader = open_results({name, read}, events_of(name, state->options, state->damaged), state->options.decode);
    if (!reader && interrupt::happened()) break;
    if (!reader) {
      if (!several || file->bytes_read() > 0 || file->failed()) return std::move(reader).error();
      print_note(fmt::format("{} is empty and passed over", name));
      empty = std::move(reader).error();
      continue;
    }
    std::unique_ptr<ResultReader> source = *std::move(reader);
    if (state->options.need_lag) source = std::make_unique<LagReader>(std::move(source), name);
    if (several) source = std::make_unique<SpanReader>(std::move(source), state->spans, readers.size());
    readers.push_back(std::move(source));
  }
  if (readers.empty() && empty) return *std::move(empty);
  state->reader = several || readers.empty() ? round_robin(std::move(readers)) : std::move(readers.front());
  return ResultInputs{std::move(state)};
}

Expected<const Result*> ResultInputs::next() {
  auto result = state_->reader->next();
  if (!result && interrupt::happened()) return static_cast<const Result*>(nullptr);
  if (result && *result != nullptr) ++state_->given;
  return result;
}

Expected<void> ResultInputs::check_loss() const {
  if (!state_->damaged) return {};
  return Error{state_->given > 0 ? "some results are lost, the others were read" : "all results are lost"};
}

std::uint64_t ResultInputs::given() const noexcept { return state_->given; }

std::span<const FileId> ResultInputs::ids() const noexcept { return state_->ids; }

std::optional<std::string> ResultInputs::gap_remark() const {
  const auto gap = state_->spans.longest_gap();
  if (!gap) return std::nullopt;
  return fmt::format("the runs lie apart: {} between them count as time of attack in duration and rates",
                     format_duration(round_duration(*gap)));
}

}  // namespace pepe
