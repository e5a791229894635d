#pragma once

#include <string_view>

namespace pepe {

/// The usual reason phrase of a status code, which HTTP/2 does not send: "Not Found" for 404; empty: none.
std::string_view status_reason(int code) noexcept;

}  // namespace pepe
