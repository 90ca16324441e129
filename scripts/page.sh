#!/usr/bin/env bash
# Opens the pages of `lanecrypt report` and `make site` in a browser without a window, and tests them. Ends with the counts.
set -uo pipefail
cd "$(dirname "$0")/.."
read -ra everything <<<"$(cargo xtask selection)"

for tool in python3:python3 chromium:chromium; do
    if ! command -v "${tool%:*}" >/dev/null; then
        echo "SKIPPED ${tool%:*}: apt install ${tool#*:}"
        exit 0
    fi
done
# What `make test` has built.
cargo test --release --no-run --quiet --locked "${everything[@]}" --test program || exit 1
LANECRYPT_PROGRAM=$PWD/${CARGO_TARGET_DIR:-target}/release/lanecrypt
if [[ ${CARGO_TARGET_DIR:-} == /* ]]; then LANECRYPT_PROGRAM=$CARGO_TARGET_DIR/release/lanecrypt; fi
export LANECRYPT_PROGRAM LANECRYPT_RESULTS
LANECRYPT_RESULTS=$(printf '%s:' "$PWD"/results/*/)
LANECRYPT_RESULTS=${LANECRYPT_RESULTS%:}
log=$(mktemp)
LANECRYPT_SITE=$(mktemp -d)
export LANECRYPT_SITE
trap 'rm -rf "$log" "$LANECRYPT_SITE"' EXIT
cargo xtask site "$LANECRYPT_PROGRAM" "$LANECRYPT_SITE" || exit 1
PYTHONDONTWRITEBYTECODE=1 python3 report/tests/browser/test_page.py -v 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
awk '
    / \.\.\. ok$/ { passed++ }
    /^(FAIL|ERROR): / { failed++ }
    END { printf "%d passed, %d failed, 0 skipped\n", passed, failed }' "$log"
exit "$status"
