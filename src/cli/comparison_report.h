#pragma once

#include <string>
#include <vector>

#include "cli/report_options.h"

namespace pepe {

/// Reads the two files `names`, writes the report on the second against the first, and judges it. Returns the exit
/// status.
int make_comparison(const ComparerEntry& comparer, const ReportOptions& options, const std::vector<std::string>& names);

}  // namespace pepe
