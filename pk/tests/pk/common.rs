//! What the tests share.

use lanecrypt_pk::{Backend, Isa, Level, Options};

/// All ways to serve requests: lanes at each level whose kernels differ, and every other backend.
pub(crate) fn all_options() -> impl Iterator<Item = Options> {
    let in_lanes = levels().map(|isa| Options::new().with_isa(isa).with_backend(Backend::Lanes));
    let others = Backend::ALL.iter().filter(|&&backend| backend != Backend::Lanes);
    in_lanes.chain(others.map(|&backend| Options::new().with_backend(backend)))
}

/// The levels whose kernels differ.
pub(crate) fn levels() -> impl Iterator<Item = Isa> {
    let highest = Isa::of_processor();
    [Level::Portable, Level::Avx2, Level::Avx512]
        .into_iter()
        .filter(move |&level| highest.has(level))
        .map(move |level| highest.at_most(level))
}

/// The bytes that these digits stand for.
pub(crate) fn hex<const N: usize>(text: &str) -> [u8; N] {
    lanecrypt_testing::numbers::hex(text).try_into().expect("so many digits")
}
