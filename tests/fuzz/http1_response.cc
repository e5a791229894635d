#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/answer_cache.h"
#include "engine/response.h"
#include "pepe/base/check.h"

namespace {

using pepe::Response;
using Headers = std::vector<std::pair<std::string, std::string>>;

/// All that a hit learns from the bytes of its answer.
struct Reading {
  Response::Status status{Response::Status::kNeedMore};
  std::size_t used{0};
  int code{0};
  bool keep_alive{false};
  std::uint64_t bytes_read{0};
  std::string body;
  std::string error;
  Headers headers;

  friend bool operator==(const Reading&, const Reading&) = default;
};

Headers copy_of(std::span<const pepe::HeaderView> views) {
  Headers out;
  for (const pepe::HeaderView& view : views) out.emplace_back(view.name, view.value);
  return out;
}

Response::Status unpacked(Response& response, Response::Status status) {
  while (status == Response::Status::kBusy) status = response.go_on();
  return status;
}

/// Reads on in pieces, each an exact copy on the heap, so that a sanitizer sees a read beyond its end.
Reading read_on(Response& response, std::string_view bytes, std::size_t piece) {
  Reading reading;
  do {
    const std::string_view view = bytes.substr(reading.used, piece);
    const std::vector<char> copy(view.begin(), view.end());
    std::size_t used = 0;
    reading.status = unpacked(response, response.feed({copy.data(), copy.size()}, used));
    PEPE_CHECK(used <= copy.size());
    PEPE_CHECK(reading.status != Response::Status::kNeedMore || used == copy.size());
    reading.used += used;
  } while (reading.status == Response::Status::kNeedMore && reading.used < bytes.size());
  if (reading.status == Response::Status::kNeedMore) reading.status = unpacked(response, response.end_of_input());
  PEPE_CHECK(reading.status != Response::Status::kNeedMore);
  PEPE_CHECK((reading.status == Response::Status::kError) == !response.error().empty());
  reading.code = response.code();
  reading.keep_alive = response.keep_alive();
  reading.bytes_read = response.bytes_read();
  reading.body = response.body().bytes();
  reading.error = response.error();
  reading.headers = copy_of(response.headers());
  return reading;
}

Reading read(std::string_view bytes, std::size_t piece, const pepe::ResponseExpectation& expected) {
  Response response;
  response.start(expected);
  Reading reading = read_on(response, bytes, piece);
  // How much of it was read before it was refused depends on where it was cut.
  if (reading.status == Response::Status::kError) {
    reading = {};
    reading.status = Response::Status::kError;
  }
  return reading;
}

/// An equal answer, recognised by its head as a connection does it, means the same.
void check_known(std::string_view bytes, const pepe::ResponseExpectation& expected) {
  Response response;
  response.start(expected);
  std::size_t used = 0;
  if (response.feed(bytes, used) != Response::Status::kComplete || !response.has_plain_frame()) return;
  const std::size_t head_size = bytes.find("\r\n\r\n") + 4;
  if (head_size + response.bytes_read() != used) return;
  pepe::AnswerCache cache;
  cache.learn(bytes.substr(0, head_size), response);
  PEPE_CHECK(cache.knows_head(bytes));
  PEPE_CHECK(cache.code() == response.code());
  PEPE_CHECK(copy_of(cache.headers()) == copy_of(response.headers()));

  Response again;
  again.start_fixed(expected, cache.content_length());
  const Reading known = read_on(again, bytes.substr(head_size), 5);
  PEPE_CHECK(known.status == Response::Status::kComplete);
  PEPE_CHECK(head_size + known.used == used);
  PEPE_CHECK(known.body == response.body().bytes());
}

}  // namespace

/// The first byte says how the answer is read: bit 0 to HEAD, 1 unpacked, 2 little of the body kept, 3 compared with a
/// body that begins alike. The others are the answer: it means the same however it is cut.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint8_t how = data[0];
  const std::string_view bytes{reinterpret_cast<const char*>(data) + 1, size - 1};
  pepe::ChunkWriter writer{{}};  // dies after what refers to its bodies
  pepe::ResponseExpectation expected{
      .to_head = (how & 1) != 0, .inflate = (how & 2) != 0, .keep_limit = (how & 4) != 0 ? 3 : UINT64_MAX};
  const Reading whole = read(bytes, bytes.size(), expected);
  PEPE_CHECK(whole.body.size() <= expected.keep_limit);
  check_known(bytes, expected);

  if ((how & 8) != 0) {
    std::string alike = whole.body.substr(0, whole.body.size() / 2);
    if ((how & 16) != 0) alike = whole.body + "x";
    expected.candidate = writer.store_body(alike);
  }
  const std::size_t smallest = size / 4096 + 1;
  for (const std::size_t piece : {smallest, smallest * 7}) PEPE_CHECK(read(bytes, piece, expected) == whole);
  return 0;
}
