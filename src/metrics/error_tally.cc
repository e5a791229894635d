#include "metrics/error_tally.h"

namespace pepe {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Appends `text` with `*` for the number of its HTTP/2 stream.
void mask_stream(std::string_view text, std::string& out) {
  constexpr std::string_view kStream = "stream ID ";
  const std::size_t at = text.find(kStream);
  std::size_t begin = at == std::string_view::npos ? text.size() : at + kStream.size();
  std::size_t end = begin;
  while (end < text.size() && is_digit(text[end])) ++end;
  out.append(text.substr(0, begin)).append(end > begin ? "*" : "").append(text.substr(end));
}

}  // namespace

void mask_passing_numbers(std::string_view error, std::string& out) {
  out.clear();
  constexpr std::string_view kArrow = "->";
  for (std::size_t arrow = error.find(kArrow); arrow != std::string_view::npos; arrow = error.find(kArrow)) {
    std::size_t digits = arrow;
    while (digits > 0 && is_digit(error[digits - 1])) --digits;
    const bool is_port = digits < arrow && digits > 0 && error[digits - 1] == ':';
    out.append(error.substr(0, is_port ? digits : arrow)).append(is_port ? "*->" : "->");
    error.remove_prefix(arrow + kArrow.size());
  }
  mask_stream(error, out);
}

void ErrorTally::add(std::string_view error) {
  error = error.substr(0, kMaxErrorText);
  Place& place = places_[(reinterpret_cast<std::uintptr_t>(error.data()) >> 4) % places_.size()];
  if (place.data == error.data() && texts_[place.text].text == error) return count_text(place.text);
  if (const auto found = text_index_.find(error); found != text_index_.end()) {
    place = {error.data(), found->second};
    return count_text(found->second);
  }
  add_new(error);
}

void ErrorTally::count_text(std::size_t text) {
  ++texts_[text].count;
  ++kinds_[texts_[text].kind].count;
}

void ErrorTally::add_new(std::string_view error) {
  mask_passing_numbers(error, masked_);
  if (const auto found = kind_index_.find(masked_); found != kind_index_.end()) {
    Kind& kind = kinds_[found->second];
    ++kind.count;
    kind.merged = true;
    if (texts_.size() - kinds_.size() < kMaxErrors) add_text(error, found->second);
    return;
  }
  if (kinds_.size() == kMaxErrors || !add_text(error, kinds_.size())) {
    ++left_out_;
    return;
  }
  kinds_.push_back({masked_, 1, false});
  kind_index_.emplace(kinds_.back().key, kinds_.size() - 1);
}

bool ErrorTally::add_text(std::string_view error, std::size_t kind) {
  const std::size_t bytes = 2 * error.size();
  if (bytes_ + bytes > max_bytes_) return false;
  bytes_ += bytes;
  texts_.push_back({std::string{error}, 1, kind});
  text_index_.emplace(texts_.back().text, texts_.size() - 1);
  return true;
}

void ErrorTally::write_to(MetricsSummary& summary) const {
  for (const Text& text : texts_) summary.errors.emplace_back(text.text, text.count);
  for (const Kind& kind : kinds_) summary.error_kinds.push_back({kind.key, kind.key, kind.count, kind.merged});
  // A kind of one text is shown as that text, port and all.
  for (const Text& text : texts_) {
    if (ErrorKind& kind = summary.error_kinds[text.kind]; !kind.merged) kind.text = text.text;
  }
  summary.errors_left_out = left_out_;
}

}  // namespace pepe
