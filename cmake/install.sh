# Sourced by demo.sh and test.sh, in the project's folder.

say() { printf '\n== %s\n' "$*"; }

# install_packages WHAT...: those packages of cmake/packages.txt that are missing, and nothing else. Where there is no
# apt-get the libraries are taken as they are: CMake names the one that is missing.
install_packages() {
  command -v apt-get >/dev/null || return 0
  missing=
  for what in "$@"; do
    for package in $(sed -n "s/^$what //p" cmake/packages.txt); do
      dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing="$missing $package"
    done
  done
  [ -n "$missing" ] || return 0
  say "installing:$missing"
  as_root=
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "needs root, or sudo, to install:$missing" >&2; return 1; }
    as_root=sudo
  fi
  $as_root apt-get update -qq
  # shellcheck disable=SC2086 # one word for each package
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}
