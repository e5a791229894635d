#pragma once

namespace pepe {

/// Lets the system take back the pages of code that were needed until now; what is needed again is mapped again. They
/// would count as memory of the whole run. For the time when all flags and targets have been looked at: most of that
/// code never runs again. Does nothing where the system has no way to, nor under a debugger, whose breakpoints are in
/// those pages.
void give_back_startup_code() noexcept;

}  // namespace pepe
