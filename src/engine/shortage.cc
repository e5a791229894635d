#include "engine/shortage.h"

#include <cerrno>
#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "engine/asio.h"
#include "pepe/base/error.h"

namespace pepe {

Error system_shortage(std::string_view what, int errno_value) {
  const Error error = system_error(what, errno_value);
  if (errno_value == EMFILE) return Error{error.text() + ": raise the limit of open files (ulimit -n)"};
  if (errno_value == EAGAIN) return Error{error.text() + ": raise the limit of processes or of memory (ulimit -u, -v)"};
  return error;
}

Error shortage_error(std::string_view what) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    // Short enough to need no memory itself.
    return Error{"out of memory"};
  } catch (const boost::system::system_error& error) {
    return system_shortage(what, error.code().value());
  } catch (const std::system_error& error) {
    return system_shortage(what, error.code().value());
  } catch (const std::exception& error) {
    return Error{std::string{what} + ": " + error.what()};
  }
}

}  // namespace pepe
