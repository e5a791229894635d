#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "engine/response.h"
#include "pepe/result/chunk_writer.h"

namespace pepe {

/// The last answer of a target, as bytes and as parsed. An answer whose head has the same bytes (`Date` changes once a
/// second) is recognised by one comparison: its parse, its body's frame and its dictionary entry are used again.
/// One per target and worker.
class AnswerCache {
 public:
  /// Whether `data`, the first bytes of an answer, starts with the known head.
  bool knows_head(std::string_view data) noexcept {
    const bool known =
        !head_.empty() && data.size() >= head_.size() && std::memcmp(data.data(), head_.data(), head_.size()) == 0;
    if (known) lessons_in_vain_ = 0;
    return known;
  }
  std::size_t head_size() const noexcept { return head_.size(); }
  std::uint64_t content_length() const noexcept { return content_length_; }

  /// Takes over the head of `response`, which is `head` to the byte. A target whose heads never repeat is learned from
  /// less and less often, since learning costs more than parsing.
  void learn(std::string_view head, Response& response);

  std::uint16_t code() const noexcept { return code_; }
  const std::string& error() const noexcept { return error_; }
  const std::vector<HeaderView>& headers() const noexcept { return headers_; }

  /// The last body of this target; empty: none, or too large to keep.
  BodyRef body;
  /// Dictionary entry of "this head with `body`", for a connection that is `reused` or not and its protocol.
  OutcomeId& outcome(bool reused, Protocol protocol) noexcept {
    return outcomes_[(reused ? 1 : 0) + (protocol == Protocol::kHttp2 ? 2 : 0)];
  }
  void forget_outcomes() noexcept { std::fill(std::begin(outcomes_), std::end(outcomes_), OutcomeId{}); }

 private:
  OutcomeId outcomes_[4];
  std::string head_;
  std::uint64_t content_length_{0};
  std::uint16_t code_{0};
  std::string error_;
  std::string text_;  // what headers_ views
  std::vector<HeaderView> headers_;
  std::uint32_t lessons_in_vain_{0};
};

}  // namespace pepe
