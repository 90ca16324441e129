#!/usr/bin/env bash
# Under Miri, in many orders of threads on a machine that orders memory weakly: what queues, rings and
# generators share. Once: parts of the kernels. It needs a nightly Rust with Miri and its source.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! cargo +nightly miri --version >/dev/null 2>&1; then
    echo "SKIPPED miri: rustup toolchain install nightly --component miri --component rust-src"
    exit 0
fi
export CARGO_TARGET_DIR=target/miri

# Runs tests of a package, in so many orders. There is no assembly here for that processor.
run() {
    local orders=$1 package=$2
    shift 2
    echo "== $package"
    MIRIFLAGS="-Zmiri-many-seeds=0..$orders -Zmiri-permissive-provenance" cargo +nightly miri test \
        --locked --quiet --target powerpc64le-unknown-linux-gnu -p "$package" "$@" --test-threads 1
}

# Those of the queue's tests that take seconds and need neither forks nor `poll`.
run 8 lanecrypt-engine --test engine -- queue_futures::{a_closed,cancelled,dropped} \
    queue_worker::{a_buffer,a_closed,a_queue_that_is_dropped,sleepers}
run 32 lanecrypt-engine --lib -- measured::
run 32 lanecrypt-device --lib -- used_again
run 32 lanecrypt-random --lib -- threads_
run 1 lanecrypt-kernels --lib -- ctr:: equal:: fork::tests isa::tests::{capping,levels,names}
