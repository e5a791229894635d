#include "report/generator.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "pepe/base/json.h"
#include "pepe/base/saturate.h"

namespace pepe {
namespace {

/// Most threads whose shares are listed one by one; the peak covers all.
constexpr std::size_t kMaxShares = 1024;
/// Further clauses on what limited a run, or shaped it, are left out when there is this much.
constexpr std::size_t kMaxClauseBytes = 1000;

/// Appends what is not there yet.
void add_clause(const std::string& clause, std::string& text) {
  if (text.size() >= kMaxClauseBytes || text.find(clause) != std::string::npos) return;
  text.append(text.empty() ? "" : "; ").append(clause);
}

RunFacts merge(std::span<const RunFacts> runs) {
  RunFacts all;
  for (const RunFacts& run : runs) {
    if (!run.complete) continue;
    all.complete = true;
    all.sent = saturating_add(all.sent, run.sent);
    all.missed = saturating_add(all.missed, run.missed);
    all.late = saturating_add(all.late, run.late);
    all.worst_lag = std::max(all.worst_lag, run.worst_lag);
    all.limited = all.limited || run.limited;
    add_clause(run.limit, all.limit);
    add_clause(run.pacer, all.pacer);
    all.threads.insert(all.threads.end(), run.threads.begin(), run.threads.end());
  }
  return all;
}

double planned_rate(std::span<const RunFacts> runs) {
  double sum = 0;
  for (const RunFacts& run : runs) sum += run.complete ? run.rate.per_second() : 0;
  return sum;
}

}  // namespace

void append_generator(std::span<const RunFacts> runs, std::string& out) {
  const RunFacts all = merge(runs);
  if (!all.complete) return;
  fmt::format_to(std::back_inserter(out),
                 R"(,"generator":{{"sent":{},"missed":{},"late":{},"worst_lag":{},"limited":{},"limit":)", all.sent,
                 all.missed, all.late, all.worst_lag.count(), all.limited);
  append_json_string(all.limit, out);
  out += R"(,"planned_rate":)";
  append_json_number(planned_rate(runs), out);
  if (!all.pacer.empty()) {
    out += R"(,"pacer":)";
    append_json_string(all.pacer, out);
  }
  out += R"(,"busy_shares":[)";
  double peak = 0;
  for (std::size_t i = 0; i < all.threads.size(); ++i) {
    peak = std::max(peak, all.threads[i].peak_busy_share);
    if (i >= kMaxShares) continue;
    if (i > 0) out += ',';
    append_json_number(all.threads[i].busy_share, out);
  }
  out += R"(],"peak_busy_share":)";
  append_json_number(peak, out);
  out += '}';
}

}  // namespace pepe
