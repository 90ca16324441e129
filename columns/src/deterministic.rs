//! Cells without nonces: AES-SIV.

use lanecrypt_ciphers::{DeterministicAesSiv, ValueToOpen, ValueToSeal};

use crate::CellError;
use crate::associated::OfBlock;
use crate::blocks::{BLOCK, Cells};
use crate::layout::TAG;
use crate::plan::Lengths;

/// Encrypts the values of a block, and returns the index of the first one that was refused.
pub(crate) fn encrypt(
    cipher: &DeterministicAesSiv,
    values: &Cells<'_>,
    aad: OfBlock<'_>,
    null: usize,
    mut out: &mut [u8],
) -> Option<usize> {
    let mut outcomes = [Ok(()); BLOCK];
    let places = values.iter().zip(&mut outcomes).enumerate();
    let refused = cipher.seal_many(places.filter_map(|(index, (value, outcome))| {
        let bytes = value.map_or(null, |value| value.len() + TAG);
        let packet = out.split_off_mut(..bytes)?;
        Some(ValueToSeal { string: aad.string(index), value: (*value)?, packet, outcome })
    }));
    if refused == 0 { None } else { outcomes.iter().position(Result::is_err) }
}

/// Decrypts the cells of a block, and stores the errors in `reasons`.
pub(crate) fn decrypt(
    cipher: &DeterministicAesSiv,
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
        Some(ValueToOpen { string: aad.string(index), packet: (*cell)?, value, outcome })
    }));
    if refused > 0 {
        for (reason, outcome) in reasons.iter_mut().zip(outcomes) {
            *reason = outcome.err().map(|_| CellError::Authentication);
        }
    }
}
