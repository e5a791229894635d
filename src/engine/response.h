#pragma once

#include <llhttp.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/body_collector.h"
#include "engine/inflater.h"
#include "pepe/result/chunk_writer.h"
#include "pepe/result/result.h"

namespace pepe {

/// What the answer to a hit is to be read with.
struct ResponseExpectation {
  bool to_head{false};          ///< The request was HEAD.
  bool inflate{false};          ///< A gzip body is unpacked.
  std::uint64_t keep_limit{0};  ///< -max-body
  BodyRef candidate{};
};

/// One response, from its first byte to its last: interim answers are read over, the head is kept, the body collected.
/// It is read from HTTP/1.1's bytes (feed) or put together from HTTP/2's frames (add_field, end_head, add_body,
/// finish). Bytes in, values out; no socket. Strict: what llhttp refuses is an error.
class Response {
 public:
  enum class Status {
    kNeedMore,
    kComplete,
    kBusy,   ///< A part of the body is still to be unpacked: go_on() before anything else is read.
    kError,  ///< error() says what; never a success.
  };

  struct Field {
    std::size_t name, name_size, value, value_size;  ///< In the text that it belongs to.
  };
  /// The head of a response in parts.
  struct Head {
    int code{0};
    std::size_t bytes{0};  ///< Of the budget that heads have.
    std::string text;
    std::vector<Field> fields;
  };

  /// `budget`: of the memory for bodies; outlives the response. nullptr: none.
  explicit Response(BodyBudget* budget = nullptr) : body_{budget} {}
  Response(const Response&) = delete;  // llhttp holds a pointer to it

  void start(const ResponseExpectation& expected);
  /// Starts in the middle: the head is known (an equal one was parsed before) and `content_length` body bytes follow.
  void start_fixed(const ResponseExpectation& expected, std::uint64_t content_length);

  /// Reads on. `used` counts the bytes of `data` that belong to this response; less than all only when its last one is
  /// among them.
  Status feed(std::string_view data, std::size_t& used);
  /// Unpacks some more of the body.
  Status go_on();
  /// The connection ended. Complete only when the end of the connection is the end of the body.
  Status end_of_input();

  /// Starts a response that comes in parts. Each of the calls below returns false when error() says what is wrong.
  void start_parts(const ResponseExpectation& expected);
  /// `:status` first, then the fields; those that come when the head is whole are trailers.
  bool add_field(std::string_view name, std::string_view value);
  /// That of an interim answer is forgotten.
  bool end_head();
  /// Copies what add_field() and end_head() made. REQUIRES: has_head(), and headers() was not called.
  /// False: the head takes up more than `most` bytes.
  bool copy_head(Head& head, std::size_t most) const;
  /// Stands for the calls of add_field() and end_head() that made `head`.
  bool adopt_head(const Head& head);
  bool add_body(std::string_view bytes) { return take_body(bytes); }
  /// Its last byte is read: complete, unless it is busy() and go_on() finds out more.
  bool finish();
  /// Of a response in parts: code and fields as they came, the same for two heads when these are the same. Valid until
  /// headers() is called.
  std::string_view head_key() const noexcept { return text_; }

  /// The head is whole (also that of a response which broke off later).
  bool has_head() const noexcept { return head_done_; }
  /// A first byte of an answer, be it interim, was seen.
  bool begun() const noexcept { return begun_; }
  int code() const noexcept { return code_; }
  /// Code and reason as sent: "404 Not Found", "500".
  std::string status_text() const;
  /// In order of appearance, names canonicalised; without Transfer-Encoding, Trailer and, when inflated,
  /// Content-Encoding and Content-Length. Valid until the next start().
  std::span<const HeaderView> headers();
  std::optional<std::string_view> header(std::string_view canonical_name);
  bool keep_alive() const noexcept { return keep_alive_; }
  /// Set when the body's length was announced: an equal head means an equal frame.
  std::optional<std::uint64_t> content_length() const noexcept { return content_length_; }
  /// The head was known: headers() is empty, the cache of the target has them.
  bool fixed() const noexcept { return fixed_; }
  bool inflated() const noexcept { return inflater_.has_value(); }
  /// No body follows the head, whatever length that announces.
  bool bodiless() const noexcept { return expected_.to_head || code_ == 204 || code_ == 304; }
  bool busy() const noexcept { return inflater_ && inflater_->busy(); }
  /// The head is whole, and an equal one would mean the same: a body of known length as it comes, on a connection that
  /// stays, no interim answer in front, nothing to follow.
  bool has_plain_frame() const noexcept {
    return head_done_ && content_length_ && keep_alive_ && interim_ == 0 && !inflater_ && code_ / 100 != 3;
  }

  /// Body bytes as they came over the connection.
  std::uint64_t bytes_read() const noexcept { return bytes_read_; }
  BodyCollector& body() noexcept { return body_; }
  const std::string& error() const noexcept { return error_; }
  void reset();

 private:
  struct Callbacks;

  Status fail(std::string text);
  Status feed_fixed(std::string_view data, std::size_t& used);
  bool charge(std::size_t bytes);
  bool take_body(std::string_view bytes);
  bool keep(std::string_view bytes);
  bool check(Inflater::Status status);
  bool check_end();
  Status status_now();
  int run_out_of_memory() noexcept;
  bool begin_body();
  void forget_interim();
  int on_headers_complete();
  int on_message_complete();

  llhttp_t parser_{};
  ResponseExpectation expected_;
  bool fixed_{false};
  bool in_parts_{false};
  std::uint64_t remaining_{0};

  bool begun_{false};
  bool head_done_{false};
  bool complete_{false};
  bool keep_alive_{false};
  bool trailers_{false};
  int code_{0};
  int interim_{0};
  std::size_t head_bytes_{0};
  std::optional<std::uint64_t> content_length_;
  std::string reason_;
  std::string text_;  // names and values, one after another
  std::vector<Field> fields_;
  std::vector<HeaderView> views_;
  std::uint64_t bytes_read_{0};
  std::uint64_t unpacked_{0};
  std::optional<Inflater> inflater_;
  BodyCollector body_;
  std::string error_;
};

}  // namespace pepe
