//! What the tests share.

use lanecrypt_pk::{Backend, Options};
use lanecrypt_testing::levels;

/// All ways to serve requests: every backend, with the kernels of every level.
pub(crate) fn all_options() -> impl Iterator<Item = Options> {
    levels().flat_map(|isa| {
        Backend::ALL.iter().map(move |&backend| Options::new().with_isa(isa).with_backend(backend))
    })
}

/// The bytes that these digits stand for.
pub(crate) fn hex<const N: usize>(text: &str) -> [u8; N] {
    lanecrypt_testing::numbers::hex(text).try_into().expect("so many digits")
}
