#!/bin/sh
# Installs what the comparison needs, builds fullpipe, and compares. Arguments go to peers.py.
set -eu
cd "$(dirname "$0")/../.."

# Where only fullpipe is to be run the peers are not needed.
case " $* " in
    *" ns-"*) packages="libns3-dev ns2 g++ python3" ;;
    *" --simulators "*) packages="python3" ;;
    *) packages="libns3-dev ns2 g++ python3" ;;
esac
missing=""
for package in $packages; do
    dpkg-query --show --showformat='${Status}\n' "$package" 2>/dev/null | grep -q "ok installed" ||
        missing="$missing $package"
done
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        apt-get update
        DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $missing
    else
        echo "The comparison needs$missing. On Debian 12 (ns-3 3.37, ns-2 2.35):" >&2
        echo "    sudo apt-get install --no-install-recommends$missing" >&2
        exit 3
    fi
fi
cargo build --release --package fullpipe-cli
exec python3 benches/peers/peers.py --fullpipe target/release/fullpipe --build target/peers \
    --json target/peers/peers.json "$@"
