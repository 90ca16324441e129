#!/usr/bin/env bash
# Builds the C library of surfaces/c and installs it: header, shared and static library, pkg-config
# file, manual pages. Linux.
#
#   c-install.sh                            only builds
#   c-install.sh PREFIX [ROOT] [ARGUMENTS]  installs; ROOT stands for / where a package is made
#
# PREFIX begins with a slash, or is empty for the root itself. More arguments go to cargo. Where
# there is no cargo, what was built before is installed: `make c && sudo make install`.
# For another processor: CARGO_BUILD_TARGET=aarch64-unknown-linux-gnu CC=aarch64-linux-gnu-gcc.
# For packages: with LANECRYPT_PROFILE, the static library is one that cargo has built by this profile,
# and the shared one keeps its line numbers. LDFLAGS has more for the linker.
set -euo pipefail
cd "$(dirname "$0")/.."

installs=$#
prefix=${1:-}
root=${2:-}
# Slashes at the end are left out.
shopt -s extglob
prefix=${prefix%%+(/)}
case $prefix in
'' | /*) ;;
*)
    echo "$0: PREFIX must begin with a slash: $prefix" >&2
    exit 2
    ;;
esac
# These would have another meaning in lanecrypt.pc, where spaces are the only ones that are quoted.
case $prefix in
*['"\'"'"'$#`'[:cntrl:]]*)
    echo "$0: PREFIX must have no quotes, backslashes, \$, # or control characters: $prefix" >&2
    exit 2
    ;;
esac
shift $(($# > 2 ? 2 : $#))
target=${CARGO_TARGET_DIR:-target}
processor=${CARGO_BUILD_TARGET:+/$CARGO_BUILD_TARGET}
built=$target$processor/c-build
name=liblanecrypt
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
# Programs find the library by this name. It changes when they would have to be compiled again.
soname=$name.so.0
cc=${CC:-cc}
profile=${LANECRYPT_PROFILE:-release}
strip=-Wl,--strip-debug
[ -z "${LANECRYPT_PROFILE-}" ] || strip=

if command -v cargo >/dev/null; then
    mkdir -p "$built"
    [ -n "${LANECRYPT_PROFILE-}" ] || cargo build --release --locked -p lanecrypt-c --lib "$@"
    # What Rust's libraries need of the system. Compilers link libc and libgcc by themselves, the
    # latter in the form that fits: with -static there is no -lgcc_s.
    rustc ${CARGO_BUILD_TARGET:+--target "$CARGO_BUILD_TARGET"} --print native-static-libs \
        --crate-type staticlib --crate-name none -o "$built/none.a" - </dev/null 2>&1 |
        sed -n 's/.*native-static-libs: //p' | tr ' ' '\n' |
        { grep -v -x -e -lc -e -lgcc_s || true; } | paste -s -d ' ' >"$built/private"
    rm -f "$built/none.a"
    cp "$target$processor/$profile/liblanecrypt_c.a" "$built/$name.a"
    # Cargo gives the symbols of a shared library no versions, so it is linked here. It is never
    # unloaded: threads that drew random numbers run its code when they end.
    # shellcheck disable=SC2046,SC2086
    "$cc" -shared -o "$built/$name.so.$version" \
        -Wl,-soname,"$soname" -Wl,--version-script=surfaces/c/lanecrypt.map \
        -Wl,--whole-archive "$built/$name.a" -Wl,--no-whole-archive -Wl,--gc-sections \
        -Wl,-O1 $strip -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,-z,nodelete \
        -Wl,--as-needed $(cat "$built/private") ${LDFLAGS-}
fi
[ -e "$built/$name.so.$version" ] ||
    { echo "$0: nothing is built: run \`make c\` as a user who has cargo" >&2; exit 1; }
[ "$installs" -ne 0 ] || { echo "built in $built"; exit 0; }

to=$root$prefix
install -d "$to/include" "$to/lib/pkgconfig"
install -m 644 surfaces/c/include/lanecrypt.h "$to/include"
install -m 644 "$built/$name.a" "$to/lib"
install -m 755 "$built/$name.so.$version" "$to/lib"
ln -sf "$name.so.$version" "$to/lib/$soname"
ln -sf "$soname" "$to/lib/$name.so"
# With a backslash before what means something to sed.
replacement=$(printf '%s' "$prefix" | sed 's/[&|\\]/\\&/g')
sed "s|@PREFIX@|$replacement|; s|@VERSION@|$version|; s|@PRIVATE@|$(cat "$built/private")|" \
    surfaces/c/lanecrypt.pc.in >"$to/lib/pkgconfig/lanecrypt.pc"
chmod 644 "$to/lib/pkgconfig/lanecrypt.pc"
install -d "$to/share/man/man3"
awk -v folder="$to/share/man/man3" -v version="$version" -f surfaces/c/man.awk \
    surfaces/c/include/lanecrypt.h
chmod 644 "$to/share/man/man3"/{lanecrypt,lc_*}.3
echo "installed in $to"
