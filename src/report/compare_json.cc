#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "pepe/base/json.h"
#include "report/comparison.h"
#include "report/reporters.h"

namespace pepe {
namespace {

/// A JSON object, member by member.
class Object {
 public:
  explicit Object(std::string& out) : out_{out} { out_ += '{'; }
  ~Object() { out_ += '}'; }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  void key(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    append_json_string(name, out_);
    out_ += ':';
  }
  void number(std::string_view name, double value) {
    key(name);
    append_json_number(value, out_);
  }
  void change(std::string_view name, const Change& change, Growth growth = Growth::kWorse) {
    key(name);
    Object object{out_};
    object.number("absolute", change.difference());
    object.key("relative");
    if (const auto relative = change.relative()) {
      append_json_number(*relative, out_);
    } else {
      out_ += "null";
    }
    if (change.confidence == Change::Confidence::kNotJudged) return;
    object.key("interval");
    if (change.confidence == Change::Confidence::kKnown) {
      out_ += '[';
      append_json_number(change.interval.low, out_);
      out_ += ',';
      append_json_number(change.interval.high, out_);
      out_ += ']';
    } else {
      out_ += "null";
    }
    object.key("verdict");
    append_json_string(verdict(change, growth), out_);
  }

 private:
  std::string& out_;
  bool first_{true};
};

void append_total_and_mean(const Change& total, const Change& mean, std::string& out) {
  Object object{out};
  object.change("total", total);
  object.change("mean", mean);
}

void append_latencies(const Comparison& c, std::string& out) {
  Object object{out};
  object.change("mean", c.mean);
  for (const NamedChange& quantile : c.quantiles) object.change(quantile.name + "th", quantile.change);
  object.change("max", c.max);
  object.change("min", c.min);
}

void append_changes(const Comparison& c, std::string& out) {
  Object object{out};
  object.key("latencies");
  append_latencies(c, out);
  object.key("bytes_in");
  append_total_and_mean(c.bytes_in, c.bytes_in_mean, out);
  object.key("bytes_out");
  append_total_and_mean(c.bytes_out, c.bytes_out_mean, out);
  object.change("requests", c.requests);
  object.change("rate", c.rate);
  object.change("throughput", c.throughput);
  object.change("success", c.success, Growth::kBetter);
  object.key("status_codes");
  {
    Object codes{out};
    for (const auto& [code, change] : c.status_codes) codes.change(std::to_string(code), change);
  }
  object.key("error_counts");
  Object errors{out};
  for (const NamedChange& error : c.errors) errors.change(error.name, error.change);
}

void append_side(const Metrics& metrics, const ReportStyle& style, std::string& out) {
  write_json_report(metrics, style, out);
  out.pop_back();  // its line goes on
}

}  // namespace

void write_json_comparison(const Metrics& base, const Metrics& changed, const ReportStyle& style, std::string& out) {
  {
    Object object{out};
    object.key("base");
    append_side(base, style, out);
    object.key("new");
    append_side(changed, style, out);
    object.key("change");
    append_changes(compare(base, changed, style), out);
  }
  out += '\n';
}

}  // namespace pepe
