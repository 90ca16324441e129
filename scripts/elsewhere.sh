#!/usr/bin/env bash
# Runs vectors, properties and random numbers on processors and systems that this machine does not
# have, by emulators: 32 bits, arm64, big-endian, WASI. Arguments go to cargo, such as --locked.
set -uo pipefail
cd "$(dirname "$0")/.."
source scripts/emulators.sh

add elsewhere i686-unknown-linux-musl "" ""
add elsewhere aarch64-unknown-linux-musl qemu-aarch64 qemu-user
add elsewhere s390x-unknown-linux-gnu "qemu-s390x s390x-linux-gnu-gcc" "qemu-user libc6-dev-s390x-cross"
add elsewhere wasm32-wasip1 node nodejs

program=(-p lanecrypt-testing --features engine --bin elsewhere)
# One build of all, so that all processors have work.
cargo build --quiet "$@" "${targets[@]/#/--target=}" "${program[@]}" || exit 1
failed=0
for target in "${targets[@]}"; do
    echo "target: $target"
    cargo run --quiet "$@" --target "$target" "${program[@]}" || failed=$((failed + 1))
done
echo "elsewhere: $((${#targets[@]} - failed)) targets passed, $failed failed"
[ "$failed" -eq 0 ]
