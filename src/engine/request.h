#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/dialer.h"
#include "pepe/target/target.h"

namespace pepe {

/// A target's request as bytes, made before the run; only the sequence number is put in per hit. Immutable, so all
/// workers share it.
struct Request {
  std::string method;  ///< Of the target: for results and error texts.
  std::string url;     ///< As written, for results, Referer and redirects.
  Origin origin;
  std::uint32_t routes{1};  ///< Destinations that -connect-to gives the origin; hits take them in turn.
  std::string head;         ///< Up to and including "X-Vegeta-Seq: ".
  std::string tail;         ///< What follows the number: the end of the head, and the body when it is small.
  /// A large body as it goes on the wire (framed when chunked), sent from its own memory behind `tail`; or nullptr.
  std::shared_ptr<const std::string> body;
  std::uint64_t body_bytes{0};  ///< Of the target's body, without framing.
  /// The same request for HTTP/2: its fields, pseudo-headers first, without the sequence number. Empty where the origin
  /// can only be asked over HTTP/1.1.
  std::vector<std::pair<std::string, std::string>> fields;
  std::shared_ptr<const std::string> content;  ///< The body without framing; nullptr: none. For HTTP/2.
  bool is_head{false};                         ///< HEAD: the answer has no body.
  bool retry_safe{false};                      ///< GET, HEAD, OPTIONS or TRACE without a body: may be sent twice.
  bool inflate{false};                         ///< pepe asked for gzip itself, so it unpacks what comes.
  bool close{false};                           ///< The connection ends with the answer.
  std::string fault;  ///< Not empty: the request cannot be sent, every hit fails with this error text.
};

/// What requests need to know beside their target.
struct RequestOptions {
  std::string attack{};  ///< -name
  std::string user_agent{};
  bool keepalive{true};
  bool chunked{false};
  const DialPlan* plan{nullptr};  ///< Says which origins are asked in absolute form, or over HTTP/2; nullptr: none.
};

/// Builds the request of `target`. Never fails: what cannot be sent gets a `fault`.
Request make_request(const Target& target, const RequestOptions& options);

/// "Get \"http://h/\": ", in front of most failures. The credentials of the URL are blotted out.
std::string error_prefix(std::string_view method, std::string_view url);

/// The target that an answer with `code` and Location `location` to `previous` leads to; `original` is the list's own,
/// where the chain began. RFC 9110 15.4, headers as vegeta keeps them. Error: the text for the result (unusable
/// Location).
Expected<Target> follow_redirect(const Target& original, const Target& previous, int code, std::string_view location);

}  // namespace pepe
