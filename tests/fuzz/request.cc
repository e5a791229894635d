#include <cstdint>
#include <memory>
#include <string>

#include "fuzz/input.h"
#include "fuzz/wire.h"

/// The first byte says how requests are made: bit 0 chunked, 1 without keep-alive, 2 under a name, 3 with a body. A
/// line each is the method, the URL, then by turns a header's name and value; "\1" stands for a line end in them. The
/// body comes after an empty name. What is sent is one request and nothing more.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pepe::fuzz::Input input{data, size};
  const std::uint8_t how = input.byte();
  const auto line = [&input] {
    std::string text{input.line()};
    std::replace(text.begin(), text.end(), '\1', '\n');
    return text;
  };
  pepe::Target target;
  target.method = line();
  target.url = line();
  for (std::string name = line(); !name.empty(); name = line()) target.headers.push_back({name, line()});
  if ((how & 8) != 0) target.body = std::make_shared<const std::string>(input.rest());
  pepe::RequestOptions options{.user_agent = "pepe"};
  options.chunked = (how & 1) != 0;
  options.keepalive = (how & 2) == 0;
  if ((how & 4) != 0) options.attack = target.method;
  pepe::fuzz::check_wire(target, options);
  return 0;
}
