#!/usr/bin/env bash
# Runs the tests of kernels, ciphers, generators, engine and RSA on s390x, which is big-endian, and on
# arm64, by qemu's user mode; then the program's own test, and a short `speed`, whose figures must be
# marked. Ends with counts. Arguments go to cargo, such as --locked.
set -uo pipefail
cd "$(dirname "$0")/.."
source scripts/emulators.sh

# For a program, in seconds.
LIMIT=${LIMIT:-1800}
# An emulator takes 10 to 50 times as long as a processor.
export LANECRYPT_CASES=${LANECRYPT_CASES:-20}
export LANECRYPT_ISA=

add cross s390x-unknown-linux-gnu "qemu-s390x s390x-linux-gnu-gcc" \
    "qemu-user gcc-s390x-linux-gnu libc6-dev-s390x-cross"
add cross aarch64-unknown-linux-gnu "qemu-aarch64 aarch64-linux-gnu-gcc" \
    "qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross"

packages=(
    -p lanecrypt-kernels -p lanecrypt-ciphers -p lanecrypt-random -p lanecrypt-engine -p lanecrypt-rsa
    --features=lanecrypt-engine/legacy --features=lanecrypt-engine/model --features=lanecrypt-engine/rsa
    --features=lanecrypt-ciphers/rustcrypto
)

# Programs whose subject is the kernel of the system, which qemu stands in for: advice on memory, what
# a fork inherits (without which nothing is buffered), locked memory, restartable sequences, system-call
# filters, loading of libraries. And the timing of kernels.
system='constant_time|fork|forks|per_cpu|recovery|entropy|unload|key_memory|erasure|signals|frames|bytes|rekeying|shared|threads'
# Tests with such a subject in other programs, and those that start a program.
system_tests=(
    --skip huge::linux --skip locked::tests --skip the_variable_of_the_start_counts
)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/failed"

# One program: its name, its folder, the command. Own harnesses start their cases by the emulator too.
one() {
    local name=$1 folder=$2 start=$EPOCHREALTIME out
    shift 2
    out=$(mktemp -p "$work")
    if (cd "$folder" && timeout --foreground "$LIMIT" "$@") >"$out" 2>&1 </dev/null &&
        grep -q '^test result: ok' "$out"; then
        grep '^SKIPPED' "$out"
        grep '^test result: ' "$out" >>"$work/results"
    else
        echo "FAILED $name" | tee -a "$work/failed"
        tail -n 60 "$out"
    fi
    awk -v name="$name" -v from="$start" -v to="$EPOCHREALTIME" \
        'BEGIN { printf "%7.1f s  %s\n", to - from, name }' >>"$work/times"
}

# The programs that cargo has built for a target, by its emulator.
run_tests() {
    local target=$1 emulator=$2 name folder file arguments cases
    shift 2
    cargo test --no-run "$@" --target "$target" "${packages[@]}" \
        --message-format=json-render-diagnostics >"$work/messages" || return 1
    awk -v OFS='\t' '
        function text(name) {
            if (!match($0, "\"" name "\":\"[^\"]*\"")) return ""
            return substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5)
        }
        /"test":true\},"features"/ && /"executable":"/ {
            folder = text("manifest_path"); sub(/\/Cargo\.toml$/, "", folder)
            match($0, /"target":\{"kind":\["[^"]*"/); kind = substr($0, RSTART + 19, RLENGTH - 20)
            print (kind == "lib" ? "src" : text("name")), folder, text("executable")
        }' "$work/messages" | grep -vE "^($system)	" >"$work/built"
    while IFS=$'\t' read -r name folder file; do
        while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
        # Own harnesses know no options.
        arguments=()
        if [ "$name" = src ] || [ "$name" = kernels ]; then arguments=("${system_tests[@]}"); fi
        # Those of the engine count what must happen in the usual number of cases.
        cases=(env)
        if [ "$(basename "$folder")" = engine ]; then cases=(env -u LANECRYPT_CASES); fi
        # shellcheck disable=SC2086
        LANECRYPT_EMULATOR=$emulator one "${target%%-*} $(basename "$folder")/$name" "$folder" \
            "${cases[@]}" $emulator "$file" "${arguments[@]}" &
    done <"$work/built"
    wait
}

# The program: its vectors, and what it says of figures that an emulator measured.
run_program() {
    local target=$1 emulator=$2 program json=$work/speed.json
    shift 2
    cargo build --quiet "$@" --target "$target" -p lanecrypt-cli || return 1
    program=${CARGO_TARGET_DIR:-target}/$target/debug/lanecrypt
    # shellcheck disable=SC2086
    {
        $emulator "$program" check --self-test >"$work/check" || { cat "$work/check"; return 1; }
        echo "check: $(grep -c ok "$work/check") lines ok"
        $emulator "$program" speed random --quick --budget 20s --peers none \
            --only 'random/lanecrypt*/fill/32/*' --json "$json" >"$work/speed" ||
            { cat "$work/speed"; return 1; }
        $emulator "$program" compare "$json" "$json" >"$work/compare"
        $emulator "$program" report "$json" --markdown >"$work/report"
        $emulator "$program" info >"$work/info"
    }
    local file
    for file in speed compare report info; do
        grep -q EMULATED "$work/$file" || { echo "$file does not mark emulated figures"; return 1; }
    done
    grep -q "\"emulator\": \"${emulator%% *}\"" "$json" || { echo "the JSON has no mark"; return 1; }
}

for target in "${targets[@]}"; do
    echo "target: $target"
    runner=CARGO_TARGET_$(tr a-z- A-Z_ <<<"$target")_RUNNER
    run_tests "$target" "${!runner}" "$@" || echo "FAILED $target: build" | tee -a "$work/failed"
    run_program "$target" "${!runner}" "$@" || echo "FAILED $target: program" | tee -a "$work/failed"
done
if [ -s "$work/times" ]; then
    printf '\nSlowest:\n'
    sort -rn "$work/times" | head -n 8
fi
echo
cat "$work/failed"
echo "cross: ${#targets[@]} targets in $SECONDS s, $(awk '{ n += $4 } END { print n + 0 }' \
    "$work/results" 2>/dev/null || echo 0) tests passed, $(grep -c . "$work/failed") failures"
[ ! -s "$work/failed" ]
