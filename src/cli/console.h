#pragma once

#include <string>
#include <string_view>

/// What is said on standard error. Each call is one write, so that lines of several threads never mix.
namespace pepe {

/// `text` with its line end, and with what could drive a terminal escaped.
std::string one_line(std::string_view text);

/// A failure: "YYYY/MM/DD HH:MM:SS text", in local time.
void print_failure(std::string_view text);
/// print_failure(), then the status to end with.
int fail(std::string_view text);

/// A remark that changes no status: "pepe: text".
void print_note(std::string_view text);

/// When standard error is the file or pipe that results go to (`> out.bin 2>&1`): from here on print_note() keeps
/// silent, since remarks between results would be damage. Returns whether it does.
bool silence_notes_among_results();

/// Text as it is, to standard error.
void print_error_text(std::string_view text);

bool is_terminal(int descriptor);

}  // namespace pepe
