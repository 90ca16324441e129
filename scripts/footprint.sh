#!/usr/bin/env bash
# What a minimal program gains in size by the per-thread generator, and by a cipher that seals and
# opens: machine code (.text), constants (.rodata) and the rest of the file that is loaded
# (unwinding tables, relocations), each against the same program without it. The bar is 20 kB of
# machine code for ChaCha20, by name, with the portable kernel and those of one instruction set. The
# default holds two cores and has no bar. That of a cipher with one algorithm is 150 kB of machine
# code, with all kernels.
#
#   footprint.sh        all cores, all instruction sets
#   footprint.sh bar    one program that has a bar
set -euo pipefail
cd "$(dirname "$0")/.."

export CARGO_TARGET_DIR=$PWD/target/footprint
# The dependencies' versions are those of the workspace.
cp Cargo.lock scripts/footprint/Cargo.lock

bar=20000
bar_of_ciphers=150000
cores=(default chacha20 chacha12 chacha8 aes-256-ctr)
ciphers=(aes-256-gcm chacha20-poly1305 cipher)
sets=("" isa-ssse3 isa-avx2 isa-avx512 isa-ssse3,isa-avx2,isa-avx512)
if [ "${1-}" = bar ]; then
    cores=(chacha20)
    sets=(isa-avx2)
fi

build() {
    cargo build --quiet --release --manifest-path scripts/footprint/Cargo.toml --features "$1" \
        --bin nothing "${cores[@]/#/--bin=}"
}

# Bytes of .text, of .rodata and of everything else that is loaded.
sections() {
    size -A -d "$CARGO_TARGET_DIR/release/$1" | awk '
        $1 == ".text" { text += $2; next }
        $1 == ".rodata" { constants += $2; next }
        # Sections without an address are not loaded; .bss and .tbss are not in the file.
        $3 > 0 && $1 !~ /^\.t?bss$/ { rest += $2 }
        END { print text, constants, rest }'
}

# Symbols of ours and what they take.
symbols() {
    nm -C -S --size-sort -t d "$CARGO_TARGET_DIR/release/$1" | awk '
        $3 ~ /^[tT]$/ && /lanecrypt/ { size = $2; sub(/^[^ ]* [^ ]* [^ ]* /, ""); print size + 0, $0 }'
}

row='%-17s %-27s %9s %9s %9s %s\n'
echo "Bytes that a program gains by lanecrypt_random, default release profile, no LTO"
# shellcheck disable=SC2059
printf "$row" core "kernels" code constants rest ""
largest=
for features in "${sets[@]}"; do
    build "$features"
    read -r text constants rest < <(sections nothing)
    for core in "${cores[@]}"; do
        read -r t c r < <(sections "$core")
        note=
        if [ "$core" = chacha20 ] && [[ $features == isa-* && $features != *,* ]]; then
            note="of $bar"
            if [ $((t - text)) -gt $bar ]; then note="over the bar of $bar"; fi
        fi
        # shellcheck disable=SC2059
        printf "$row" "$core" "portable${features:+,${features//isa-/}}" \
            $((t - text)) $((c - constants)) $((r - rest)) "$note"
    done
    if [ "$features" = isa-avx512 ]; then largest=$(symbols chacha20 | sort -rn | head -n 20); fi
done

if [ "${1-}" = bar ]; then exit; fi

echo
echo "The same by lanecrypt_ciphers: a type with one algorithm, or any by its name"
cargo build --quiet --release \
    --manifest-path scripts/footprint/Cargo.toml --features "ciphers,$features" \
    --bin nothing "${ciphers[@]/#/--bin=}"
read -r text constants rest < <(sections nothing)
for cipher in "${ciphers[@]}"; do
    read -r t c r < <(sections "$cipher")
    note=
    if [ "$cipher" != cipher ]; then
        note="of $bar_of_ciphers"
        if [ $((t - text)) -gt $bar_of_ciphers ]; then note="over the bar of $bar_of_ciphers"; fi
    fi
    # shellcheck disable=SC2059
    printf "$row" "$cipher" "portable,${features//isa-/}" \
        $((t - text)) $((c - constants)) $((r - rest)) "$note"
done

echo
echo "AES-NI is always in where AES is. The largest functions of ours in chacha20,"
echo "portable and AVX-512 (what is inlined counts where it stands):"
echo "$largest"
