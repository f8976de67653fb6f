#!/bin/sh
# Builds the wheel as pip does, installs it in a new environment, and runs the tests there. PYTHON is the interpreter,
# FULLPIPE_PYTHON_PROFILE cargo's profile (dev); arguments are pytest's. What has to be skipped is a failure with
# FULLPIPE_REQUIRE_PYTHON=1.
set -eu
cd "$(dirname "$0")/../.."

skip() {
    if [ "${FULLPIPE_REQUIRE_PYTHON:-}" = 1 ]; then
        echo "failed: $1" >&2
        exit 1
    fi
    echo "skipped: $1" >&2
}

python=${PYTHON:-python3}
if ! command -v "$python" >/dev/null 2>&1; then
    skip "the Python package, as there is no $python"
    exit 0
fi
work=$PWD/target/python
rm -rf "$work"
mkdir -p "$work"
if ! "$python" -c "import ensurepip" >/dev/null 2>&1 && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends python3-venv
fi
if ! "$python" -m venv "$work/environment" >"$work/venv.log" 2>&1; then
    cat "$work/venv.log" >&2
    echo "The Python package's tests need venv. On Debian:" >&2
    echo "    sudo apt-get install python3-venv" >&2
    exit 1
fi
bin=$work/environment/bin
# A build for tests has the features of the other tests, so that no crate is compiled twice.
[ "${FULLPIPE_PYTHON_PROFILE:-dev}" = dev ] && features="--features sample" || features=
MATURIN_PEP517_ARGS="--profile ${FULLPIPE_PYTHON_PROFILE:-dev} $features" \
    "$bin/pip" wheel --quiet --no-deps --wheel-dir "$work/wheels" .
# The wheel alone works; what tests need besides comes after that.
"$bin/pip" install --quiet "$work"/wheels/fullpipe-*.whl
# A wheel as users get it runs all of the recipe; slower ones run a variant.
profile=${FULLPIPE_PYTHON_PROFILE:-dev}
[ "$profile" = release ] && variants= || variants="--variant reno"
(
    cd "$work"
    "$bin/fullpipe" --version
    "$bin/python" -c "import fullpipe; assert 'fink-2007' in fullpipe.recipes()"
    "$bin/fullpipe" run fink-2007 $variants --quiet --out run >run.txt
    test -s run.txt && test -s run/report.html && grep -q '"published"' run/summary.json
)
if [ "$profile" = release ] && commit=$(git rev-parse --short=12 HEAD 2>/dev/null); then
    "$bin/fullpipe" --version | grep -q "(commit $commit)" || {
        echo "failed: the wheel's version does not name the commit $commit" >&2
        exit 1
    }
fi
# Modules are compiled when they are imported, which most are not.
if ! "$bin/pip" install --no-compile --quiet "$(echo "$work"/wheels/fullpipe-*.whl)[test]"; then
    skip "what needs mypy, pyarrow, pandas, polars, dask or nbclient, which could not all be installed"
    "$bin/pip" install --quiet pytest
fi
cp -r crates/fullpipe-py/tests "$work/tests"
cd "$work"
FULLPIPE_CHECKOUT=$OLDPWD "$bin/python" -m pytest -p no:cacheprovider -rs "$work/tests" "$@"
