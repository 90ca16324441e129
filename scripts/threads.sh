#!/bin/bash
# What threads share: all orders of what they publish, lock and wake, by loom; then random traffic of
# the queues under ThreadSanitizer, where a nightly Rust with its source is installed.
set -euo pipefail
cd "$(dirname "$0")/.."

echo "== loom"
RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test --release --locked \
    -p lanecrypt-engine -p lanecrypt-device -p lanecrypt-random --test memory_order

echo "== ThreadSanitizer"
host=$(rustc -vV | sed -n 's/^host: //p')
source=$(rustc +nightly --print sysroot 2>/dev/null || true)/lib/rustlib/src/rust/library/Cargo.lock
if [ ! -f "$source" ]; then
    echo "SKIPPED thread-sanitizer: rustup toolchain install nightly --component rust-src"
    exit 0
fi
# The standard library is built anew: ThreadSanitizer must see its locks. It does not follow a
# thread into a forked child.
export RUSTFLAGS="-Zsanitizer=thread" CARGO_TARGET_DIR=target/thread-sanitizer
export LANECRYPT_CASES=${LANECRYPT_CASES:-100000}
cargo +nightly test -Zbuild-std --locked --target "$host" -p lanecrypt-engine \
    --test engine -- queue_worker:: queue_futures:: --test-threads 1 --skip forked
