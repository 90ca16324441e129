#!/usr/bin/env bash
# Checks the libraries for processors that this machine does not have: they use the portable kernels
# there. Arguments go to cargo, such as --locked.
set -uo pipefail
cd "$(dirname "$0")/.."

targets=(aarch64-unknown-linux-gnu riscv64gc-unknown-linux-gnu)
packages=(lanecrypt lanecrypt-kernels lanecrypt-ciphers lanecrypt-random lanecrypt-engine)

# All features but AWS-LC, whose C needs a compiler for the target.
features=()
for package in "${packages[@]}"; do
    for feature in $(awk '/^\[/ { inside = $0 == "[features]"; next }
        inside && /^[a-z]/ { print $1 }' "${package#lanecrypt-}/Cargo.toml"); do
        if [ "$feature" != aws-lc ]; then features+=(--features="$package/$feature"); fi
    done
done

status=0
for target in "${targets[@]}"; do
    if ! rustup target list --installed 2>/dev/null | grep -qx "$target" &&
        ! rustup target add "$target" 2>/dev/null; then
        echo "SKIPPED target-$target: rustup target add $target"
        continue
    fi
    echo "target: $target"
    # Of the lints only those that find code which nothing uses there.
    cargo clippy --quiet "$@" --target "$target" "${packages[@]/#/-p}" "${features[@]}" \
        -- -D warnings -A clippy::all || status=1
done
exit $status
