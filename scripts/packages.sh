#!/usr/bin/env bash
# Makes the packages as they would be published and checks that they are whole: all of them together,
# unpacked, in a workspace of their own where each finds the others. Cargo's own verification builds
# every one. Arguments go to cargo, such as --locked.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
# Cargo keeps what it made for an earlier run.
rm -rf "$target/package"
unpacked=$target/package/unpacked

cargo package --workspace --exclude lanecrypt-testing --no-verify "$@"
mkdir -p "$unpacked"
for file in "$target"/package/*.crate; do tar -xzf "$file" -C "$unpacked"; done
cp Cargo.lock "$unpacked"

{
    echo '[workspace]'
    echo 'resolver = "3"'
    echo 'members = ["*-[0-9]*"]'
    echo '[patch.crates-io]'
    for folder in "$unpacked"/*/; do
        folder=$(basename "$folder")
        echo "${folder%-*} = { path = \"$folder\" }"
    done
    # The same as here, so that what others made is not checked once more.
    sed -n '/^\[profile.dev/,/^$/p' Cargo.toml
} >"$unpacked/Cargo.toml"
cargo check --offline --manifest-path "$unpacked/Cargo.toml" --workspace --all-features \
    --target-dir "$target"
