#include "result/header_block.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

namespace pepe {
namespace {

constexpr std::array<bool, 256> make_token_table() {
  std::array<bool, 256> table{};
  for (const char c : std::string_view{"!#$%&'*+-.^_`|~0123456789"
                                       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"}) {
    table[static_cast<unsigned char>(c)] = true;
  }
  return table;
}

constexpr auto kTokenBytes = make_token_table();

bool is_token(std::string_view name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return kTokenBytes[static_cast<unsigned char>(c)]; });
}

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// Takes a line off the front of `block`, without its LF or CRLF. False: there is no line end.
bool take_line(std::string_view& block, std::string_view& line) {
  const std::size_t end = block.find('\n');
  if (end == std::string_view::npos) return false;
  line = block.substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  block.remove_prefix(end + 1);
  return true;
}

// Up to here, looking back through all earlier names costs less than sorting.
constexpr std::size_t kFewHeaders = 32;

// Puts index `i`, which is above all that are there, in its place.
void insert_grouped(std::span<const HeaderView> headers, HeaderOrder order, std::size_t i,
                    std::vector<std::size_t>& indices) {
  auto at = indices.end();
  for (auto before = indices.end(); before != indices.begin(); --before) {
    const std::string_view name = headers[*(before - 1)].name;
    if (order == HeaderOrder::kByName ? name <= headers[i].name : name == headers[i].name) {
      at = before;
      break;
    }
    if (order == HeaderOrder::kByName) at = before - 1;
  }
  indices.insert(at, i);
}

// Sorted indices, names in order of first appearance. By (first index of the name, own index), since a
// hostile set may have very many names.
void sort_by_appearance(std::span<const HeaderView> headers, std::vector<std::size_t>& indices) {
  std::vector<std::size_t> first(headers.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const bool repeats = i > 0 && headers[indices[i]].name == headers[indices[i - 1]].name;
    first[indices[i]] = repeats ? first[indices[i - 1]] : indices[i];
  }
  std::sort(indices.begin(), indices.end(),
            [&](std::size_t a, std::size_t b) { return first[a] != first[b] ? first[a] < first[b] : a < b; });
}

}  // namespace

bool EncodedHeaders::matches(const Result& result) const {
  if (!stored_ || has_headers_ != result.has_headers || lengths_.size() != 2 * result.headers.size()) return false;
  std::string_view rest = bytes_;
  std::size_t i = 0;
  for (const HeaderView& header : result.headers) {
    for (const std::string_view part : {header.name, header.value}) {
      if (part.size() != lengths_[i++] || !rest.starts_with(part)) return false;
      rest.remove_prefix(part.size());
    }
  }
  return true;
}

std::string& EncodedHeaders::store(const Result& result) {
  stored_ = true;
  has_headers_ = result.has_headers;
  bytes_.clear();
  lengths_.clear();
  for (const HeaderView& header : result.headers) {
    for (const std::string_view part : {header.name, header.value}) {
      bytes_ += part;
      lengths_.push_back(part.size());
    }
  }
  text_.clear();
  return text_;
}

void group_headers(std::span<const HeaderView> headers, HeaderOrder order, std::vector<std::size_t>& indices) {
  indices.clear();
  if (headers.size() <= kFewHeaders) {
    for (std::size_t i = 0; i < headers.size(); ++i) insert_grouped(headers, order, i, indices);
    return;
  }
  indices.resize(headers.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  std::stable_sort(indices.begin(), indices.end(),
                   [&](std::size_t a, std::size_t b) { return headers[a].name < headers[b].name; });
  if (order == HeaderOrder::kByAppearance) sort_by_appearance(headers, indices);
}

void append_header_block(std::span<const HeaderView> headers, std::vector<std::size_t>& order, std::string& out) {
  group_headers(headers, HeaderOrder::kByName, order);
  for (const std::size_t i : order) {
    if (!is_token(headers[i].name)) continue;
    out += headers[i].name;
    out += ": ";
    for (const char c : trimmed(headers[i].value, " \t\r\n")) out += c == '\r' || c == '\n' ? ' ' : c;
    out += "\r\n";
  }
  out += "\r\n";
}

void append_canonical_name(std::string_view name, std::string& out) {
  if (!is_token(name)) {
    out += name;
    return;
  }
  bool upper = true;
  for (const char c : name) {
    const bool lower_case = c >= 'a' && c <= 'z';
    const bool upper_case = c >= 'A' && c <= 'Z';
    out += (upper && lower_case) || (!upper && upper_case) ? static_cast<char>(c ^ 0x20) : c;
    upper = c == '-';
  }
}

bool parse_header_block(std::string_view block, std::string& names, std::vector<HeaderView>& headers) {
  names.clear();
  names.reserve(block.size());  // The views below must not move.
  headers.clear();
  std::string_view line;
  while (take_line(block, line)) {
    if (line.empty()) return block.empty();
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0 || line[0] == ' ' || line[0] == '\t') return false;
    const std::size_t start = names.size();
    append_canonical_name(line.substr(0, colon), names);
    headers.push_back({std::string_view{names}.substr(start), trimmed(line.substr(colon + 1), " \t")});
  }
  return false;
}

}  // namespace pepe
