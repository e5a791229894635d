#pragma once

#include <string>

namespace pepe {

/// "127.0.0.1:8080", "[::1]:8080" or the path of a unix socket: this end of a connected socket, for error texts.
std::string local_address_text(int fd);
/// The same for the other end.
std::string peer_address_text(int fd);

}  // namespace pepe
