#!/usr/bin/env bash
# Checks the libraries by the oldest Rust that is supported; with --all, the program too. Nobody runs
# what is compiled here, so C is compiled the quick way.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
toolchain=$(rustup toolchain list 2>/dev/null | grep -o "^$version[^ ]*" | head -n 1) || {
    echo "SKIPPED msrv: rustup toolchain install $version"
    exit 0
}
selection=(-p lanecrypt -p lanecrypt-stream -p lanecrypt-c -p lanecrypt-openssl -p rustls-lanecrypt
    --features lanecrypt/accelerators,lanecrypt/columns,lanecrypt/device,lanecrypt/legacy,lanecrypt/openssl,lanecrypt/pk
    --features lanecrypt/rsa-generate,lanecrypt/rustcrypto,lanecrypt/getrandom_backend)
if [ "${1-}" = --all ]; then selection=(--workspace --all-features); fi
CFLAGS="-O0 -g0" cargo "+$toolchain" check --locked --target-dir "${CARGO_TARGET_DIR:-target}/msrv" "${selection[@]}"
