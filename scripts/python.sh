#!/usr/bin/env bash
# Installs the package of surfaces/python from this clone into a new virtual environment, as
# `pip install ./surfaces/python` does for users, and runs its tests. Ends with the counts. WHEEL=file.whl
# is installed instead, without Rust. Arguments go to pytest. The environment stays in the folder of build results: `target/python/env/bin/python`.
set -uo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/python"
target=$(cd "$target/python" && pwd)
env=$target/env
log=$target/test.log

skip() {
    echo "SKIPPED python: $1"
    exit 0
}

python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    skip "apt install python3 (3.11 or later)"
rm -rf "$env"
"$python" -m venv "$env" >"$log" 2>&1 || skip "apt install python3-venv"
export PIP_DISABLE_PIP_VERSION_CHECK=1
# What builds the package comes first: without a network this is what fails.
"$env/bin/pip" install --quiet "${WHEEL:-maturin>=1.16,<2}" >"$log" 2>&1 || skip "needs pypi.org, or a mirror"

fail() {
    cat "$log"
    echo "FAILED python: $1"
    exit 1
}

# These are loaded from the network while the package is built. It needs none of them.
"$env/bin/pip" install --quiet -r surfaces/python/tests/requirements.txt >"$target/requirements.log" 2>&1 &
requirements=$!
# Cargo keeps what it has built of dependencies between runs. Users get the profile `release`.
[ -n "${WHEEL-}" ] || CARGO_TARGET_DIR=$target MATURIN_PEP517_ARGS="--profile quick" \
    "$env/bin/pip" install --verbose ./surfaces/python >"$log" 2>&1 ||
    fail "pip install ./surfaces/python"
wait "$requirements" || {
    cp "$target/requirements.log" "$log"
    fail "the packages of tests/requirements.txt"
}

# What some tests compare with, if it was built.
export LANECRYPT_PROGRAM=${LANECRYPT_PROGRAM:-$target/../release/lanecrypt}

# Not in the repository, so that nothing but the installed package is imported.
root=$PWD/surfaces/python
cd "$target" || exit 1
"$env/bin/python" -m pytest -p no:cacheprovider -c "$root/pyproject.toml" --rootdir "$root" "$root/tests" \
    "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
count() {
    tail -n 1 "$log" | grep -o "[0-9]* $1" | cut -d ' ' -f 1
}
passed=$(count passed) failed=$(count failed) errors=$(count error) skipped=$(count skipped)
echo "${passed:-0} passed, $((${failed:-0} + ${errors:-0})) failed, ${skipped:-0} skipped"
exit "$status"
