#!/usr/bin/env bash
# Seconds that a newcomer waits: acceptance measurements, none of them a test.
#
#   benches/acceptance.sh first-result   clone, build, kernel, first result on real Linux, then a second one
#   benches/acceptance.sh ci             .ci/run of a clone without a kernel in the cache
#   benches/acceptance.sh ci-cached      the same with the user's cache
#
# Each prints a row; with `--record FILE` it replaces its row in that file's table. Clones and caches are temporary.
# Crates and packages that cargo and apt have fetched before are not fetched again.
set -euo pipefail

case ${1:-} in
first-result | ci | ci-cached) what=$1 ;;
*)
    sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac

repository=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export FULLPIPE_CACHE="$place/cache"
git clone --quiet "$repository" "$place/clone"
cd "$place/clone"
unset CARGO_TARGET_DIR

# Seconds that a command takes. What it says goes to the terminal.
seconds() {
    local begun=$EPOCHREALTIME
    "$@" >&2 || return
    awk -v from="$begun" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f", to - from }'
}

scenario() {
    cat <<'END'
[path]
rate = "1Gbit"
delay = { forward = "10ms", back = "10ms" }

[hosts]
sender = { kernel = "6.12" }
receiver = { kernel = "6.12" }

[[flow]]
name = "bulk"
congestion = "cubic"
duration = "5s"
END
}

fullpipe=target/release/fullpipe
case $what in
first-result)
    build=$(seconds cargo build --release --quiet --package fullpipe-cli)
    size=$(stat --format %s "$fullpipe")
    [ "$size" -lt 25000000 ] || { echo "the program has $size bytes, not under 25 MB" >&2; exit 1; }
    kernel=$(seconds $fullpipe kernel build)
    scenario >first.toml
    run=$(seconds $fullpipe run first.toml --engine linux)
    again=$(seconds $fullpipe run first.toml --engine linux --set flow.bulk.duration=10ms --set duration=10ms)
    all=$(awk "BEGIN { printf \"%.0f\", $build + $kernel + $run }")
    told="$all s: $build the program, $kernel the kernel, $run the run of 5 s at 1 Gb/s; a next one, of 10 ms, takes $again s"
    name="from a clone to a first result"
    ;;
ci)
    told="$(seconds env CI=true bash .ci/run) s"
    name=".ci/run of a clone, no kernel in the cache"
    ;;
ci-cached)
    unset FULLPIPE_CACHE
    told="$(seconds env CI=true bash .ci/run) s"
    name=".ci/run of a clone, both kernels in the cache"
    ;;
esac

row="| $name | $(nproc) | $(git rev-parse --short HEAD) | $told |"
echo "$row"
if [ "${2:-}" = --record ]; then
    cd "$repository"
    awk -v row="$row" -v name="| $name |" 'index($0, name) == 1 { print row; next } { print }' "$3" >"$3.new"
    mv "$3.new" "$3"
fi
