#!/usr/bin/env bash
# Puts the figures of results/ into the tables of the documents, and draws the README's pictures.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --release --quiet
program=${CARGO_TARGET_DIR:-target}/release/lanecrypt
for document in README.md FIGURES.md docs/notes/*.md; do
    "$program" report results/*/ --into "$document"
done
# The machine whose figures the README has.
for name in headline packets-messages-one-at-a-time-aes-128-gcm-seal; do
    "$program" report results/zen4 --svg "$name" >"results/$name.svg"
done
