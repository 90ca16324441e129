#!/usr/bin/env bash
# Statistical tests of what `lanecrypt random` writes: rngtest and part of dieharder.
#
#   statistics.sh [PROGRAM]      the program to test; default target/release/lanecrypt
#
# LANECRYPT_CORES names the cores to test, each as CORE or CORE:GENERATOR (default: the default core,
# AES-256-CTR, Salsa20 and HC-128). Tools that are not there are skipped with a line. Exit 1 when a
# stream fails.
set -euo pipefail

program=${1:-${CARGO_TARGET_DIR:-target}/release/lanecrypt}
cores=${LANECRYPT_CORES:-chacha20 aes-256-ctr salsa20 hc128:rekeying}
[ -x "$program" ] || { echo "statistics.sh: $program: no such program" >&2; exit 2; }
PATH=$PATH:/sbin:/usr/sbin
failed=0

# Random bytes of CORE or CORE:GENERATOR; further arguments go to the program. A warning that a core is not for
# secrets is no news here.
stream() {
    local core=${1%%:*} generator=erasing
    if [[ $1 == *:* ]]; then generator=${1#*:}; fi
    shift
    "$program" random "$@" --format raw --core "$core" --generator "$generator" 2>/dev/null
}

# rngtest looks at blocks of 20,000 bits. Of perfectly random ones about 0.08 % fail; in 1 GiB,
# 429,496 blocks, from 0.060 to 0.100 % is 4.6 standard deviations to either side.
rngtest_core() {
    local core=$1 report good bad
    # Exit status 1 only says that some blocks failed, as they must.
    report=$(stream "$core" 1GiB | rngtest 2>&1 || true)
    good=$(sed -n 's/^rngtest: FIPS 140-2 successes: //p' <<<"$report")
    bad=$(sed -n 's/^rngtest: FIPS 140-2 failures: //p' <<<"$report")
    if [ -z "$good" ] || [ -z "$bad" ] || [ $((good + bad)) -lt 429000 ]; then
        echo "rngtest $core: no result"
        return 1
    fi
    awk -v core="$core" -v good="$good" -v bad="$bad" 'BEGIN {
        share = 100 * bad / (good + bad)
        fits = share >= 0.060 && share <= 0.100
        printf "rngtest %s: %d of %d blocks failed, %.4f %%: %s\n",
            core, bad, good + bad, share, fits ? "ok" : "FAILED"
        exit !fits
    }'
}

# Tests that the stream is long and quick enough for: birthdays, ranks, bit streams, counts of ones,
# spheres, squeeze, runs, craps, and the STS and DAB families. Each run is a fresh stream.
dieharder_tests="0 2 3 4 8 9 10 11 12 13 15 16 100 101 102 204 206 209"

# One test of dieharder on a fresh stream; its results are added to FILE. After a weak result, of which
# perfect streams have one in a hundred, dieharder goes on until it is clear (-Y 1).
dieharder_test() {
    local core=$1 number=$2 file=$3
    # The program ends quietly when dieharder has read enough.
    { stream "$core" || true; } |
        dieharder -g 200 -d "$number" -Y 1 | grep -E 'PASSED|WEAK|FAILED' >>"$file"
    echo "dieharder $core: test $number done"
}

# What stays weak in two of three streams is no chance.
dieharder_verdict() {
    local core=$1 file=$2
    awk -F'|' -v core="$core" '
        { test = $1 "|" $2; gsub(/ /, "", test); runs++ }
        /FAILED/ { print "dieharder " core ": " $0; bad = 1 }
        /WEAK/ && ++weak[test] == 2 { print "dieharder " core ": " test " is weak twice"; bad = 1 }
        END {
            if (!runs) { print "dieharder " core ": no result"; exit 1 }
            print "dieharder " core ": " runs " results: " (bad ? "FAILED" : "ok")
            exit bad
        }' "$file"
}

if command -v rngtest >/dev/null; then
    for core in $cores; do rngtest_core "$core" || failed=1; done
else
    echo "SKIPPED rngtest: apt install rng-tools5"
fi
if command -v dieharder >/dev/null; then
    results=$(mktemp -d)
    trap 'rm -rf "$results"' EXIT
    export program
    export -f stream dieharder_test
    # The first two cores have three streams, the others one, in which only a failure counts.
    count=0
    for core in $cores; do
        count=$((count + 1))
        for _ in $(seq $((count <= 2 ? 3 : 1))); do
            for number in $dieharder_tests; do echo "$core $number $results/$core"; done
        done
    done | xargs -P "$(nproc)" -L 1 bash -o pipefail -c 'dieharder_test "$@"' dieharder_test || failed=1
    for core in $cores; do
        touch "$results/$core"
        dieharder_verdict "$core" "$results/$core" || failed=1
    done
else
    echo "SKIPPED dieharder: apt install dieharder"
fi
exit $failed
