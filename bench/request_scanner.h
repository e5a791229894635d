#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pepe {

/// Counts the requests that arrive on one connection, and looks no closer than that takes: a head ends at its empty
/// line, and a request that is not a GET or a HEAD may have a body of Content-Length bytes.
class RequestScanner {
 public:
  /// How many requests end within `bytes`, the next ones of the connection. nullopt: not a request.
  std::optional<std::uint32_t> feed(std::string_view bytes);

 private:
  static constexpr std::size_t kMaxHead = 64 * 1024;

  std::optional<std::uint32_t> scan(std::string_view bytes, std::size_t& used);

  std::string partial_;         ///< The start of a head whose end has not arrived.
  std::uint64_t body_left_{0};  ///< Bytes of the current request's body still to come.
};

}  // namespace pepe
