#include "bench/request_scanner.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace pepe {
namespace {

bool equal_but_case(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// nullopt: a length that is not a number.
std::optional<std::uint64_t> content_length(std::string_view head) {
  constexpr std::string_view kField = "\r\ncontent-length:";
  const auto field = std::search(head.begin(), head.end(), kField.begin(), kField.end(), equal_but_case);
  if (field == head.end()) return 0;
  const char* text = &*field + kField.size();
  const char* const end = head.data() + head.size();
  while (text < end && *text == ' ') ++text;
  std::uint64_t length = 0;
  if (std::from_chars(text, end, length).ec != std::errc{}) return std::nullopt;
  return length;
}

}  // namespace

std::optional<std::uint32_t> RequestScanner::feed(std::string_view bytes) {
  std::size_t used = 0;
  if (partial_.empty()) {
    const auto count = scan(bytes, used);
    partial_.assign(bytes.substr(used));
    return count;
  }
  partial_.append(bytes);
  const auto count = scan(partial_, used);
  partial_.erase(0, used);
  return count;
}

std::optional<std::uint32_t> RequestScanner::scan(std::string_view bytes, std::size_t& used) {
  std::uint32_t count = 0;
  while (used < bytes.size()) {
    if (body_left_ > 0) {
      const std::uint64_t taken = std::min<std::uint64_t>(body_left_, bytes.size() - used);
      used += taken;
      body_left_ -= taken;
      if (body_left_ == 0) ++count;
      continue;
    }
    const std::size_t end = bytes.find("\r\n\r\n", used);
    if (end == bytes.npos) {
      if (bytes.size() - used > kMaxHead) return std::nullopt;
      break;
    }
    const std::string_view head = bytes.substr(used, end - used);
    used = end + 4;
    if (!head.starts_with("GET") && !head.starts_with("HEAD")) {
      const auto length = content_length(head);
      if (!length) return std::nullopt;
      body_left_ = *length;
    }
    if (body_left_ == 0) ++count;
  }
  return count;
}

}  // namespace pepe
