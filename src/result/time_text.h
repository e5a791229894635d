#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pepe/base/time.h"

namespace pepe {

/// Prints timestamps as append_rfc3339() does, and remembers the last second: results come in order of time,
/// and only the decimals differ from one to the next.
class TimestampWriter {
 public:
  void append(Timestamp time, std::string& out);

 private:
  void print_second(Timestamp time, std::int64_t second);

  std::int64_t second_{INT64_MIN};
  std::int16_t zone_minutes_{0};
  std::string text_;  ///< The second, printed without decimals.
};

/// Reads timestamps as parse_rfc3339() does, and remembers the last second.
class TimestampReader {
 public:
  Expected<Timestamp> parse(std::string_view text);

 private:
  std::string date_;  ///< "2023-11-21T22:13:20"
  std::string zone_;  ///< "Z", "+02:00"
  Timestamp second_;
};

/// local_zone_minutes(), asked once for every quarter of an hour: zones change their offset on no other
/// instants.
class LocalZone {
 public:
  std::int16_t minutes(std::int64_t unix_nanos);

 private:
  std::int64_t quarter_{INT64_MIN};
  std::int16_t minutes_{0};
};

}  // namespace pepe
