#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>

#include "pepe/base/expected.h"
#include "support/alloc_scope.h"

namespace pepe {

/// A load whose costs per hit are counted: one worker against a server that answers the same each time.
struct Load {
  enum class Wire { kHttp1, kHttp1Tls, kH2c, kHttp2Tls };
  enum class Form { kFixed, kChunked, kGzip };

  const char* name;
  /// Most calls of malloc and of the system per hit, once warm; without those of OpenSSL.
  double allocations;
  double system_calls;
  double openssl_allocations{0};
  Wire wire{Wire::kHttp1};
  Form form{Form::kFixed};
  std::size_t body{100};
  bool paced{false};  ///< Open loop, 10,000 a second.
  bool keepalive{true};
  bool lazy{false};
  bool prometheus{false};
};

std::span<const Load> loads();
inline std::ostream& operator<<(std::ostream& out, const Load& load) { return out << load.name; }

struct Counted {
  std::uint64_t allocations{0};
  std::uint64_t openssl_allocations{0};  ///< Not among the others.
  SystemCalls calls;
};

/// Sends `warm_up` hits, then `hits` that count, `at_once` of them at a time. Error: a hit failed.
Expected<Counted> run_load(const Load& load, std::size_t at_once, std::uint64_t warm_up, std::uint64_t hits);

}  // namespace pepe
