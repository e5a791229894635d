// HOT: once per HTTP/2 hit. No allocation once warm.
#include "engine/http2_request_writer.h"

#include <algorithm>
#include <charconv>
#include <new>

#include "engine/hpack_scan.h"
#include "engine/shortage.h"

namespace pepe {
namespace {

constexpr std::size_t kMostTableBytes = 4096;
constexpr std::size_t kMostBlockBytes = 1024 * 1024;
constexpr std::string_view kSequenceField = "x-vegeta-seq";

std::uint8_t* bytes_of(std::string_view text) {
  return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
}

}  // namespace

Http2RequestWriter::Http2RequestWriter(nghttp2_mem* memory) {
  nghttp2_hd_deflater* deflater = nullptr;
  require_memory(nghttp2_hd_deflate_new2(&deflater, kMostTableBytes, memory) == 0);
  deflater_.reset(deflater);
}

void Http2RequestWriter::set_table_size(std::uint32_t bytes) {
  ++version_;
  const int changed =
      nghttp2_hd_deflate_change_table_size(deflater_.get(), std::min<std::size_t>(bytes, kMostTableBytes));
  require_memory(changed == 0);
}

Http2RequestWriter::Prepared& Http2RequestWriter::slot_of(const Request& request) noexcept {
  return prepared_[reinterpret_cast<std::uintptr_t>(&request) / sizeof(Request) % prepared_.size()];
}

bool Http2RequestWriter::append(std::string& out, const Request& request, bool lasting, std::uint64_t seq) {
  char buffer[20];
  const char* const end = std::to_chars(buffer, buffer + sizeof buffer, seq).ptr;
  const std::string_view digits{buffer, static_cast<std::size_t>(end - buffer)};
  Prepared& prepared = slot_of(request);
  if (prepared.request == &request && prepared.version == version_ && lasting) {
    out.append(prepared.bytes).push_back(static_cast<char>(digits.size()));
    out.append(digits);
    return true;
  }
  const std::size_t begin = out.size();
  if (!deflate(out, request, digits)) return false;
  const std::string_view block = std::string_view{out}.substr(begin);
  const auto scan = scan_hpack(block);
  if (!scan || !scan->stable) {
    ++version_;
  } else if (lasting && scan->last_value != block.npos) {
    prepared.version = 0;
    prepared.bytes = block.substr(0, scan->last_value);
    prepared.request = &request;
    prepared.version = version_;
  }
  return true;
}

bool Http2RequestWriter::deflate(std::string& out, const Request& request, std::string_view digits) {
  constexpr std::uint8_t kBorrowed = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE;
  fields_.clear();
  for (const auto& [name, value] : request.fields)
    fields_.push_back({bytes_of(name), bytes_of(value), name.size(), value.size(), kBorrowed});
  // Different each time: in the table it would only push out what repeats. Its name is there from the first request on.
  const std::uint8_t kept_out = named_ ? kBorrowed | NGHTTP2_NV_FLAG_NO_INDEX : kBorrowed;
  fields_.push_back({bytes_of(kSequenceField), bytes_of(digits), kSequenceField.size(), digits.size(), kept_out});

  const std::size_t begin = out.size();
  const std::size_t bound = nghttp2_hd_deflate_bound(deflater_.get(), fields_.data(), fields_.size());
  if (bound > kMostBlockBytes) return false;
  out.resize(begin + bound);
  const ssize_t size = nghttp2_hd_deflate_hd(deflater_.get(), reinterpret_cast<std::uint8_t*>(out.data()) + begin,
                                             bound, fields_.data(), fields_.size());
  if (size < 0) throw std::bad_alloc{};
  out.resize(begin + static_cast<std::size_t>(size));
  named_ = true;
  return true;
}

}  // namespace pepe
