#!/usr/bin/env bash
# Runs all tests, as many programs at a time as there are processors, and ends with the slowest, with
# what was skipped, the counts and the matrix of kernels and instruction sets. Arguments go to cargo,
# such as --release. With --optimised first, only what an optimised build could break, and examples.
#
# Tests report by lines that begin with `SKIPPED name: reason` and `MATRIX`. A program that ends
# without the line of its result has failed, and so has one that runs for longer than LIMIT seconds.
set -uo pipefail
cd "$(dirname "$0")/.."
source scripts/selection.sh

# Folders and programs that run longest. They begin first, so that nothing waits for them in the end.
slowest=(
    speed/src rsa/src random/signals random/per_cpu cli/program engine/stack random/fork kernels/kernels
    ciphers/vectors random/erasure random/frames peers/peers random/rekeying ciphers/aead_levels
)
# What an optimised build could break: what is left behind, wiped or on the stack; claims, locks and
# system calls in the order of the source; allocations. And each kernel, by all vectors at each level.
optimised=(
    kernels/stack
    ciphers/left_behind ciphers/aead_wiped ciphers/vectors ciphers/aead_vectors
    random/erasure random/fork random/frames random/per_cpu random/recovery random/rekeying
    random/signals random/streams
    engine/allocations engine/left_behind engine/stack engine/vectors engine/wiped
)
LIMIT=${LIMIT:-900}
# The processors are busy with other programs.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-1}
if [ -n "${LANECRYPT_LONG-}" ]; then LIMIT=36000; fi

selection=("${everything[@]}")
only=()
if [ "${1-}" = --optimised ]; then
    shift
    set -- --release "$@"
    selection=("${libraries[@]}")
    only=("${optimised[@]}")
fi

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
log=$target/test.log
: >"$log"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Programs in the background do not see an interrupt.
trap 'trap - INT TERM; kill 0' INT
: >"$work/failed"
: >"$work/times"

seconds() {
    awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%7.1f", to - from }'
}

