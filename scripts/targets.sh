#!/usr/bin/env bash
# Checks the libraries for systems and processors that this machine does not have. With --all first,
# also for those that resemble others so much that only a release needs them. Arguments go to cargo,
# such as --locked.
set -uo pipefail
cd "$(dirname "$0")/.."

targets=(
    armv7-unknown-linux-gnueabihf i686-unknown-linux-gnu
    s390x-unknown-linux-gnu x86_64-unknown-linux-musl
    aarch64-linux-android
    aarch64-apple-darwin
    x86_64-pc-windows-msvc
    x86_64-unknown-freebsd
)
# These load no libraries, so OpenSSL cannot be asked for.
closed_targets=(wasm32-unknown-unknown)
if [ "${1-}" = --all ]; then
    shift
    targets+=(
        aarch64-unknown-linux-gnu riscv64gc-unknown-linux-gnu x86_64-apple-darwin aarch64-apple-ios
    )
    closed_targets+=(wasm32-wasip1)
fi
packages=(lanecrypt lanecrypt-kernels lanecrypt-ciphers lanecrypt-random lanecrypt-engine
    lanecrypt-device lanecrypt-stream lanecrypt-columns)
# Those that need no operating system, and a target without one.
bare_target=thumbv7em-none-eabi
bare_packages=(lanecrypt-kernels lanecrypt-ciphers lanecrypt-engine)

# All features of these packages but those that match the pattern. AWS-LC's C needs a compiler for
# the target.
features() {
    local without=$1 package feature
    shift
    for package in "$@"; do
        for feature in $(awk '/^\[/ { inside = $0 == "[features]"; next }
            inside && /^[a-z]/ { print $1 }' "${package#lanecrypt-}/Cargo.toml"); do
            if [[ ! $feature =~ ^($without)$ ]]; then echo "--features=$package/$feature"; fi
        done
    done
}

status=0
# Checks packages for several targets at once, so that all processors have work. Of the lints only
# those that find code which nothing uses there. Arguments: the targets, the others go to cargo.
check() {
    local target there=()
    for target in $1; do
        if ! rustup target list --installed 2>/dev/null | grep -qx "$target" &&
            ! rustup target add "$target" 2>/dev/null; then
            echo "SKIPPED target-$target: rustup target add $target"
            continue
        fi
        echo "target: $target"
        there+=(--target "$target")
    done
    shift
    [ ${#there[@]} -eq 0 ] ||
        cargo clippy --quiet "${there[@]}" "$@" -- -D warnings -A clippy::all || status=1
}

mapfile -t all < <(features aws-lc "${packages[@]}")
# Without ring and AWS-LC.
check "${targets[*]}" "$@" "${packages[@]/#/-p}" "${all[@]}" -p rustls-lanecrypt -p lanecrypt-c
mapfile -t closed < <(features 'aws-lc|openssl' "${packages[@]}")
check "${closed_targets[*]}" "$@" "${packages[@]/#/-p}" "${closed[@]}"
mapfile -t bare < <(features 'aws-lc|default|model|openssl|rsa|std' "${bare_packages[@]}")
check "$bare_target" "$@" --no-default-features "${bare_packages[@]/#/-p}" "${bare[@]}"
exit $status
