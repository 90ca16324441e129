#!/usr/bin/env bash
# Tests the C library as users get it: installed in a folder, and linked by pkg-config, with every
# compiler that is here, as C99 and as C++17. One line for each test; ends with the counts. Arguments
# go to cargo.
set -uo pipefail
cd "$(dirname "$0")/.."
read -ra everything <<<"$(cargo xtask selection)"

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target" && prefix=$(cd "$target" && pwd)/c
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log
rm -rf "$prefix"

# With what `make test` builds, so that nothing is built twice. The interface is the same.
if ! scripts/c-install.sh "$prefix" "" --example daemon --bin lanecrypt "${everything[@]}" "$@"; then
    echo "FAILED c: the library cannot be built"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
export LD_LIBRARY_PATH=$prefix/lib
shared=$prefix/lib/liblanecrypt.so.0

# Runs a command. Its tests are counted by their lines; a command without such lines is one test.
run() {
    local name=$1 out=$work/$1.out status
    shift
    "$@" >"$out" 2>&1 </dev/null
    status=$?
    if [ $status -ne 0 ] || ! grep -q '^test .* ok$' "$out"; then
        echo "test $name $([ $status -eq 0 ] && echo ok || echo "FAILED with status $status")" >>"$out"
    fi
    printf '\n-- %s\n' "$name"
    # Valgrind does not know a system call that has a substitute, and says so each time.
    grep -v -E 'unhandled amd64|may be able to write|_MISSING_SYSCALL|Nevertheless we|valgrind.org' "$out"
    sed -n "s|^test |test $name: |p" "$out" >>"$log"
}

skip() {
    echo "SKIPPED $1: $2" | tee -a "$log"
}

warnings=(-Wall -Wextra -pedantic -Werror -Wconversion)
arguments=(rsa/tests/key.pem surfaces/c/tests/public.pem surfaces/c/tests/message.sig)
vectors=(
    vectors/{aegis-128l,aegis-256,aes,chacha,chacha20poly1305,chained,gcm,gcm_siv,null,salsa,serpent,siv,xts}.jsonl
)