# Builds with the arguments that follow and leaves lines `FOLDER/NAME`, folder, kind and file, with
# tabs between, of what cargo has built, in $work/built.
build() {
    local start=$EPOCHREALTIME
    if ! cargo "$@" --message-format=json-render-diagnostics >"$work/messages"; then
        echo "FAILED cargo $*" | tee -a "$work/failed"
    fi
    echo "$(seconds "$start") s  the build: cargo $1" >>"$work/times"
    awk -v OFS='\t' '
        function text(name) {
            if (!match($0, "\"" name "\":\"[^\"]*\"")) return ""
            return substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5)
        }
        !/"reason":"compiler-artifact"/ { next }
        {
            folder = text("manifest_path"); sub(/\/Cargo\.toml$/, "", folder)
            package = folder; sub(/.*\//, "", package)
            match($0, /"target":\{"kind":\["[^"]*"/); kind = substr($0, RSTART + 19, RLENGTH - 20)
            name = text("name")
            if (/"test":true\},"features"/) {
                if (kind == "lib") name = "src"
                if (kind == "bin") name = "main"
                print package "/" name, folder, "test", text("executable")
            } else if (kind == "example" && /"crate_types":\["cdylib"\]/) {
                match($0, /"filenames":\["[^"]*"/)
                print package "/" name, folder, "library", substr($0, RSTART + 14, RLENGTH - 15)
            } else if (kind == "example" || kind == "bin") {
                print package "/" name, folder, kind, text("executable")
            }
        }' "$work/messages" >"$work/built"
}

# One program: its output whole when it has ended, and its time. Arguments: its name, its folder,
# the command.
one() {
    local name=$1 folder=$2 start=$EPOCHREALTIME out status
    shift 2
    out=$(mktemp -p "$work")
    # In the package's folder, as cargo runs tests.
    (cd "$folder" && timeout --foreground "$LIMIT" "$@") >"$out" 2>&1 </dev/null
    status=$?
    {
        flock 9
        printf '\n-- %s, %s s\n' "$name" "$(seconds "$start" | tr -d ' ')"
        cat "$out"
        if [ $status -eq 124 ]; then
            echo "test program $name FAILED: it still ran after $LIMIT s"
        elif [ $status -gt 128 ]; then
            echo "test program $name FAILED: ended by signal $((status - 128))"
        elif ! grep -q '^test result: ' "$out"; then
            echo "test program $name FAILED: ended with status $status and without a result"
        elif [ $status -ne 0 ] && ! grep -q '^test result: FAILED' "$out"; then
            echo "test program $name FAILED: ended with status $status after its result"
        fi
        if [ $status -ne 0 ] || grep -q '^test result: FAILED' "$out" ||
            ! grep -q '^test result: ' "$out"; then
            echo "FAILED $name" >>"$work/failed"
        fi
        echo "$(seconds "$start") s  $name" >>"$work/times"
    } 9>>"$work/lock"
    rm -f "$out"
}

# Those of $work/built, the slowest first.
run_programs() {
    awk -F'\t' -v slowest="${slowest[*]}" -v only="${only[*]-}" '
        BEGIN {
            n = split(slowest, list, " "); for (i = 1; i <= n; i++) place[list[i]] = i
            m = split(only, list, " "); for (i = 1; i <= m; i++) wanted[list[i]]
        }
        $3 == "test" && (!m || $1 in wanted) { print ($1 in place ? place[$1] : n + 1) "\t" $0 }
    ' "$work/built" | sort -s -n -k 1,1 >"$work/queue"
    local processors name folder file
    processors=$(nproc)
    while IFS=$'\t' read -r _ name folder _ file; do
        while [ "$(jobs -rp | wc -l)" -ge "$processors" ]; do wait -n; done
        one "$name" "$folder" "$file" &
    done <"$work/queue"
}

built() {
    awk -F'\t' -v name="$1" -v kind="$2" '$1 == name && $3 == kind { print $4 }' "$work/built"
}

run_everything() {
    build test --no-run "${selection[@]}" "$@"
    LANECRYPT_PLUGIN=$(built random/plugin library)
    export LANECRYPT_PLUGIN
    one doctests "$PWD" cargo test --doc --color never "${selection[@]}" "$@" &
    run_programs
    wait
    scripts/smoke.sh "$(built cli/lanecrypt bin)" || echo "FAILED scripts/smoke.sh" >>"$work/failed"
}

run_optimised() {
    local name
    # The examples and the program of `make test-ct` too, so that nothing is built for them later.
    build build --examples "${selection[@]}" "$@"
    cp "$work/built" "$work/examples"
    build test --no-run "${selection[@]}" "$@" $(printf '%s\n' "${only[@]##*/}" constant_time |
        sort -u | sed 's/^/--test=/')
    for name in "${only[@]}"; do
        if [ -z "$(built "$name" test)" ]; then echo "FAILED $name is not there"; fi
    done | tee -a "$work/failed"
    run_programs
    wait
    cp "$work/examples" "$work/built"
    examples
}

# Those of `lanecrypt`, with few and short messages; they check what they print.
examples() {
    local line
    for line in parallel_packets own_driver "quic 4 64" "srtp 4 160" "relay 1024"; do
        # shellcheck disable=SC2086
        set -- $line
        printf '\n-- example %s\n' "$line"
        if "$(built "lanecrypt/$1" example)" "${@:2}" </dev/null; then
            echo "example $1 ok"
        else
            echo "example $1 FAILED"
            echo "FAILED example $1" >>"$work/failed"
        fi
    done
}

# A pipe to tee, so that lines appear as they come.
{
    scripts/extras.sh missing test | while read -r name package _; do
        echo "SKIPPED $name: apt install $package"
    done
    if [ ${#only[@]} -eq 0 ]; then run_everything "$@"; else run_optimised "$@"; fi
} 2>&1 | tee -a "$log"

# What a process ends before it prints its result counts as one failure.
read -r passed failed ignored < <(awk '
    /^test result:/ { passed += $4; failed += $6; ignored += $8 }
    /^test program .* FAILED/ { failed++ }
    /^(smoke|example) .* ok$/ { passed++ }
    /^(smoke|example) .* FAILED/ { failed++ }
    END { print passed + 0, failed + 0, ignored + 0 }' "$log")
skips=$(grep '^SKIPPED ' "$log" | sort -u)
skipped=$(grep -c . <<<"$skips")

printf '\nSlowest:\n'
sort -rn "$work/times" | head -n 12
echo
if [ -n "$skips" ]; then echo "$skips"; fi
cat "$work/failed"
if ! grep -q '^MATRIX ' "$log"; then
    echo "FAILED no matrix of kernels and instruction sets was printed" | tee -a "$work/failed"
fi
echo "$passed passed, $failed failed, $skipped skipped, $ignored ignored"
echo
grep '^MATRIX ' "$log" | sed 's/^MATRIX //'
[ ! -s "$work/failed" ]
