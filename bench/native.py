"""Reads what bench/run.py needs of pepe's own result files: docs/result-format.md, with the standard library alone."""

import struct

HEAD_BYTES = 20
FIXED = {0xC0: None, 0xC2: False, 0xC3: True}
NUMBERS = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
NUMBERS = {mark: struct.Struct(form) for mark, form in NUMBERS.items()}
LENGTHS = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}  # of bytes and of text
COUNTS = {0xDC: 2, 0xDD: 4}  # of what stands in an array


def unpack(data, at):
    """(the msgpack value that begins at `at`, where it ends)"""
    mark = data[at]
    at += 1
    if mark < 0x80:
        return mark, at
    if mark >= 0xE0:
        return mark - 256, at
    if mark in NUMBERS:
        form = NUMBERS[mark]
        return form.unpack_from(data, at)[0], at + form.size
    if mark < 0x90:
        return unpack_map(data, at, mark & 15)
    if mark < 0xA0:
        return unpack_array(data, at, mark & 15)
    if mark < 0xC0:
        return data[at : at + (mark & 31)], at + (mark & 31)
    if mark in LENGTHS:
        size = int.from_bytes(data[at : at + LENGTHS[mark]], "big")
        at += LENGTHS[mark]
        return data[at : at + size], at + size
    if mark in COUNTS:
        count = int.from_bytes(data[at : at + COUNTS[mark]], "big")
        return unpack_array(data, at + COUNTS[mark], count)
    if mark == 0xDE:
        return unpack_map(data, at + 2, int.from_bytes(data[at : at + 2], "big"))
    return FIXED[mark], at


def unpack_array(data, at, count):
    values = []
    for _ in range(count):
        mark = data[at]  # nearly all of a file are small numbers in long arrays
        if mark < 0x80:
            values.append(mark)
            at += 1
        else:
            value, at = unpack(data, at)
            values.append(value)
    return values, at


def unpack_map(data, at, count):
    pairs = {}
    for _ in range(count):
        key, at = unpack(data, at)
        pairs[key.decode()], at = unpack(data, at)
    return pairs, at


def hits_of(path, column):
    """(sequence number, value of a column) of each hit of a file, chunk by chunk."""
    with open(path, "rb") as stream:
        while len(head := stream.read(HEAD_BYTES)) == HEAD_BYTES:
            chunk, _ = unpack(stream.read(int.from_bytes(head[8:12], "big")), 0)
            if "hits" not in chunk:
                continue
            columns, hits, seq = [name.decode() for name in chunk["columns"]], chunk["hits"], chunk["seq"]
            for step, value in zip(
                hits[columns.index("seq") :: len(columns)], hits[columns.index(column) :: len(columns)]
            ):
                seq += step
                yield seq, value
