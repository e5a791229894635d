#!/usr/bin/env python3
"""Reads from the headers of the shipped binary whether a fault in it would be hard to use.

    binary.py build/release/pepe

It must be position independent, its relocations read-only after the start (full RELRO), its stack not executable and
guarded, its calls of the C library checked where sizes are known, and it must name no path of its own to look for libraries
in.
"""

import re
import struct
import sys
from pathlib import Path

ET_DYN = 3
PT_DYNAMIC, PT_GNU_STACK, PT_GNU_RELRO = 2, 0x6474E551, 0x6474E552
DT_RPATH, DT_RUNPATH, DT_BIND_NOW, DT_FLAGS, DT_FLAGS_1 = 15, 29, 24, 30, 0x6FFFFFFB
DF_BIND_NOW, DF_1_NOW, DF_1_PIE = 8, 1, 0x08000000
PF_X = 1


def segments(elf):
    """{type: (flags, offset, size)} of the program headers of a 64-bit little-endian file."""
    if elf[:6] != b"\x7fELF\x02\x01":
        sys.exit("no 64-bit little-endian ELF file: nothing to read here")
    start, = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    table = {}
    for at in range(start, start + size * count, size):
        kind, flags, offset, _, _, length = struct.unpack_from("<IIQQQQ", elf, at)
        table[kind] = flags, offset, length
    return table


def dynamic_entries(elf, table):
    """{tag: value}"""
    _, offset, length = table[PT_DYNAMIC]
    return dict(struct.unpack_from("<QQ", elf, at) for at in range(offset, offset + length, 16))


def lacks(elf):
    """What is missing, in words."""
    table = segments(elf)
    dynamic = dynamic_entries(elf, table)
    now = DT_BIND_NOW in dynamic or dynamic.get(DT_FLAGS, 0) & DF_BIND_NOW or dynamic.get(DT_FLAGS_1, 0) & DF_1_NOW
    asked = {
        "it is not position independent":
            struct.unpack_from("<H", elf, 16)[0] == ET_DYN and dynamic.get(DT_FLAGS_1, 0) & DF_1_PIE,
        "its relocations stay writable": PT_GNU_RELRO in table and now,
        "its stack is executable": PT_GNU_STACK in table and not table[PT_GNU_STACK][0] & PF_X,
        "its stack is not guarded": b"\0__stack_chk_fail\0" in elf,
        "its calls of the C library are not checked": re.search(rb"\0__(memcpy|snprintf|read)_chk\0", elf),
        "it names a path to look for libraries in": DT_RPATH not in dynamic and DT_RUNPATH not in dynamic,
    }
    return [words for words, holds in asked.items() if not holds]


def main():
    missing = lacks(Path(sys.argv[1]).read_bytes())
    for words in missing:
        print(f"{sys.argv[1]}: {words}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
