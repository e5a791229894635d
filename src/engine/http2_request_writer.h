#pragma once

#include <nghttp2/nghttp2.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/request.h"

namespace pepe {

/// Writes requests as the header blocks of one connection, with its table (HPACK). A request whose fields are all in
/// the table already is kept as bytes: the next time only the hit's number is put behind them.
class Http2RequestWriter {
 public:
  /// `memory`: of the table; outlives the writer. Throws std::bad_alloc.
  explicit Http2RequestWriter(nghttp2_mem* memory);

  /// The server lets the table have so many bytes; it gets no more than 4,096.
  void set_table_size(std::uint32_t bytes);
  /// Appends the block of the hit `seq`. `lasting`: `request` outlives the writer. False: it is too large to be sent.
  bool append(std::string& out, const Request& request, bool lasting, std::uint64_t seq);

 private:
  struct Free {
    void operator()(nghttp2_hd_deflater* deflater) const noexcept { nghttp2_hd_deflate_del(deflater); }
  };
  /// A block but for the hit's number, valid as long as the table has not changed.
  struct Prepared {
    const Request* request{nullptr};
    std::uint64_t version{0};
    std::string bytes;
  };

  Prepared& slot_of(const Request& request) noexcept;
  bool deflate(std::string& out, const Request& request, std::string_view digits);

  std::unique_ptr<nghttp2_hd_deflater, Free> deflater_;
  std::uint64_t version_{1};  // of the table
  bool named_{false};         // the table has seen the number's name
  std::array<Prepared, 8> prepared_;
  std::vector<nghttp2_nv> fields_;
};

}  // namespace pepe
