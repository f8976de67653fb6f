#!/bin/sh
# All tests, with what they need: a headless Chromium reads the report.
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
FULLPIPE_REQUIRE_CHROMIUM=1 cargo test --workspace "$@"
