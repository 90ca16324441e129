#!/usr/bin/env bash
# Runs all tests and ends with what was skipped, the counts and the matrix of kernels and
# instruction sets. Arguments go to cargo, such as --release. With --libraries first, only the
# libraries whose promises an optimised build could break (what is wiped, stack, machine code).
#
# Tests report by lines that begin with `SKIPPED name: reason` and `MATRIX`.
set -uo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
log=$target/test.log
: >"$log"
status=0

# A pipe to tee, so that cargo's lines appear as they come.
run() {
    "$@" 2>&1 | tee -a "$log"
    if [ "${PIPESTATUS[0]}" -ne 0 ]; then
        status=1
        failed_commands+=("$*")
    fi
}
failed_commands=()

scripts/extras.sh missing test | while read -r name package _; do
    echo "SKIPPED $name: apt install $package"
done | tee -a "$log"

# The engine's `legacy`, so that lanes of DES are tested through it whoever else turns that on.
features=(
    lanecrypt-random/rand_core_06 lanecrypt-random/rand_core_09 lanecrypt-engine/legacy
    lanecrypt-ciphers/rustcrypto
)
if [ "${1-}" = --libraries ]; then
    shift
    packages=(-p lanecrypt-kernels -p lanecrypt-ciphers -p lanecrypt-random -p lanecrypt-engine)
    run cargo test "${packages[@]}" --no-fail-fast "$@" "${features[@]/#/--features=}"
else
    features+=(lanecrypt/rustcrypto)
    run cargo test --workspace --no-fail-fast "$@" "${features[@]/#/--features=}"
    run scripts/smoke.sh "$@"
fi

# What a test process ends before it prints its result is a failure that cargo alone reports.
read -r passed failed ignored < <(awk '
    /^test result:/ { passed += $4; failed += $6; ignored += $8 }
    /^smoke .* ok$/ { passed++ }
    /^smoke .* FAILED/ { failed++ }
    END { print passed + 0, failed + 0, ignored + 0 }' "$log")
skips=$(grep '^SKIPPED ' "$log" | sort -u)
skipped=$(grep -c . <<<"$skips")

echo
if [ -n "$skips" ]; then echo "$skips"; fi
for command in "${failed_commands[@]}"; do echo "FAILED $command"; done
echo "$passed passed, $failed failed, $skipped skipped, $ignored ignored"
if grep -q '^MATRIX ' "$log"; then
    echo
    grep '^MATRIX ' "$log" | sed 's/^MATRIX //'
else
    echo "FAILED no matrix of kernels and instruction sets was printed"
    status=1
fi
exit $status
