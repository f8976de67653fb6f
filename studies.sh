#!/bin/sh
# A fourteenth of the long studies, another one each day. FULLPIPE_STUDY_DAY makes those of another day, `make studies` all.
set -eu
cd "$(dirname "$0")"

day=${FULLPIPE_STUDY_DAY:-$(($(date +%s) / 86400))}
list=$(cargo test --quiet --workspace --test all -- --ignored --list study_)
studies=$(echo "$list" | sed -n 's/: test$//p' | awk -v day="$day" 'NR % 14 == day % 14')
if [ -z "$studies" ]; then
    echo "There are no studies of day $day, which cannot be." >&2
    exit 1
fi
echo "Studies of day $day, of which \`make studies\` makes all:" $studies
# shellcheck disable=SC2086
FULLPIPE_REQUIRE_CHROMIUM=1 cargo test --workspace --test all -- --ignored --exact $studies
