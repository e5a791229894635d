#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "pepe/base/expected.h"
#include "pepe/result/result.h"

namespace pepe {

struct PlotOptions {
  std::string title{"Vegeta Plot"};
  std::int64_t threshold{4000};  ///< Points of a series; 0: all.
};

/// Gathers results into series (attack name, OK or ERROR) and renders them as one self-contained HTML page.
class Plot {
 public:
  explicit Plot(PlotOptions options);
  ~Plot();

  void add(const Result& result);
  /// Appends the page to `out`. Error: `lttb: min threshold is 3`.
  Expected<void> write(std::string& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pepe
