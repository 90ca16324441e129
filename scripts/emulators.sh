# How cargo links for other processors and runs what it has linked, for `source`. `targets` are those
# that can be used here.
# shellcheck shell=bash

# The musl targets have what a program is linked with; the others take the C library of a package.
export CARGO_TARGET_I686_UNKNOWN_LINUX_MUSL_LINKER=rust-lld
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER=qemu-aarch64
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
export CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_LINKER=s390x-linux-gnu-gcc
export CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_RUNNER="qemu-s390x -L /usr/s390x-linux-gnu"
export CARGO_TARGET_WASM32_WASIP1_RUNNER="node --no-warnings scripts/wasi.mjs"

targets=()

# Adds a target, or says what it lacks. Arguments: what is skipped without it, the target, the commands
# that it needs, the packages that have them.
add() {
    local name=$1-$2 target=$2 command
    for command in $3; do
        if ! command -v "$command" >/dev/null; then
            echo "SKIPPED $name: apt install $4"
            return
        fi
    done
    if ! rustup target list --installed 2>/dev/null | grep -qx "$target" &&
        ! rustup target add "$target" 2>/dev/null; then
        echo "SKIPPED $name: rustup target add $target"
        return
    fi
    targets+=("$target")
}
