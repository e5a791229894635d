#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/console.h"

namespace pepe {
namespace {

constexpr Nanos kRedraw = std::chrono::milliseconds{250};
constexpr Nanos kLinePeriod = std::chrono::seconds{1};
constexpr Nanos kWindow = std::chrono::seconds{1};

/// 1234567 as "1,234,567".
std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

std::string whole_seconds(Nanos time) {
  return format_duration(std::chrono::duration_cast<std::chrono::seconds>(time));
}

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return 80;
  return size.ws_col;
}

/// The first `columns` characters of UTF-8 text.
std::string_view cut(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    const bool starts = (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80;
    if (starts && seen++ == columns) break;
  }
  return text.substr(0, end);
}

}  // namespace

std::string format_progress(const ProgressView& view) {
  // A second that has begun counts: it ends with "1s".
  constexpr Nanos kSecond = std::chrono::seconds{1};
  if (view.counts.elapsed < Nanos{0})
    return fmt::format("starts in {}  {} in flight", whole_seconds(kSecond - Nanos{1} - view.counts.elapsed),
                       with_commas(view.counts.in_flight));
  std::string line = whole_seconds(view.counts.elapsed);
  if (view.duration.count() > 0) line += " of " + format_duration(view.duration);
  if (!view.asked) {
    line += ' ';
  } else {
    line += view.asked_varies ? fmt::format("  {:.1f}/s asked,", *view.asked)
                              : fmt::format("  {:.6g}/s asked,", *view.asked);
  }
  line += fmt::format(" {:.1f}/s reached  {} sent  {} errors", view.reached, with_commas(view.counts.sent),
                      with_commas(view.counts.failed));
  if (view.latency.hits > 0) {
    line += fmt::format("  p50 {}  p99 {}", format_duration(round_duration(view.latency.p50)),
                        format_duration(round_duration(view.latency.p99)));
  }
  line += fmt::format("  {} in flight", with_commas(view.counts.in_flight));
  return line;
}

ProgressLine::ProgressLine(ProgressPlan plan, bool terminal, std::function<LatencyGlance()> glance)
    : plan_{std::move(plan)}, terminal_{terminal}, glance_{std::move(glance)} {
  view_.asked = plan_.asked;
  view_.asked_varies = plan_.hits_before != nullptr;
  view_.duration = plan_.duration;
}

void ProgressLine::refresh_window(const AttackProgress& counts) {
  const Nanos length = counts.elapsed - window_start_.elapsed;
  if (length.count() <= 0) return;
  const bool first = window_start_.elapsed.count() == 0;
  if (length < kWindow && !first) return;
  const auto per_second = [&](std::uint64_t hits) {
    return static_cast<double>(hits) * 1e9 / static_cast<double>(length.count());
  };
  view_.reached = per_second(counts.done - window_start_.done);
  // Over the same time as what is reached, so that the two can be compared.
  if (plan_.hits_before)
    view_.asked = per_second(plan_.hits_before(counts.elapsed) - plan_.hits_before(window_start_.elapsed));
  if (length < kWindow) return;
  view_.latency = glance_();
  window_start_ = counts;
}

void ProgressLine::update(const AttackProgress& counts) {
  if (drawn_ && counts.elapsed - *drawn_ < (terminal_ ? kRedraw : kLinePeriod)) return;
  drawn_ = counts.elapsed;
  view_.counts = counts;
  refresh_window(counts);
  const std::string line = format_progress(view_);
  if (terminal_) {
    // One column stays free: a terminal would wrap a line that fills it.
    print_error_text(fmt::format("\r{}\x1b[K", cut(line, terminal_width() - 1)));
    shown_ = true;
  } else {
    print_error_text(line + "\n");
  }
}

void ProgressLine::clear() {
  if (!shown_) return;
  print_error_text("\r\x1b[K");
  shown_ = false;
}

}  // namespace pepe
