#!/usr/bin/env bash
# Builds the peers that a system does not bring: a current OpenSSL, from the source that its crate
# carries, as target/peers/libcrypto-newest.so. `lanecrypt speed` finds it there. Beside it is
# libssl-newest.so, for the example `tls` of the provider.
#
# They are built with their default settings and with every cipher in one file (no modules), so that DES
# needs no second file either. The crate leaves out what links a shared library, so the
# static one is built and turned into one here. Takes some minutes; a build that is there is kept.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/peers"
peers=$(cd "$target/peers" && pwd)
library=$peers/libcrypto-newest.so
tls=$peers/libssl-newest.so

for tool in cargo perl gcc make; do
    command -v "$tool" >/dev/null || { echo "peers: needs $tool" >&2; exit 1; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A package of its own, so that the source is no dependency of anything here.
mkdir -p "$work/fetch/src"
: >"$work/fetch/src/lib.rs"
cat >"$work/fetch/Cargo.toml" <<'END'
[package]
name = "fetch"
version = "0.0.0"
edition = "2024"
[dependencies]
openssl-src = "400"
[workspace]
END
cargo fetch --quiet --manifest-path "$work/fetch/Cargo.toml"
# With dependencies; the crate itself is among those that `cargo vendor` copies.
cargo vendor --quiet --manifest-path "$work/fetch/Cargo.toml" "$work/vendor" >/dev/null
source=$work/vendor/openssl-src
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$source/Cargo.toml" | head -n 1)

if [ -f "$library" ] && [ -f "$tls" ] && [ "$(cat "$peers/libcrypto-newest.version" 2>/dev/null)" = "$version" ]; then
    echo "peers: $library is there ($version)"
    exit 0
fi

echo "peers: building OpenSSL (openssl-src $version)"
case $(uname -m) in
    x86_64) platform=linux-x86_64 ;;
    aarch64) platform=linux-aarch64 ;;
    *) platform= ;;
esac
mkdir "$work/build"
cd "$work/build"
log=$peers/openssl-build.log
# Its folder of settings is nowhere: what a system configures for its own OpenSSL is not for this one.
if ! {
    nice -n 15 perl "$source/openssl/Configure" ${platform:+"$platform"} no-shared no-module \
        no-tests no-docs no-apps enable-legacy -fPIC \
        --prefix=/nonexistent/lanecrypt --openssldir=/nonexistent/lanecrypt/ssl &&
        nice -n 15 make -s -j2 build_generated &&
        nice -n 15 make -s -j2 libcrypto.a libssl.a &&
        # Symbolic, as OpenSSL links its own: another libcrypto in the process must not mix with it.
        gcc -shared -o libcrypto.so -Wl,-Bsymbolic -Wl,-soname,libcrypto-newest.so \
            -Wl,--whole-archive libcrypto.a -Wl,--no-whole-archive -Wl,-z,defs -ldl -pthread &&
        gcc -shared -o libssl.so -Wl,-Bsymbolic -Wl,-soname,libssl-newest.so -Wl,-rpath,'$ORIGIN' \
            -Wl,--whole-archive libssl.a -Wl,--no-whole-archive -Wl,-z,defs ./libcrypto.so -pthread
} >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "peers: OpenSSL does not build; all of its output is in $log" >&2
    exit 1
fi

strip --strip-debug libcrypto.so libssl.so
mv libcrypto.so "$library.new"
mv libssl.so "$tls.new"
mv "$library.new" "$library"
mv "$tls.new" "$tls"
printf '%s' "$version" >"$peers/libcrypto-newest.version"
echo "peers: $library, $tls"
