#!/usr/bin/env bash
# Real programs with the provider and nothing but a configuration: nginx, HAProxy, curl, OpenSSH,
# PostgreSQL, Python, Node. What is not here is skipped by name. Ends with the counts.
#
#   openssl-programs.sh [NAME...]     tests of unittest, such as measure; without any, all tests
set -uo pipefail
cd "$(dirname "$0")/.."
source scripts/selection.sh

for tool in python3 openssl nm; do
    if ! command -v "$tool" >/dev/null; then
        echo "SKIPPED openssl-programs: needs $tool"
        exit 0
    fi
done
# The module as users have it. The program only prints configurations, so it is what `make test` has
# built.
cargo build --release --quiet --locked -p lanecrypt-openssl || exit 1
cargo test --no-run --quiet --locked "${everything[@]}" --test program || exit 1
target=$(realpath "${CARGO_TARGET_DIR:-target}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Servers that drop their privileges read it, too.
chmod 755 "$work"
cp "$target/release/liblanecrypt_openssl.so" "$work/lanecrypt.so"
export LANECRYPT_MODULE=$work/lanecrypt.so LANECRYPT_PROGRAM=$target/debug/lanecrypt
cd surfaces/openssl/tests/programs || exit 1

log=$work/log
tests=(discover)
if [ $# -gt 0 ]; then tests=("$@"); fi
PYTHONDONTWRITEBYTECODE=1 python3 -m unittest "${tests[@]}" -v 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
awk '
    / \.\.\. ok$/ || /^ok$/ { passed++ }
    /^(FAIL|ERROR): / { failed++ }
    / \.\.\. skipped / { skipped++ }
    END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }' "$log"
exit "$status"
