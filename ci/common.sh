# Sourced by the scripts of this folder: where the repository is, and how to speak.
# shellcheck shell=bash

# Where the caller stands: relative paths among the arguments start there.
# shellcheck disable=SC2034 # used by the scripts that source this
caller=$PWD
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

# The folder of reference data, for those that need it; see engine/testkit.
shared=${DAGGERBOARD_SHARED:-$root/../shared}
# Tests run in the folders of their crates, where a relative path would mean something else.
case $shared in
  /*) ;;
  *) shared=$caller/$shared ;;
esac
export DAGGERBOARD_SHARED=$shared

# rustup puts cargo here; a shell that has not been restarted since does not know.
if ! command -v cargo >/dev/null && [ -x "${CARGO_HOME:-$HOME/.cargo}/bin/cargo" ]; then
  PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
fi

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

die() {
  say "$*"
  exit 1
}

wrong_usage() {
  say "$*; see --help"
  exit 2
}

# Prints the comment at the top of a script as its help.
help() { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$root/ci/${0##*/}"; }

# What is wrong with the Rust at hand, and what to do about it; nothing if it can build this.
rust_problem() {
  local wanted found
  if ! command -v cargo >/dev/null; then
    cat <<'TEXT'
Rust is missing. Install it from https://rustup.rs with
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile default
  and run this again.
TEXT
    return
  fi
  wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$root/Cargo.toml")
  # rustup without a toolchain has a cargo that only says so.
  if ! found=$(cargo --version 2>&1); then
    printf '%s does not run:\n%s\n' "$(command -v cargo)" "$found"
    return
  fi
  found=$(awk '{ print $2 }' <<<"$found")
  if [ "$(printf '%s\n' "$wanted" "$found" | sort -V | head -n 1)" != "$wanted" ]; then
    printf 'Rust %s or later is needed, and %s is %s. Run rustup update stable, or install Rust from https://rustup.rs\n' \
      "$wanted" "$(command -v cargo)" "$found"
  fi
}

# Ends the script unless the Rust at hand can build this.
need_rust() {
  local problem
  problem=$(rust_problem)
  [ -z "$problem" ] || die "$problem"
}
