#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pepe/base/expected.h"

/// Text from outside is escaped where it is shown, once for each format: quote() and printable() within a message,
/// append_terminal_safe() in a report or on a terminal, append_json_string() in JSON and in the plot page's script.
namespace pepe {

/// `text` in double quotes, with everything that a terminal would not show as itself escaped, as Go's %q does:
/// quotes and backslashes, control characters (\n, \x1b), bytes that are no UTF-8 (\xff), invisible characters
/// (\u200b).
std::string quote(std::string_view text);

/// `text` as it is, but for what a terminal would not show as itself, which is escaped as by quote(). Cut after `most`
/// bytes, with "..." in place of the rest: for showing a line from outside in a message.
std::string printable(std::string_view text, std::size_t most = 200);

/// Whether a terminal may obey a character instead of showing it: controls, separators of lines, and marks that turn
/// the direction of what follows.
bool drives_terminal(std::uint32_t character) noexcept;

/// `text` with everything escaped that drives a terminal (\x1b, \x9b, \u202e) or is no UTF-8 (\xff), but for tabs and
/// line breaks: for showing what has a layout. Appended to `out`.
void append_terminal_safe(std::string_view text, std::string& out);

/// What stands in a message in place of a secret.
inline constexpr std::string_view kHidden = "***";

/// `url` with its credentials shown as ***, for messages: "http://***@h/". Any text will do, also one that only its
/// author takes for a URL: a password that holds a slash, or a URL without its scheme.
std::string without_credentials(std::string_view url);

/// What a message may show of `line`, which may be a header with a secret: its name, or a URL without its credentials.
std::string without_value(std::string_view line);

/// `text` without the white space at both ends, as Go's TrimSpace: blanks, tabs, line ends and Unicode's spaces.
std::string_view trim(std::string_view text) noexcept;

/// `text` with ASCII's capital letters in lower case.
std::string lower_case(std::string_view text);
/// Whether they are equal but for the case of ASCII's letters.
bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept;

/// A number from 0 on such as `12`, `.5` or `99.95`: up to 15 digits behind leading zeros, no sign, no exponent,
/// nothing else.
std::optional<double> parse_decimal(std::string_view text);

/// Base64 of `bytes`, standard alphabet with padding (RFC 4648, section 4). Appended to `out`.
void append_base64(std::string_view bytes, std::string& out);
/// The inverse. Line breaks are skipped, as in Go. Error: `illegal base64 data at input byte N`.
Expected<std::string> decode_base64(std::string_view text);

}  // namespace pepe
