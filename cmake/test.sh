#!/bin/sh
# Builds pepe with its tests and runs every one of them. Run it again at will.
set -eu
cd "$(dirname "$0")/.."
. cmake/install.sh

install_packages build test
say "building pepe and its tests (build/release)"
cmake --preset release -DPEPE_TESTS=ON >/dev/null
cmake --build --preset release
say "testing"
ctest --preset release -j2
