# What the scripts share; sourced, not run.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Another environment, built beside the usual one, is for scripts/check.
venv=${INLAY_VENV:-$root/.venv}
python=$venv/bin/python
build=${INLAY_BUILD:-$root/build/release}
# What pytest gets for all of tests/python: a process for each core, but for no more than memory has room for (a process
# with PyMC and JAX takes a gigabyte), and the tests of a file in one of them.
on_all_cores=(--numprocesses "$(nproc)" --maxprocesses 8 --dist loadfile)
debian_mirror=${INLAY_DEBIAN_MIRROR:-http://deb.debian.org/debian}  # of roots that scripts make

say() { printf '== %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# The comment at the head of the calling script is its help text.
usage() { sed -n '2,/^[^#]/{/^#/s/^# \{0,1\}//p}' "$0"; }

# install_packages PACKAGE...: what of them apt does not have yet; as root or by sudo, else it says what is missing.
install_packages() {
  local package missing=()
  command -v dpkg-query >/dev/null || die "this is not a Debian system; install by hand what these provide: $*"
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  local as_root=()
  if ((EUID != 0)); then
    sudo -n true 2>/dev/null || { [[ -t 0 ]] && command -v sudo >/dev/null; } ||
      die "these Debian packages are missing and only root can install them: ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}; this takes minutes"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}
