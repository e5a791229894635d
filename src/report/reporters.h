#pragma once

#include <string>

#include "pepe/metrics/metrics.h"

namespace pepe {

// One of these for each row of the registry. All append to `out`.
void write_text_report(const Metrics& metrics, std::string& out);
void write_json_report(const Metrics& metrics, std::string& out);
void write_histogram_report(const Metrics& metrics, std::string& out);
void write_hdrplot_report(const Metrics& metrics, std::string& out);

}  // namespace pepe
