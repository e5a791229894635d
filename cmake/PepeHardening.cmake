# What makes a fault in the shipped binary harder to use: tests/failing reads from the binary whether it is there.
add_link_options($<$<CONFIG:Release>:-Wl,-z,relro,-z,now,-z,noexecstack>)
