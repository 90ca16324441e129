//! What is built together, and which tests run where. Cargo unites the features of the packages
//! that it is given, so that another selection builds the same crates once more.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Features that no package of the workspace asks for. The engine's `legacy` is here so that lanes
/// of DES are tested through it.
const UNITED: [&str; 11] = [
    "--features=lanecrypt-random/rand_core_06",
    "--features=lanecrypt-random/rand_core_09",
    "--features=lanecrypt-random/getrandom_backend",
    "--features=lanecrypt-engine/legacy",
    "--features=lanecrypt-engine/openssl",
    "--features=lanecrypt-ciphers/rustcrypto",
    "--features=lanecrypt/accelerators",
    "--features=lanecrypt/file",
    "--features=lanecrypt/pk",
    "--features=lanecrypt/rustcrypto",
    "--features=lanecrypt/rsa-generate",
];

/// Cargo's arguments for all that is tested.
pub(crate) fn everything() -> Vec<&'static str> {
    [&["--workspace"][..], &UNITED].concat()
}

/// Tests of the instructions that the compiler makes: what they leave on the stack, and a signal
/// between any two of them. Overflow checks and debug assertions are other instructions.
pub(crate) const OF_INSTRUCTIONS: [&str; 6] = [
    "ciphers/isolated residue::",
    "engine/isolated stack::",
    "kernels/stack",
    "random/random bytes::",
    "random/random frames::",
    "random/random signals::",
];

/// Examples of `lanecrypt` with few and short messages; they check what they print.
pub(crate) const EXAMPLES: [&str; 5] =
    ["parallel_packets", "own_driver", "quic 4 64", "srtp 4 160", "relay 1024"];

/// Tests whose outcome may depend on the instruction set that is detected: dispatch, back ends,
/// allocations, lanes. Those of kernels, vectors and residue try every level themselves, and so do
/// those of generators that step through instructions.
pub(crate) const BY_LEVEL: [&str; 20] = [
    "accelerators/",
    "c/",
    "ciphers/ciphers aead",
    "ciphers/isolated forks",
    "cli/program check::",
    "columns/",
    "device/",
    "engine/engine",
    "engine/isolated allocations",
    "engine/isolated queue_allocations",
    "engine/isolated rsa_memory",
    "lanecrypt/",
    "openssl/",
    "random/random fork::",
    "random/random range::",
    "random/random shared::",
    "random/random threads::",
    "rsa/src",
    "rustls/",
    "stream/",
];

/// The levels at which they run, beside that of the processor: without AVX-512 and VAES, and
/// without any kernel for a processor.
pub(crate) const LOWER_LEVELS: [&str; 2] = ["avx2", "portable"];

/// The workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace has members")
}

/// Cargo, without the variables by which `cargo run` tells this program of its package: build
/// scripts that read variables of these names would run once more.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new("cargo");
    let package =
        |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(package) {
            command.env_remove(name);
        }
    }
    command
}

/// The folder of build results.
pub(crate) fn target() -> PathBuf {
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}
