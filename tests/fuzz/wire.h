#pragma once

#include <llhttp.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "engine/connection.h"
#include "engine/request.h"
#include "pepe/base/check.h"
#include "pepe/base/text.h"

namespace pepe::fuzz {

/// What `request` puts on the wire as hit 7, body and all.
inline std::string wire_bytes(const Request& request) {
  RequestWriter writer;
  std::string bytes{writer.write(request, 7)};
  if (request.body) bytes += *request.body;
  return bytes;
}

/// Whether `target` names a header of the frame in a spelling that is sent as it is.
inline bool frames_itself(const Target& target) {
  return std::any_of(target.headers.begin(), target.headers.end(), [](const HeaderField& field) {
    return equals_ignoring_case(field.name, "Content-Length") ||
           equals_ignoring_case(field.name, "Transfer-Encoding") || equals_ignoring_case(field.name, "Connection") ||
           equals_ignoring_case(field.name, "Upgrade");
  });
}

/// What is sent for `target` is one request: a server that is strict sees its end where pepe does, and no line in its
/// head that the target does not stand for.
inline void check_wire(const Target& target, const RequestOptions& options) {
  const Request request = make_request(target, options);
  if (!request.fault.empty()) return;
  const std::string bytes = wire_bytes(request);
  const std::string_view head = std::string_view{bytes}.substr(0, bytes.find("\r\n\r\n") + 4);
  const auto lines = std::count(head.begin(), head.end(), '\n');
  PEPE_CHECK(std::count(head.begin(), head.end(), '\r') == lines && head.find('\0') == std::string_view::npos);
  constexpr long kOwnLines = 10;
  PEPE_CHECK(lines <= static_cast<long>(target.headers.size()) + kOwnLines);
  PEPE_CHECK(head.starts_with(target.method + " "));
  if (frames_itself(target)) return;

  llhttp_settings_t settings;
  llhttp_settings_init(&settings);
  settings.on_message_complete = [](llhttp_t*) -> int { return HPE_PAUSED; };
  llhttp_t parser;
  llhttp_init(&parser, HTTP_REQUEST, &settings);
  const llhttp_errno_t status = llhttp_execute(&parser, bytes.data(), bytes.size());
  if (status == HPE_INVALID_METHOD || target.method == "CONNECT" || target.method == "PRI") return;
  // Those of RTSP, which llhttp knows too, are no methods of HTTP to it.
  if (status == HPE_INVALID_CONSTANT && std::string_view{llhttp_get_error_reason(&parser)}.starts_with("Invalid method"))
    return;
  PEPE_CHECK(status == HPE_PAUSED && llhttp_get_error_pos(&parser) == bytes.data() + bytes.size());
}

}  // namespace pepe::fuzz
