#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/input.h"
#include "pepe/base/check.h"
#include "pepe/result/stream.h"
#include "support/random_result.h"

namespace {

constexpr std::string_view kBoundary = "\n==\n";

/// What reading some inputs came to.
struct Reading {
  std::vector<pepe::RandomResult> results;
  std::string error;
  std::size_t events{0};  ///< Damage and remarks.
};

std::vector<std::string_view> split(std::string_view bytes) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; end != std::string_view::npos; bytes.remove_prefix(std::min(end, bytes.size()))) {
    end = bytes.find(kBoundary);
    parts.push_back(bytes.substr(0, end));
    if (end != std::string_view::npos) end += kBoundary.size();
  }
  return parts;
}

/// Opens `bytes`, which come in pieces of at most `piece`; nullptr and an error in `reading` when no encoding fits.
std::unique_ptr<pepe::ResultReader> open(std::string_view bytes, std::size_t piece, Reading& reading) {
  const auto read = [bytes, piece](std::span<char> buffer) mutable -> pepe::Expected<std::size_t> {
    const std::size_t size = std::min({buffer.size(), bytes.size(), piece});
    std::copy_n(bytes.begin(), size, buffer.begin());
    bytes.remove_prefix(size);
    return size;
  };
  pepe::DecoderEvents events;
  events.damage = events.remark = [&reading](const std::string&) { ++reading.events; };
  auto reader = pepe::open_results({"input", read}, std::move(events), {});
  if (reader) return *std::move(reader);
  reading.error = reader.error().text();
  return nullptr;
}

void read_all(pepe::ResultReader& reader, Reading& reading) {
  for (;;) {
    const auto result = reader.next();
    if (!result) reading.error = result.error().text();
    if (!result || *result == nullptr) return;
    reading.results.push_back(pepe::copy_of(**result));
  }
}

Reading read_one(std::string_view bytes, std::size_t piece) {
  Reading reading;
  if (const auto reader = open(bytes, piece, reading)) read_all(*reader, reading);
  return reading;
}

// One result from each in turn: none is lost, and the failure of one stops no other.
void check_together(const std::vector<std::string_view>& parts, const std::vector<Reading>& alone) {
  Reading together;
  std::vector<std::unique_ptr<pepe::ResultReader>> readers;
  std::size_t results = 0;
  bool failed = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto reader = open(parts[i], parts[i].size() + 1, together);
    if (!reader) continue;
    readers.push_back(std::move(reader));
    results += alone[i].results.size();
    failed = failed || !alone[i].error.empty();
  }
  together.error.clear();
  read_all(*pepe::round_robin(std::move(readers)), together);
  PEPE_CHECK(together.results.size() == results && together.error.empty() != failed);
}

}  // namespace

/// Files of results, of any encodings, with "==" on a line between them. Each is found out and read the same however
/// its bytes come, and together they give what they give alone.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = pepe::fuzz::Input{data, size}.rest();
  const std::vector<std::string_view> parts = split(bytes);
  constexpr std::size_t kMostParts = 4;
  if (parts.size() > kMostParts) return 0;
  std::vector<Reading> alone;
  for (const std::string_view part : parts) {
    alone.push_back(read_one(part, part.size() + 1));
    const std::uint64_t dice = pepe::fuzz::dice(part);
    const std::size_t piece = dice % 16 == 0 && part.size() < 300 ? 1 : part.size() / 8 + 1 + dice / 16 % 16;
    const Reading cut = read_one(part, piece);
    PEPE_CHECK(cut.results == alone.back().results && cut.error.empty() == alone.back().error.empty());
  }
  if (parts.size() > 1) check_together(parts, alone);
  return 0;
}
