#!/bin/sh
# Feeds the parser of scenarios with what libFuzzer makes of the repository's scenarios: fuzz/run.sh [SECONDS]
# What it found interesting stays in fuzz/corpus, what broke the parser in fuzz/artifacts.
# Without its tools it says that it is skipped; with FULLPIPE_REQUIRE_FUZZ=1 that is a failure.
set -eu
cd "$(dirname "$0")"

has() {
    command -v "$1" >/dev/null 2>&1
}

skip() {
    if [ "${FULLPIPE_REQUIRE_FUZZ:-}" = 1 ]; then
        echo "failed: the parser of scenarios cannot be fuzzed: $1" >&2
        exit 1
    fi
    echo "skipped: the parser of scenarios fuzzed: $1" >&2
    exit 0
}

has rustup || skip "a nightly toolchain needs rustup"
if ! rustup toolchain list | grep -q '^nightly'; then
    [ "$(id -u)" = 0 ] || skip "no nightly toolchain (rustup toolchain install nightly)"
    rustup toolchain install --profile minimal nightly || skip "no nightly toolchain can be installed"
fi
has c++ || skip "no C++ compiler, which libFuzzer needs"
if ! cargo fuzz --version >/dev/null 2>&1; then
    [ "$(id -u)" = 0 ] || skip "no cargo-fuzz (cargo install --locked cargo-fuzz)"
    cargo install --locked cargo-fuzz || skip "cargo-fuzz cannot be installed"
fi

# The parser is safe Rust: no sanitizer. A scenario that takes ten seconds is a finding.
mkdir -p corpus/scenario
exec cargo +nightly fuzz run --sanitizer none scenario \
    corpus/scenario ../scenarios ../crates/fullpipe/tests/scenario_errors -- \
    -dict=scenario.dict -max_len=8192 -timeout=10 -max_total_time="${1:-600}" -print_final_stats=1
