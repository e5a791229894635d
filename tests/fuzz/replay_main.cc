// Runs a fuzz target over its corpus, as a normal test: each file as it is, and a fixed number of seeded changes to it
// (-changes=N).
// In a fuzzing build, libFuzzer's main stands in its place.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

int changes_per_file = 300;
constexpr std::size_t kLargestChanged = 64 * 1024;

void run(const std::string& input) {
  // An exact copy on the heap, so that a sanitizer sees a read beyond its end.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

std::string changed(std::string input, std::mt19937& random) {
  const auto at = [&input, &random] { return input.empty() ? 0 : random() % input.size(); };
  switch (random() % 5) {
    case 0: input.resize(at()); break;
    case 1: input.erase(at(), 1 + random() % 8); break;
    case 2: input.insert(at(), 1 + random() % 8, static_cast<char>(random())); break;
    case 3: input.insert(at(), input.substr(at(), random() % 64)); break;
    default:
      for (auto i = random() % 4 + 1; i > 0 && !input.empty(); --i) input[at()] = static_cast<char>(random());
  }
  return input;
}

void replay(const std::filesystem::path& file) {
  std::ifstream stream{file, std::ios::binary};
  const std::string input{std::istreambuf_iterator<char>{stream}, {}};
  run(input);
  if (input.size() > kLargestChanged) return;
  std::mt19937 random{1};
  for (int i = 0; i < changes_per_file; ++i) run(changed(input, random));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    constexpr std::string_view kChanges = "-changes=";
    if (std::string_view{argv[i]}.starts_with(kChanges)) changes_per_file = std::atoi(argv[i] + kChanges.size());
    if (std::filesystem::is_regular_file(argv[i])) files.emplace_back(argv[i]);
    if (!std::filesystem::is_directory(argv[i])) continue;
    for (const auto& entry : std::filesystem::directory_iterator{argv[i]}) files.push_back(entry.path());
  }
  if (files.empty()) {
    std::fprintf(stderr, "no corpus: want files or directories that hold some\n");
    return 1;
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    // Named first, so that a crash tells which file it was.
    std::printf("%s\n", file.c_str());
    std::fflush(stdout);
    replay(file);
  }
  return 0;
}
