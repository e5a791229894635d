#include "pepe/result/stream.h"

#include <optional>
#include <utility>

#include "result/input_buffer.h"

namespace pepe {
namespace {

class InputReader final : public ResultReader {
 public:
  InputReader(std::string name, InputBuffer input, std::unique_ptr<Decoder> decoder)
      : name_{std::move(name)}, input_{std::move(input)}, decoder_{std::move(decoder)} {}

  Expected<const Result*> next() override {
    while (!done_) {
      const Expected<DecodeStatus> status = decoder_->next(input_.window(), result_);
      if (!status) return fail(status.error());
      if (*status == DecodeStatus::kResult) return &result_;
      if (*status == DecodeStatus::kEnd) break;
      if (const Expected<void> filled = input_.fill(); !filled) return fail(filled.error());
    }
    done_ = true;
    return nullptr;
  }

 private:
  Error fail(const Error& error) {
    done_ = true;
    return Error{name_ + ": " + error.text()};
  }

  std::string name_;
  InputBuffer input_;
  std::unique_ptr<Decoder> decoder_;
  Result result_;
  bool done_{false};
};

class RoundRobinReader final : public ResultReader {
 public:
  explicit RoundRobinReader(std::vector<std::unique_ptr<ResultReader>> readers) : readers_{std::move(readers)} {}

  Expected<const Result*> next() override {
    while (!readers_.empty()) {
      if (turn_ == readers_.size()) turn_ = 0;
      Expected<const Result*> result = readers_[turn_]->next();
      if (result && *result != nullptr) {
        ++turn_;
        return result;
      }
      if (!result && !first_error_) first_error_ = result.error();
      readers_.erase(readers_.begin() + static_cast<std::ptrdiff_t>(turn_));
    }
    if (first_error_) return *std::exchange(first_error_, std::nullopt);
    return nullptr;
  }

 private:
  std::vector<std::unique_ptr<ResultReader>> readers_;
  std::size_t turn_{0};
  std::optional<Error> first_error_;
};

// The first codec in order that the head fits. nullptr: none does. nullopt: a longer head is needed to tell.
std::optional<const CodecEntry*> detect(const InputWindow& window) {
  for (const CodecEntry& codec : codecs()) {
    switch (codec.detect(window.rest(), window.at_end)) {
      case CodecEntry::Match::kYes: return &codec;
      case CodecEntry::Match::kNeedMore:
        if (!window.at_end) return std::nullopt;
        break;
      case CodecEntry::Match::kNo: break;
    }
  }
  return nullptr;
}

}  // namespace

Expected<std::unique_ptr<ResultReader>> open_results(ResultInput input, DecoderEvents events, DecodeOptions options) {
  InputBuffer buffer{std::move(input.read)};
  std::optional<const CodecEntry*> codec;
  while (!codec) {
    if (const Expected<void> filled = buffer.fill(); !filled) return Error{input.name + ": " + filled.error().text()};
    codec = detect(buffer.window());
  }
  if (*codec == nullptr) return Error{"encode: can't detect encoding of \"" + input.name + "\""};
  std::unique_ptr<Decoder> decoder = (*codec)->make_decoder(std::move(events), options);
  return std::unique_ptr<ResultReader>{
      std::make_unique<InputReader>(std::move(input.name), std::move(buffer), std::move(decoder))};
}

std::unique_ptr<ResultReader> round_robin(std::vector<std::unique_ptr<ResultReader>> readers) {
  return std::make_unique<RoundRobinReader>(std::move(readers));
}

}  // namespace pepe