files=(stream/tests/files/*.lanecrypt)

# Runs the test of files: it reads those of Rust, and writes some to a folder of this name.
with_files() {
    mkdir -p "$work/files-$1" && "${@:2}" "$work/files-$1" "${files[@]}"
}

# Builds a program of tests or an example. Arguments: the source, the program, the compiler.
build() {
    local source=$1 program=$2
    shift 2
    # shellcheck disable=SC2046
    "$@" -O1 -g "${warnings[@]}" "$source" -o "$program" -pthread \
        $(pkg-config --cflags --libs ${static-} lanecrypt)
}

everything_with() {
    local name=$1 source program
    shift
    for source in tests/{calls,vectors,file,device}.c examples/{fill,seal,relay}.c; do
        program=$(basename "$source" .c)-$name
        run "build-$program" build "surfaces/c/$source" "$work/$program" "$@"
    done
    run "calls-$name" "$work/calls-$name" "${arguments[@]}"
    run "vectors-$name" "$work/vectors-$name" "${vectors[@]}"
    run "file-$name" with_files "$name" "$work/file-$name"
}

everything_with gcc gcc -std=c99
# What the library does beside its buffers is seen by Valgrind.
if command -v valgrind >/dev/null; then
    # Callers enough to reach those that the suppressions name.
    memcheck=(valgrind -q --num-callers=40 --error-exitcode=9 --leak-check=full
        --show-leak-kinds=definite,indirect --suppressions=surfaces/c/tests/valgrind.supp)
    # What is suppressed hides no mistake of a caller.
    beyond() {
        local algorithm
        build surfaces/c/tests/beyond.c "$work/beyond" gcc -std=c99 || return 1
        for algorithm in aes-128-gcm chacha20-poly1305 aes-128-cbc+hmac-sha256 serpent-256-ctr file; do
            "${memcheck[@]}" "$work/beyond" $algorithm
            [ $? -eq 9 ] || return 1
        done
    }
    # As long as everything else, and so beside it.
    {
        run calls-valgrind "${memcheck[@]}" "$work/calls-gcc" "${arguments[@]}"
        run vectors-valgrind "${memcheck[@]}" "$work/vectors-gcc" "${vectors[@]}"
        run file-valgrind with_files valgrind "${memcheck[@]}" "$work/file-gcc"
        run beyond-valgrind beyond
    } >"$work/valgrind" &
else
    skip valgrind "apt install valgrind"
fi
everything_with g++ g++ -x c++ -std=c++17
if command -v clang >/dev/null; then
    everything_with clang clang -std=c99
    everything_with clang++ clang++ -x c++ -std=c++17
else
    skip clang "apt install clang"
fi

# The header alone, and in the oldest C++ that it is for.
run header-c++11 g++ -x c++ -std=c++11 "${warnings[@]}" -fsyntax-only surfaces/c/include/lanecrypt.h

# What C does beside its buffers is seen by the sanitizer.
for source in calls vectors file; do
    run "build-$source-asan" build surfaces/c/tests/$source.c "$work/$source-asan" gcc -std=c99 \
        -fsanitize=address,undefined -fno-sanitize-recover=all
done
run calls-asan "$work/calls-asan" "${arguments[@]}"
run vectors-asan "$work/vectors-asan" "${vectors[@]}"
run file-asan with_files asan "$work/file-asan"

# With a daemon of its own, which ends when the test closes its pipe, or ends.
device() {
    mkfifo "$work/pipe" || return 1
    "$target/release/examples/daemon" "$work/socket" <"$work/pipe" &
    local daemon=$! status
    timeout 120 "$1" "$work/socket" rsa/tests/key.pem "$work/pipe"
    status=$?
    wait $daemon
    return $status
}
run device-gcc device "$work/device-gcc"

# The static library, without the shared one.
static() {
    # shellcheck disable=SC2046
    gcc -std=c99 -O1 "${warnings[@]}" surfaces/c/tests/calls.c -o "$work/calls-static" -pthread \
        $(pkg-config --cflags lanecrypt) "$prefix/lib/liblanecrypt.a" \
        $(pkg-config --static --libs-only-l lanecrypt | sed 's/-llanecrypt//') &&
        ! ldd "$work/calls-static" | grep lanecrypt
}
run build-calls-static static
run calls-static "$work/calls-static" "${arguments[@]}"

# Nothing is shared, not even the C library.
all_static() {
    static=--static build surfaces/c/tests/calls.c "$work/calls-all-static" gcc -std=c99 -static &&
        ! readelf -d "$work/calls-all-static" | grep NEEDED
}
run build-calls-all-static all_static
run calls-all-static "$work/calls-all-static" "${arguments[@]}"

# Exactly the functions of the header, with a version; nothing of Rust's. What programs rely on is as it was.
run abi cargo xtask abi "$shared"

loading() {
    readelf -d "$shared" >"$work/dynamic" &&
        grep -q 'SONAME.*\[liblanecrypt.so.0\]' "$work/dynamic" &&
        grep -q 'FLAGS_1.*NOW.*NODELETE' "$work/dynamic" &&
        ! grep -e RPATH -e RUNPATH -e TEXTREL "$work/dynamic" &&
        readelf -W -l "$shared" | grep 'GNU_STACK' | grep -q 'RW ' &&
        ! readelf -d "$shared" | grep NEEDED | grep -v -e libc.so -e libgcc_s.so -e ld-linux
}
run loading loading

# Runs a command that finds no cargo, so that what is built is installed.
without_cargo() {
    PATH=$(printf '%s' "$PATH" | tr ':' '\n' | grep -v cargo | paste -sd :) "$@"
}

# A package is made below another root, and knows only its own prefix.
packaged() {
    local files="include/lanecrypt.h lib/liblanecrypt.a lib/liblanecrypt.so lib/liblanecrypt.so.0"
    without_cargo scripts/c-install.sh /opt/lane "$work/root" || return 1
    for file in $files lib/pkgconfig/lanecrypt.pc; do
        [ -e "$work/root/opt/lane/$file" ] || { echo "$file is missing"; return 1; }
    done
    [ "$(PKG_CONFIG_PATH=$work/root/opt/lane/lib/pkgconfig pkg-config --cflags lanecrypt |
        tr -d ' ')" = -I/opt/lane/include ]
}
run packaged packaged

# Each function has a page in the manual that can be formatted.
manual() {
    local pages=$work/root/opt/lane/share/man/man3
    diff <(nm -D --defined-only "$shared" | sed -n 's/.* T \(lc_[a-z0-9_]*\).*/\1/p' | sort -u) \
        <(cd "$pages" && ls lc_*.3 | sed 's/\.3$//' | sort) || return 1
    ! command -v groff >/dev/null || ! groff -man -ww -Tutf8 "$pages"/*.3 2>&1 >/dev/null | grep .
}
run manual manual

# Spaces, and what means something to sed.
spaces() {
    local place="$work/a b|c&d"
    (umask 077 && without_cargo make install PREFIX="$place") || return 1
    eval "gcc -std=c99 -x c - -o '$work/spaces' $(PKG_CONFIG_PATH=$place/lib/pkgconfig \
        pkg-config --cflags --libs lanecrypt)" <<<'#include <lanecrypt.h>
        int main(void) { return lc_random_below(1) != 0; }' &&
        LD_LIBRARY_PATH=$place/lib "$work/spaces" &&
        ! find "$place" -type f ! -perm -044 | grep . &&
        ! find "$place" -type d ! -perm -055 | grep .
}
run spaces spaces

# The root itself; never where the caller happens to be, or where pkg-config would not find it.
places() {
    local place
    without_cargo make install PREFIX= DESTDIR="$work/empty" &&
        [ -e "$work/empty/lib/liblanecrypt.so" ] &&
        grep -x 'prefix=' "$work/empty/lib/pkgconfig/lanecrypt.pc" || return 1
    for place in here ./here ../here '/a"b' "/a'b" '/a\b' '/a#b' '/a$b' $'/a\nb'; do
        ! without_cargo scripts/c-install.sh "$place" "$work/nowhere" || return 1
    done
    [ ! -e "$work/nowhere" ]
}
run places places

# A program of such lines.
main_of() {
    printf '#include <lanecrypt.h>\n#include <stdio.h>\nint main(void) {\n%s\nreturn error;\n}\n' "$1"
}

# What stands at the beginning of the header.
synopsis() {
    main_of "$(sed -n '1,/Compile with/s/^ \*     //p' surfaces/c/include/lanecrypt.h)" >"$work/synopsis.c"
    build "$work/synopsis.c" "$work/synopsis" gcc -std=c99 && "$work/synopsis" &&
        build "$work/synopsis.c" "$work/synopsis" g++ -x c++ -std=c++11 && "$work/synopsis"
}
run synopsis synopsis

# The first, second or third piece of C in the README.
piece_of_readme() {
    awk -v wanted="$1" '/^```/ { is_in = $0 == "```c" && ++found == wanted; next } is_in' \
        surfaces/c/README.md
}

readme() {
    piece_of_readme 1 >"$work/hello.c" && piece_of_readme 3 >"$work/verify.c" &&
        build "$work/verify.c" "$work/verify.so" gcc -std=c99 -shared -fPIC &&
        build "$work/hello.c" "$work/hello" gcc -std=c99 && [ "$("$work/hello")" = 'Hello, world!' ]
}
run readme readme

# It encrypts with a key of zeros.
readme_file() {
    main_of "unsigned char key[32] = {0}, piece[1000]; $(piece_of_readme 2)" >"$work/encrypt.c"
    build "$work/encrypt.c" "$work/encrypt" gcc -std=c99 &&
        head -c 32 /dev/zero >"$work/zeros" && "$work/fill-gcc" 200000 >"$work/text" &&
        "$work/encrypt" <"$work/text" | "$work/seal-gcc" -d "$work/zeros" | cmp - "$work/text"
}
run readme-file readme_file

sealed_files() {
    local bytes
    "$work/fill-gcc" 32 >"$work/key" || return 1
    for bytes in 0 1 65535 65536 65537 200000; do
        "$work/fill-gcc" $bytes >"$work/text" && [ "$(wc -c <"$work/text")" -eq $bytes ] &&
            "$work/seal-gcc" "$work/key" <"$work/text" >"$work/sealed" &&
            "$work/seal-gcc" -d "$work/key" <"$work/sealed" | cmp - "$work/text" || return 1
    done
    # The end cut off, at a chunk and elsewhere; a byte changed; another key.
    ! head -c 65632 "$work/sealed" | "$work/seal-gcc" -d "$work/key" >"$work/opened" &&
        ! head -c 1000 "$work/sealed" | "$work/seal-gcc" -d "$work/key" >"$work/opened" &&
        [ ! -s "$work/opened" ] &&
        ! tr '\000' '\001' <"$work/sealed" | "$work/seal-gcc" -d "$work/key" >"$work/opened" &&
        "$work/fill-gcc" 32 >"$work/key" &&
        ! "$work/seal-gcc" -d "$work/key" <"$work/sealed" >"$work/opened" &&
        [ ! -s "$work/opened" ]
}
run example-seal sealed_files

# More bytes than the memory that the programs may have, which is mostly libraries.
long_files() (
    ulimit -v 40000 &&
        head -c 200000000 /dev/zero | "$work/seal-gcc" "$work/key" |
        "$work/seal-gcc" -d "$work/key" | cmp - <(head -c 200000000 /dev/zero)
)
run example-seal-long long_files

# The program reads what C has written, and C what the program writes.
files_of_program() {
    local program=$target/release/lanecrypt folder=$work/files-gcc name algorithm
    for name in {key,passphrase}-{0,1,2}; do
        "$program" decrypt "--${name%-*}-fd" 3 <"$folder/$name.lanecrypt" 3<"$folder/${name%-*}" |
            cmp - "$folder/text" || return 1
    done
    for algorithm in aes-256-gcm chacha20-poly1305 xchacha20-poly1305; do
        "$program" encrypt --algorithm $algorithm --key-fd 3 <"$folder/text" 3<"$folder/key" |
            "$work/seal-gcc" -d "$folder/key" | cmp - "$folder/text" || return 1
    done
    # The text and the passphrase that the test expects; the cost is the usual one.
    local files=("${files[@]}" "$work/usual.lanecrypt")
    printf 'A file of lanecrypt, format 2.' |
        "$program" encrypt --passphrase-fd 3 3<"$folder/passphrase" >"$work/usual.lanecrypt" &&
        with_files program "$work/file-gcc"
}
run files-of-program files_of_program

filled() {
    "$work/fill-gcc" 100000 >"$work/one" && "$work/fill-gcc" 100000 >"$work/two" &&
        ! cmp -s "$work/one" "$work/two" && [ "$("$work/fill-gcc" 5 | wc -c)" -eq 5 ] &&
        [ "$("$work/fill-gcc" | head -c 1000000 | wc -c)" -eq 1000000 ] &&
        ! "$work/fill-gcc" much
}
run example-fill filled
for algorithm in chacha20-poly1305 aes-128-gcm aes-256-gcm-siv; do
    run "example-relay-$algorithm" "$work/relay-gcc" 33 60 $algorithm
done

wait
if [ -e "$work/valgrind" ]; then cat "$work/valgrind"; fi
passed=$(grep -c '^test .* ok$' "$log")
failed=$(grep -c '^test .* FAILED' "$log")
skipped=$(grep -c '^SKIPPED ' "$log")
echo
grep -e '^SKIPPED ' -e ' FAILED' "$log"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
