#!/usr/bin/env bash
# Runs vectors, properties and random numbers on processors and systems that this machine does not
# have, by emulators: 32 bits, arm64, big-endian, WASI. Arguments go to cargo, such as --locked.
set -uo pipefail
cd "$(dirname "$0")/.."

# The musl targets have what a program is linked with; s390x takes the C library of its package.
export CARGO_TARGET_I686_UNKNOWN_LINUX_MUSL_LINKER=rust-lld
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER=qemu-aarch64
export CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_LINKER=s390x-linux-gnu-gcc
export CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_RUNNER="qemu-s390x -L /usr/s390x-linux-gnu"
export CARGO_TARGET_WASM32_WASIP1_RUNNER="node --no-warnings scripts/wasi.mjs"

targets=()
# Arguments: a target, the commands that it needs, the packages that have them.
add() {
    local target=$1 command
    for command in $2; do
        if ! command -v "$command" >/dev/null; then
            echo "SKIPPED elsewhere-$target: apt install $3"
            return
        fi
    done
    if ! rustup target list --installed 2>/dev/null | grep -qx "$target" &&
        ! rustup target add "$target" 2>/dev/null; then
        echo "SKIPPED elsewhere-$target: rustup target add $target"
        return
    fi
    targets+=("$target")
}

add i686-unknown-linux-musl "" ""
add aarch64-unknown-linux-musl qemu-aarch64 qemu-user
add s390x-unknown-linux-gnu "qemu-s390x s390x-linux-gnu-gcc" "qemu-user libc6-dev-s390x-cross"
add wasm32-wasip1 node nodejs

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
