#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/hit.h"
#include "engine/intrusive_list.h"
#include "engine/response.h"

namespace pepe {

/// One exchange on an HTTP/2 connection.
struct Http2Stream {
  enum class State { kOpen, kAnswered, kBroken };

  std::int32_t id{0};                  ///< 0: the connection has no number left for it.
  Hit* hit{nullptr};                   ///< nullptr: it gave up, or has its outcome.
  std::unique_ptr<Response> response;  ///< From the first field of an answer on.
  std::string_view content;            ///< What is left of the body to send. The hit's Request owns it.
  State state{State::kOpen};
  bool head_sent{false};
  bool sent{false};    ///< The request is sent as a whole.
  bool whole{false};   ///< The answer is read as a whole; its body may still be being unpacked.
  bool closed{false};  ///< The connection knows it no more: what still comes for it is passed over.
  bool reset_by_peer{false};
  std::uint32_t error_code{0};
  std::string error;                 ///< Found on this side; empty: error_code says it.
  std::int64_t send_window{0};       ///< May be negative (RFC 9113 6.9.2).
  std::int64_t receive_window{0};    ///< What the server may still send.
  std::int64_t announced_length{0};  ///< Of the answer's body; below 0: not announced.

  ListLink<Http2Stream> open_link;
  ListLink<Http2Stream> done_link;
  ListLink<Http2Stream> send_link;
  Http2Stream* next_in_bucket{nullptr};
};

/// Streams by their numbers. Owns nothing; asks for memory only when it has more of them than ever before.
class Http2StreamTable {
 public:
  void insert(Http2Stream& stream) {
    if (size_ == buckets_.size()) grow();
    link(stream);
    ++size_;
  }
  void erase(const Http2Stream& stream) noexcept {
    Http2Stream** at = &bucket(stream.id);
    while (*at != &stream) at = &(*at)->next_in_bucket;
    *at = stream.next_in_bucket;
    --size_;
  }
  /// nullptr: none has the number.
  Http2Stream* find(std::int32_t id) noexcept {
    if (size_ == 0) return nullptr;
    Http2Stream* stream = bucket(id);
    while (stream != nullptr && stream->id != id) stream = stream->next_in_bucket;
    return stream;
  }

 private:
  static constexpr std::size_t kLeast = 4;

  // A client's numbers are odd, and follow each other.
  Http2Stream*& bucket(std::int32_t id) noexcept {
    return buckets_[(static_cast<std::uint32_t>(id) >> 1) & (buckets_.size() - 1)];
  }
  void link(Http2Stream& stream) noexcept {
    Http2Stream*& first = bucket(stream.id);
    stream.next_in_bucket = first;
    first = &stream;
  }
  void grow() {
    std::vector<Http2Stream*> old(std::max(kLeast, 2 * buckets_.size()));
    old.swap(buckets_);
    for (Http2Stream* stream : old) {
      while (stream != nullptr) {
        Http2Stream* const next = stream->next_in_bucket;
        link(*stream);
        stream = next;
      }
    }
  }

  std::vector<Http2Stream*> buckets_;  // as many as a power of two
  std::size_t size_{0};
};

}  // namespace pepe
