//! The sizes of the successive calls that take a request's data.

use super::refusal::Refusal;

/// Refuses sizes that do not add up to `len` bytes. An empty list stands for one call.
pub(crate) fn check(chunks: &[usize], len: usize) -> Result<(), Refusal> {
    if chunks.is_empty() || sum(chunks) == Some(len) {
        return Ok(());
    }
    Err(Refusal(String::from("chunks: their sum is not the length of the data")))
}

/// The sum of the sizes; none if it overflows.
pub(crate) fn sum(chunks: &[usize]) -> Option<usize> {
    chunks.iter().try_fold(0_usize, |sum, &chunk| sum.checked_add(chunk))
}

/// The sizes of the calls for all `len` bytes of the data.
pub(crate) fn sizes(chunks: &[usize], len: usize) -> impl Iterator<Item = usize> {
    chunks.is_empty().then_some(len).into_iter().chain(chunks.iter().copied())
}
