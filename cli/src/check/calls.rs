//! The successive calls that a request's data are passed in.

use super::request::Refusal;

/// Refuses calls that do not take `len` bytes of data; none stand for one call.
pub(crate) fn check(chunks: &[usize], len: usize) -> Result<(), Refusal> {
    if chunks.is_empty() || sum(chunks) == Some(len) {
        return Ok(());
    }
    Err(Refusal(String::from("chunks: their sum is not the length of the data")))
}

/// The sum of the sizes; none if no data can be so long.
pub(crate) fn sum(chunks: &[usize]) -> Option<usize> {
    chunks.iter().try_fold(0_usize, |sum, &chunk| sum.checked_add(chunk))
}

/// The sizes of the calls that take all `len` bytes of the data.
pub(crate) fn sizes(chunks: &[usize], len: usize) -> impl Iterator<Item = usize> {
    chunks.is_empty().then_some(len).into_iter().chain(chunks.iter().copied())
}
