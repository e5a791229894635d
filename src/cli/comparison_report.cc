#include "cli/comparison_report.h"

#include "cli/console.h"
#include "cli/exit_status.h"
#include "cli/output_file.h"
#include "cli/report_reading.h"
#include "pepe/base/check.h"

namespace pepe {
namespace {

/// Both sets of results together take the memory of one that is reported alone.
constexpr MetricsLimits kSideLimits{.exact_latencies = 500'000, .error_bytes = std::size_t{2} << 20};

/// One of the two sets of results.
class Side {
 public:
  explicit Side(std::string name) : name_{std::move(name)} {}
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  Expected<void> open(const ReportOptions& options) {
    ResultInputsOptions reading = reading_for_report(options);
    reading.facts = [this](const RunFacts& facts) { metrics_.add(facts); };
    auto inputs = ResultInputs::open({name_}, std::move(reading));
    if (!inputs) return std::move(inputs).error();
    inputs_.emplace(*std::move(inputs));
    return {};
  }
  /// REQUIRES: open() succeeded. What was lost is said on standard error.
  void read(const ReportOptions& options) {
    const Expected<void> read = read_latencies(
        *inputs_, options.latency_from, [this](const Result& result, Nanos latency) { metrics_.add(result, latency); });
    remark_on_schedule(options, metrics_.runs(), name_ + ": ");
    whole_ = read.has_value();
    if (!whole_) print_failure(read.error().text());
  }

  const Metrics& metrics() const { return metrics_; }
  const ResultInputs& inputs() const { return *inputs_; }
  /// Nothing was lost.
  bool whole() const { return whole_; }
  bool worth_a_report() const { return whole_ || inputs_->given() > 0; }

 private:
  std::string name_;
  Metrics metrics_{{}, kSideLimits};
  std::optional<ResultInputs> inputs_;
  bool whole_{false};
};

}  // namespace

int make_comparison(const ComparerEntry& comparer, const ReportOptions& options,
                    const std::vector<std::string>& names) {
  PEPE_CHECK(names.size() == 2);
  Side base{names[0]};
  Side changed{names[1]};
  std::vector<FileId> ids;
  for (Side* side : {&base, &changed}) {
    if (const auto opened = side->open(options); !opened) return fail(opened.error().text());
    ids.insert(ids.end(), side->inputs().ids().begin(), side->inputs().ids().end());
  }
  auto output = OutputFile::open(options.output, ids);
  if (!output) return fail(output.error().text());
  base.read(options);
  changed.read(options);
  if (!base.worth_a_report() || !changed.worth_a_report()) return kExitFailure;

  std::string text;
  comparer.write(base.metrics(), changed.metrics(), options.style(), text);
  auto written = output->write(text);
  if (written) written = output->close();
  if (!written) return output->fail(written.error());
  const int status = judge(options.thresholds, changed.metrics(), "", &base.metrics());
  return base.whole() && changed.whole() ? status : kExitFailure;
}

}  // namespace pepe
