#include "engine/answer_cache.h"

#include <bit>
#include <utility>

namespace pepe {

void AnswerCache::learn(std::string_view head, Response& response) {
  constexpr std::uint32_t kLessonsBeforeDoubt = 16;
  // After that, at 32, 64, 128 ... answers in vain.
  if (++lessons_in_vain_ > kLessonsBeforeDoubt && !std::has_single_bit(lessons_in_vain_)) return;

  // Known when all of it is there; `head` itself may be lost when the headers are asked for.
  std::string known = std::exchange(head_, {});
  known.assign(head);
  content_length_ = response.content_length().value_or(0);
  code_ = static_cast<std::uint16_t>(response.code());
  error_ = code_ >= 200 && code_ < 400 ? std::string{} : response.status_text();
  forget_outcomes();

  text_.clear();
  headers_.assign(response.headers().begin(), response.headers().end());
  for (const HeaderView& header : headers_) text_.append(header.name).append(header.value);
  std::size_t at = 0;
  for (HeaderView& header : headers_) {
    header.name = std::string_view{text_}.substr(at, header.name.size());
    at += header.name.size();
    header.value = std::string_view{text_}.substr(at, header.value.size());
    at += header.value.size();
  }
  head_ = std::move(known);
}

}  // namespace pepe
