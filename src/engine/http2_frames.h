#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace pepe {

/// The largest frame that this side takes, and that one which has not said otherwise is sent (RFC 9113 4.2).
inline constexpr std::uint32_t kHttp2FrameBytes = 16'384;

/// What stands in front of every frame. `type` and `flags` are nghttp2's.
struct Http2FrameHead {
  static constexpr std::size_t kBytes = 9;

  std::uint32_t size{0};
  std::uint8_t type{0};
  std::uint8_t flags{0};
  std::int32_t stream{0};

  bool has(std::uint8_t flag) const noexcept { return (flags & flag) != 0; }
};

/// REQUIRES: four bytes at `at`.
std::uint32_t read_u32(const char* at) noexcept;
void append_u32(std::string& out, std::uint32_t value);

void append_frame_head(std::string& out, const Http2FrameHead& head);
/// Sets the size of the frame whose head begins at `at`.
void set_frame_size(std::string& out, std::size_t at, std::size_t size) noexcept;
/// A frame whose payload is one number: RST_STREAM, WINDOW_UPDATE.
void append_number_frame(std::string& out, std::uint8_t type, std::int32_t stream, std::uint32_t value);
void append_setting(std::string& out, std::uint16_t id, std::uint32_t value);

/// Cuts the server's bytes into frames. The content of DATA is passed on as it arrives, everything else whole.
class Http2FrameReader {
 public:
  struct Piece {
    enum class Kind {
      kNone,        ///< All bytes are used up.
      kFrame,       ///< A whole frame, not DATA.
      kData,        ///< Some of the content of a DATA frame, without padding.
      kOversize,    ///< The frame is larger than this side takes: of no use from here on.
      kBadPadding,  ///< The padding is larger than the frame: likewise.
    };
    Kind kind{Kind::kNone};
    Http2FrameHead head;
    std::string_view payload{};  ///< Valid until the next call, and as long as the bytes.
    bool first{false};           ///< kData: the frame begins; its content comes to `content` bytes.
    bool last{false};            ///< kData: the frame ends.
    std::uint32_t content{0};
  };

  /// Takes the next piece off `bytes`.
  Piece next(std::string_view& bytes);

 private:
  enum class State { kHead, kPayload, kPadLength, kContent };

  bool collect(std::string_view& bytes, std::size_t size, std::string_view& whole);
  bool read_head(std::string_view& bytes);
  Piece read_content(std::string_view& bytes);

  State state_{State::kHead};
  Http2FrameHead head_;
  std::string pending_;  // the beginning of what was cut
  bool used_{false};     // pending_ was handed out
  bool first_{false};
  std::uint32_t content_{0};  // of the DATA frame, to come
  std::uint32_t padding_{0};
};

}  // namespace pepe
