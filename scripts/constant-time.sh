#!/usr/bin/env bash
# Checks that the kernels, and openings with an HMAC, are constant time, as the release profile
# builds them; kernels/tests/constant_time says how. Arguments go to cargo.
set -euo pipefail
cd "$(dirname "$0")/.."
read -ra everything <<<"$(cargo xtask selection)"

if [ "$(uname -m)" != x86_64 ]; then
    echo "SKIPPED constant-time: needs an x86-64 processor"
    exit 0
fi
for tool in valgrind:valgrind objdump:binutils; do
    if ! command -v "${tool%:*}" >/dev/null; then
        echo "SKIPPED constant-time: apt install ${tool#*:}"
        exit 0
    fi
done
# With bitsliced DES, which goes by `legacy` because short requests take tables.
cargo test --color never --release "${everything[@]}" --test constant_time "$@" -- all
