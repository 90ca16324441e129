//! A count of what was refused.

use std::collections::BTreeMap;

use lanecrypt_ciphers::Error;

/// Which misuses have been tried, and how often.
#[derive(Default)]
pub(crate) struct Refusals(BTreeMap<String, usize>);

impl Refusals {
    /// Asserts that a call was refused for the right reason, and counts it.
    pub(crate) fn note<T>(
        &mut self,
        what: &str,
        answer: Result<T, impl Into<Error>>,
        expected: Error,
    ) {
        assert_eq!(answer.map(drop).map_err(Into::into), Err(expected), "{what}");
        *self.0.entry(what.to_owned()).or_default() += 1;
    }

    /// Misuses of different kinds, and calls.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.0.len(), self.0.values().sum())
    }
}
