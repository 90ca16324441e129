//! Cells without nonces: AES-SIV.

use lanecrypt_ciphers::{DeterministicAesSiv, ValueToOpen, ValueToSeal};

use crate::CellError;
use crate::associated::OfBlock;
use crate::blocks::{BLOCK, Cells};
use crate::plan::Lengths;

/// Encrypts the values of a block, and returns the index of the first one that was refused.
pub(crate) fn encrypt<'o>(
    cipher: &DeterministicAesSiv,
    values: &Cells<'_>,
    aad: OfBlock<'_>,
    places: impl Iterator<Item = &'o mut [u8]>,
) -> Option<usize> {
    let mut outcomes = [Ok(()); BLOCK];
    let places = values.iter().zip(&mut outcomes).zip(places).enumerate();
    let refused = cipher.seal_many(places.filter_map(|(index, ((value, outcome), packet))| {
        Some(ValueToSeal { string: aad.string(index), value: (*value)?, packet, outcome })
    }));
    if refused == 0 { None } else { outcomes.iter().position(Result::is_err) }
}

/// Decrypts those cells of a block that are `own`, and stores their errors in `reasons`.
pub(crate) fn decrypt(
    cipher: &DeterministicAesSiv,
    own: impl Fn(usize) -> bool,
    cells: &Cells<'_>,
    aad: OfBlock<'_>,
    lengths: Lengths,
    mut out: &mut [u8],
    reasons: &mut [Option<CellError>],
) {
    let mut outcomes = [Ok(()); BLOCK];
    let places = cells.iter().zip(&mut outcomes).enumerate();
    let refused = cipher.open_many(places.filter_map(|(index, (cell, outcome))| {
        let value = out.split_off_mut(..lengths.plain(*cell))?;
        own(index).then_some(())?;
        Some(ValueToOpen { string: aad.string(index), packet: (*cell)?, value, outcome })
    }));
    if refused > 0 {
        for (reason, outcome) in reasons.iter_mut().zip(outcomes) {
            if outcome.is_err() {
                *reason = Some(CellError::Authentication);
            }
        }
    }
}
