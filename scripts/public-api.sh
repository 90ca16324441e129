#!/usr/bin/env bash
# Compares the public interface of the crate lanecrypt with lanecrypt/api.txt, so that a change of it
# is seen in review; `public-api.sh write` writes the file. The items come from the documentation of
# all features, whose form differs between versions of Rust: others than that of the file skip.
set -euo pipefail
cd "$(dirname "$0")/.."

file=lanecrypt/api.txt
version=$(rustc --version | cut -d ' ' -f 1,2)
if [ "${1-}" != write ] && [ "$(head -n 1 $file)" != "# $version" ]; then
    echo "SKIPPED public-api: rustup toolchain install $(sed -n '1s/# rustc //p' $file)"
    exit 0
fi
cargo doc --quiet --locked -p lanecrypt --no-deps --all-features

# Declarations, methods, fields and variants, and which traits are implemented; not what the compiler
# and other crates implement by themselves.
items() {
    local root=${CARGO_TARGET_DIR:-target}/doc/lanecrypt page
    # Two are other crates' work.
    find "$root" -name '*.html' ! -name all.html ! -name index.html ! -name 'struct.InOutBuf*' \
        ! -path '*/rand_core/*' |
        LC_ALL=C sort |
        while read -r page; do
            path=${page#"$root/"}
            awk -v path="${path%.html}" '
                function text(html) {
                    gsub(/<[^>]*>/, "", html)
                    gsub(/&lt;/, "<", html); gsub(/&gt;/, ">", html); gsub(/&quot;/, "\"", html)
                    gsub(/&#39;/, "\047", html); gsub(/&nbsp;|&#160;/, " ", html)
                    gsub(/ ?ⓘ/, "", html); gsub(/&amp;/, "\\&", html); gsub(/[[:space:]]+/, " ", html)
                    return html
                }
                { page = page $0 " " }
                END {
                    sub(/<h2 id="(synthetic|blanket)-implementations".*/, "", page)
                    if (match(page, /<h2 id="deref-methods.*<h2 id="trait-implementations"/))
                        page = substr(page, 1, RSTART - 1) substr(page, RSTART + RLENGTH)
                    while (match(page, /<pre class="rust item-decl">|class="code-header">|class="(structfield|variant)[^>]*>/)) {
                        start = substr(page, RSTART, RLENGTH)
                        page = substr(page, RSTART + RLENGTH)
                        end = start ~ /item-decl/ ? "</pre>" : start ~ /code-header/ ? "</h[34]>" : "</(span|section)>"
                        match(page, end)
                        line = text(substr(page, 1, RSTART - 1))
                        page = substr(page, RSTART + RLENGTH)
                        sub(/^ /, "", line); sub(/^§/, "", line); sub(/ $/, "", line)
                        sub(/Show [0-9]+ (variants|fields|methods) /, "", line)
                        # Methods of a trait stand at the trait, not at all that implement it.
                        if (start ~ /code-header/ && path !~ /(^|\/)trait\./ && line !~ /^(pub|impl) /) continue
                        if (line != "" && line !~ /^(Variants|Fields)( |$)/) print path ": " line
                    }
                }' "$page"
        done | LC_ALL=C sort -u
}

if [ "${1-}" = write ]; then
    { echo "# $version"; items; } >$file
    exit
fi
if ! diff -u $file <({ echo "# $version"; items; }); then
    echo "FAILED public-api: the interface differs from $file; if it is meant: $0 write" >&2
    exit 1
fi
echo "public-api: $(($(wc -l <$file) - 1)) items"
