# What makes a fault in the shipped binary harder to use: tests/failing reads from the binary whether it is there.
add_compile_options($<$<CONFIG:Release>:-fstack-protector-strong>)
add_compile_definitions($<$<CONFIG:Release>:_FORTIFY_SOURCE=2>)
add_link_options($<$<CONFIG:Release>:-Wl,-z,relro,-z,now,-z,noexecstack>)
