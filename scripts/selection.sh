# What scripts build together, for `source`. Cargo unites the features of the packages that it is told,
# so that another selection builds the same crates once more.
# shellcheck shell=bash

# The engine's `legacy`, so that lanes of DES are tested through it whoever else turns that on.
united=(
    --features=lanecrypt-random/rand_core_06 --features=lanecrypt-random/rand_core_09
    --features=lanecrypt-random/getrandom_backend
    --features=lanecrypt-engine/legacy --features=lanecrypt-engine/model --features=lanecrypt-engine/openssl
    --features=lanecrypt-ciphers/rustcrypto --features=lanecrypt/rustcrypto
    --features=lanecrypt/rsa-generate
)

# All that is tested.
everything=(--workspace "${united[@]}")

# The libraries, for what is built by the release profile.
libraries=(
    -p lanecrypt-kernels -p lanecrypt-ciphers -p lanecrypt-random -p lanecrypt-engine -p lanecrypt
    "${united[@]}"
)
