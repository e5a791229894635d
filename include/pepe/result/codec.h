#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "pepe/base/expected.h"
#include "pepe/result/result.h"
#include "pepe/result/run_facts.h"

namespace pepe {

/// Turns results into bytes of one encoding.
class Encoder {
 public:
  virtual ~Encoder() = default;
  /// Appends `result` to `out`. The native encoding may hold results back until flush().
  virtual void encode(const Result& result, std::string& out) = 0;
  /// Appends what encode() held back. After it, everything so far can be read from the bytes made so far.
  virtual void flush(std::string& out) { static_cast<void>(out); }
};

/// A window on the bytes of a stream, filled by whoever reads the file. `pos` moves forward as bytes are used up.
/// The bytes from `pos` on may be moved to other memory after kNeedMore, and only then.
struct InputWindow {
  std::string_view bytes;   ///< From the stream's position `offset` on.
  std::size_t pos{0};       ///< First byte of `bytes` that is not used up.
  std::uint64_t offset{0};  ///< Position of bytes[0] in the stream, for error texts.
  bool at_end{false};       ///< No more bytes will follow these.

  std::string_view rest() const noexcept { return bytes.substr(pos); }
};

enum class DecodeStatus {
  kResult,    ///< One result was made.
  kNeedMore,  ///< The window ends inside a record; call again with more bytes (never returned when at_end).
  kEnd,       ///< The window is at its end and nothing is left.
};

/// What a decoder has to say beside results.
struct DecoderEvents {
  /// Something was lost and reading goes on: a corrupt chunk, a torn tail. One line for a person.
  std::function<void(std::string text)> damage;
  /// Something was left out that vegeta leaves out as well: part of a line at the end of JSON. One line for a person.
  std::function<void(std::string text)> remark;
  /// Facts of a run, each time a native stream states them (twice for a whole run).
  std::function<void(const RunFacts& facts)> facts;
};

struct DecodeOptions {
  bool bodies{true};   ///< false: Result::body may be left out; bytes_in is right all the same.
  bool headers{true};  ///< false: the headers may be left out.
};

/// Makes results out of the bytes of one encoding. Everything in the bytes is hostile: memory stays bounded by the
/// window (plus the declared limits of the format), lengths are checked before they are believed.
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// The next result; its views are valid until the next call, and only while `in.bytes` is.
  /// Error: the stream cannot be read on from here; what was found and at which byte. All results before it were
  /// returned.
  virtual Expected<DecodeStatus> next(InputWindow& in, Result& out) = 0;
};

/// One row of the registry: an encoding by its -to / -encoding name.
struct CodecEntry {
  std::string_view name;
  /// True when `head`, the first bytes of a stream, can be the start of this encoding. `at_end`: there are no more
  /// bytes. kNeedMore: a longer head is needed to tell.
  enum class Match { kNo, kYes, kNeedMore };
  Match (*detect)(std::string_view head, bool at_end);
  std::unique_ptr<Encoder> (*make_encoder)();
  std::unique_ptr<Decoder> (*make_decoder)(DecoderEvents events, DecodeOptions options);
};

/// The encodings that exist, in the order they are tried on input: msgpack, gob, json, csv.
std::span<const CodecEntry> codecs();
/// nullptr: no such encoding.
const CodecEntry* find_codec(std::string_view name);

}  // namespace pepe
