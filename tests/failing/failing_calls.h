#pragma once

#include <cstddef>
#include <cstdint>

// clang-format off
/// What a preloaded object does to the calls of a program: the fault that PEPE_FAIL asks for.
///
///   PEPE_FAIL=recv:3:ECONNRESET    the third recv of the process fails so (1: the first)
///   PEPE_FAIL=write:2+:ENOSPC      the second write and every one after it
///   PEPE_FAIL=send:1:short         the first send takes half of what it is given, and at least one byte
///   PEPE_FAIL=write:1:0.4          the first write takes 0.4 s, and nothing is wrong with it
///   PEPE_FAIL=alloc:100:ENOMEM     the hundredth allocation finds no memory
///   PEPE_FAIL=clock:50+:3600       from the 50th reading of a clock on the wall clock is an hour ahead (-3600: behind)
///   PEPE_FAIL=monotonic:50+:3600   the same for the monotonic clock, and for what waits by it
///   PEPE_FAIL=suspend:50:1.5       at the 50th reading the machine sleeps 1.5 s: its monotonic clock stands still
///   PEPE_FAIL_SEEN=FILE            FILE is made when it comes to that
// clang-format on
namespace pepe::failing {

/// Whether this call of the kind `call` is the one, or one of those, that PEPE_FAIL means. errno is set then.
bool fails(const char* call) noexcept;

/// Whether the fault is that less is moved than was asked for, not an error.
bool is_short() noexcept;

/// Whether all calls after the first that fails are to fail as well.
bool lasts() noexcept;

/// How far a clock is set ahead, or how long the machine sleeps, in nanoseconds.
std::int64_t step() noexcept;

/// The function `name` of whatever stands behind this object: the sanitizer's or libc's.
void* next(const char* name) noexcept;

}  // namespace pepe::failing
