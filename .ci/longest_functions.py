#!/usr/bin/env python3
"""Prints the ten longest functions of the sources: a reason to look, not a limit.

Relies on the layout that .clang-format makes: a function begins in the first column and ends with a brace there.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOT_A_FUNCTION = re.compile(r"\s|#|//|}|namespace|struct|class|enum|union|using|extern|static_assert|constexpr .*\[\] = {")


def functions(path):
    """(lines, first line's number, first line) of each function."""
    begin = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("}"):
            if begin is not None:
                yield number - begin[0] + 1, *begin
            begin = None
        elif begin is None and line and not NOT_A_FUNCTION.match(line) and "(" in line:
            begin = (number, line)
        elif begin is not None and line.endswith(";") and not line.startswith(" "):
            begin = None
        if begin is not None and begin[0] == number and line.endswith((";", "}")):
            begin = None


def main():
    found = []
    for folder in ("src", "include", "bench"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cc", ".h", ".c"):
                found += [(lines, path, number, text) for lines, number, text in functions(path)]
    for lines, path, number, text in sorted(found, key=lambda row: -row[0])[:10]:
        print(f"{lines:4} lines  {path.relative_to(ROOT)}:{number}  {text.rstrip(' {')[:90]}")


if __name__ == "__main__":
    main()
