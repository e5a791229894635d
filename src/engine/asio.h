#pragma once

// The only include of Asio. Boost 1.74 uses std::exchange without <utility> in C++20.
#include <utility>

#include <boost/asio.hpp>

namespace pepe {
namespace asio = boost::asio;
using boost::system::error_code;
}  // namespace pepe
