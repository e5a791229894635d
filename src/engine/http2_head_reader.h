#pragma once

#include <nghttp2/nghttp2.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/response.h"

namespace pepe {

/// Takes the heads and trailers of answers out of the header blocks of one connection, with its table (HPACK), by the
/// rules of RFC 9113 8. A block that repeats one of the last heads byte for byte is not decoded again.
class Http2HeadReader {
 public:
  enum class Outcome {
    kOk,
    kMalformed,  ///< Not an answer's fields.
    kRefused,    ///< The response has an error: it goes over a limit.
    kUnknown,    ///< Cannot be decoded, and so nothing that follows on the connection.
  };
  struct Read {
    Outcome outcome{Outcome::kOk};
    std::int64_t content_length{-1};  ///< Below 0: not announced.
  };

  /// `memory`: of the table; outlives the reader. Throws std::bad_alloc.
  explicit Http2HeadReader(nghttp2_mem* memory);

  /// `block` is a whole one. `response` gets the head, or the trailers where it has its head; nullptr: nobody wants the
  /// fields, but the table must see them.
  Read read(std::string_view block, Response* response);

 private:
  struct Free {
    void operator()(nghttp2_hd_inflater* inflater) const noexcept { nghttp2_hd_inflate_del(inflater); }
  };
  /// A head as its bytes were, and what they meant as long as the table has not changed.
  struct Known {
    std::string block;
    std::uint64_t version{0};
    std::int64_t content_length{-1};
    Response::Head head;
  };

  Known* find(std::string_view block) noexcept;
  Read decode(std::string_view block, Response* response);
  void learn(std::string_view block, std::int64_t content_length, const Response& response);

  std::unique_ptr<nghttp2_hd_inflater, Free> inflater_;
  std::uint64_t version_{1};  // of the table
  std::array<Known, 4> known_;
  std::size_t oldest_{0};
};

}  // namespace pepe
