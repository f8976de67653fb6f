#!/bin/sh
# All tests, with what they need: a headless Chromium reads the report, tshark and tcptrace read captures, the engine
# linux runs kernels that are built once (some minutes) and kept in the user's cache. Without arguments (which are cargo
# test's) a fourteenth of the long studies is made besides, another one each day, and the Python package is tested. The parser
# of scenarios is fuzzed for half a minute where `make fuzz` has installed what that needs.
set -eu
cd "$(dirname "$0")"

has() {
    command -v "$1" >/dev/null 2>&1
}

if ! { has chromium || has chromium-browser || has google-chrome; } || ! has chromedriver; then
    if [ "$(id -u)" = 0 ] && has apt-get; then
        apt-get update
        DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends chromium chromium-driver
    else
        echo "The report's test needs chromium and chromedriver. On Debian:" >&2
        echo "    sudo apt-get install chromium chromium-driver" >&2
        exit 1
    fi
fi
if ! { has tshark && has capinfos && has tcptrace; } && [ "$(id -u)" = 0 ] && has apt-get; then
    apt-get update
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends tshark tcptrace
fi
if has tshark && has capinfos && has tcptrace; then
    export FULLPIPE_REQUIRE_CAPTURE_TOOLS=1
else
    echo "skipped: captures read by tshark and tcptrace, which are not installed. On Debian:" >&2
    echo "    sudo apt-get install tshark tcptrace" >&2
fi
if ! has iperf3 && [ "$(id -u)" = 0 ] && has apt-get; then
    apt-get update
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends iperf3
fi
if has iperf3; then
    export FULLPIPE_REQUIRE_IPERF3=1
else
    echo "skipped: measurements with iperf3, which is not installed. On Debian:" >&2
    echo "    sudo apt-get install iperf3" >&2
fi
if ! { has flex && has bison && has bc && has xz; } && [ "$(id -u)" = 0 ] && has apt-get; then
    apt-get update
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends gcc make flex bison bc xz-utils
fi
# A first build takes a fifth less time where it keeps nothing for the next one.
[ -d "${CARGO_TARGET_DIR:-target}/debug" ] || export CARGO_INCREMENTAL=0
# As the tests below want it, so that nothing is compiled twice; it makes the program, too.
cargo test --workspace --no-run
fullpipe() {
    "${CARGO_TARGET_DIR:-target}/debug/fullpipe" "$@"
}
if fullpipe kernel build --version 6.1 && fullpipe kernel build --config nfs && FULLPIPE_TEST_KERNEL=$(fullpipe kernel build); then
    FULLPIPE_TEST_INIT="$PWD/target/guest/$(rustc -vV | sed -n 's/^host: //p')/release/fullpipe-init"
    export FULLPIPE_REQUIRE_KERNEL=1 FULLPIPE_TEST_KERNEL FULLPIPE_TEST_INIT
elif [ "$(id -u)" = 0 ]; then
    echo "The kernel for the engine linux could not be built (see above)." >&2
    exit 1
else
    echo "skipped: the engine linux on its kernel, which could not be built (see above)" >&2
fi
# Two more than cores: some tests wait for a guest, a browser or a connection.
RUST_TEST_THREADS=${RUST_TEST_THREADS:-$(($(nproc) + 2))}
export RUST_TEST_THREADS
if [ $# != 0 ]; then
    FULLPIPE_REQUIRE_CHROMIUM=1 exec cargo test --workspace "$@"
fi
# Studies and the Python package have one thread each, so they run beside the tests, and are shown behind them.
log=$(mktemp)
setsid sh -c './studies.sh && ./crates/fullpipe-py/test.sh' >"$log" 2>&1 &
beside=$!
trap 'kill -- -$beside 2>/dev/null || true; rm -f "$log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
FULLPIPE_REQUIRE_CHROMIUM=1 cargo test --workspace
result=0
wait $beside || result=$?
cat "$log"
[ $result = 0 ] || exit $result
if cargo fuzz --version >/dev/null 2>&1 && rustup toolchain list | grep -q '^nightly'; then
    FULLPIPE_REQUIRE_FUZZ=1 ./fuzz/run.sh 30
else
    echo "skipped: the parser of scenarios fuzzed, for which \`make fuzz\` installs cargo-fuzz and a nightly Rust" >&2
fi
