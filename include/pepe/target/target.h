#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pepe {

/// One header line of a request, spelled as given.
struct HeaderField {
  std::string name;
  std::string value;
  friend bool operator==(const HeaderField&, const HeaderField&) = default;
};

/// The blueprint of a request. Owns everything but the body, which targets may share.
struct Target {
  std::string method;
  /// As written: absolute, or (when it can only fail) whatever a JSON target said.
  std::string url;
  /// In order of appearance; repeats are kept apart. `-header` values stand before the target's own.
  std::vector<HeaderField> headers;
  /// nullptr: no body. An empty string: a body of zero bytes, which -body does not replace.
  std::shared_ptr<const std::string> body;
};

}  // namespace pepe
