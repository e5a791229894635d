#!/bin/sh
# Builds pepe and its bench server, attacks the server for three seconds and prints the report. Run it again at will.
set -eu
cd "$(dirname "$0")/.."
. cmake/install.sh

install_packages build
say "building pepe (build/release/pepe)"
cmake --preset release -DPEPE_TESTS=OFF >/dev/null
cmake --build --preset release --target pepe pepe_bench_server

demo=build/demo
mkdir -p "$demo"
build/release/bench/server -size=1024 -duration=1m >"$demo/server.log" &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
port=
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  port=$(sed -n 's/^listening on 127\.0\.0\.1://p' "$demo/server.log")
  [ -z "$port" ] || break
  sleep 0.1
done
[ -n "$port" ] || { echo "the server did not start" >&2; exit 1; }
sed "s/:8080/:$port/" targets/http/hello.txt >"$demo/targets.txt"

say "attacking 127.0.0.1:$port: pepe attack -rate=500 -duration=3s -targets=$demo/targets.txt -output=$demo/results.bin"
build/release/pepe attack -rate=500 -duration=3s -targets="$demo/targets.txt" -output="$demo/results.bin"

say "reading the results: pepe report $demo/results.bin"
build/release/pepe report "$demo/results.bin"
