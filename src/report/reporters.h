#pragma once

#include <string>
#include <string_view>

#include "pepe/metrics/metrics.h"
#include "pepe/report/reporter.h"

namespace pepe {

// One of these for each row of the registry. All append to `out`.
void write_text_report(const Metrics& metrics, const ReportStyle& style, std::string& out);
void write_json_report(const Metrics& metrics, const ReportStyle& style, std::string& out);
void write_histogram_report(const Metrics& metrics, const ReportStyle& style, std::string& out);
void write_hdrplot_report(const Metrics& metrics, const ReportStyle& style, std::string& out);

// One of these for each row that compares.
void write_text_comparison(const Metrics& base, const Metrics& changed, const ReportStyle& style, std::string& out);
void write_json_comparison(const Metrics& base, const Metrics& changed, const ReportStyle& style, std::string& out);

// The report of one group of several.
void write_titled_group(const ReporterEntry& reporter, std::string_view key, const ResultGroup& group,
                        const ReportStyle& style, std::string& out);
void write_json_group(const ReporterEntry& reporter, std::string_view key, const ResultGroup& group,
                      const ReportStyle& style, std::string& out);

}  // namespace pepe
