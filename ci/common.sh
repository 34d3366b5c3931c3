# Sourced by the scripts of this folder: where the repository is, and how to speak.
# shellcheck shell=bash

# Where the caller stands: relative paths among the arguments start there.
# shellcheck disable=SC2034 # used by the scripts that source this
caller=$PWD
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

# The folder of reference data, for those that need it; see engine/testkit.
shared=${DAGGERBOARD_SHARED:-$root/../shared}

# rustup puts cargo here; a shell that has not been restarted since does not know.
if ! command -v cargo >/dev/null && [ -x "${CARGO_HOME:-$HOME/.cargo}/bin/cargo" ]; then
  PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
fi

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

die() {
  say "$*"
  exit 1
}

# Prints the comment at the top of a script as its help.
help() { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; }
