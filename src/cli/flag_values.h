#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pepe/base/expected.h"
#include "pepe/engine/attack.h"
#include "pepe/target/target.h"

/// The values of flags: text to value. Errors are the reason alone, as it stands behind `invalid value "v"
/// for flag -x: `.
namespace pepe {

/// 1 t T TRUE true True 0 f F FALSE false False. Error: `parse error`.
Expected<bool> parse_bool(std::string_view text);

/// Go's integer literals: decimal, 0x, 0o or a leading 0, 0b, `_` between digits; for parse_int a sign.
/// Error: `parse error` or `value out of range`.
Expected<std::int64_t> parse_int(std::string_view text);
Expected<std::uint64_t> parse_uint(std::string_view text);

/// "Name: value", split at the first colon, both sides trimmed and not empty. The error does not show the
/// text.
Expected<HeaderField> parse_header(std::string_view text);

/// SRC:PORT:DST:PORT; a part may be empty or an IPv6 address in brackets. Adds to the entry of the same
/// source.
Expected<void> add_connect_to(std::string_view text, std::vector<ConnectTo>& entries);

/// A list of name servers IP[:PORT], with commas between, to "ip:port" each. Error: a whole line, naming the
/// entry.
Expected<std::vector<std::string>> parse_resolvers(std::string_view list);

/// Items between commas.
std::vector<std::string> split_list(std::string_view list);

/// `COMMAND: unknown encoding "NAME": want one of ...`
Error unknown_encoding(std::string_view command, std::string_view name);

/// "auto" (0) or a count from 1 on.
Expected<unsigned> parse_threads(std::string_view text);

/// -laddr: an address, or a name that is looked up now. Returns it in numbers; empty for "any address".
Expected<std::string> resolve_local_address(std::string_view text);

}  // namespace pepe
