//! Errors of the computation, for tests.

use super::Slot;

/// One bit of a number in a slot, which is flipped at the end of a stage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) stage: Stage,
    pub(crate) number: usize,
    pub(crate) bit: usize,
}

/// The stages of a private operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// b, and what it is made of.
    Blinded,
    /// The powers modulo p and q; without primes, the output.
    Powers,
    /// The powers modulo p and q, put together.
    Together,
}

impl Slot {
    /// Flips the bit of the slot's fault.
    pub(crate) fn inject(&mut self, at: Stage) {
        let Some(Fault { stage, number, bit }) = self.fault.filter(|fault| fault.stage == at)
        else {
            return;
        };
        let blinding = &mut self.blinding;
        let numbers = match stage {
            Stage::Blinded => [&mut blinding.blinded, &mut blinding.factor],
            Stage::Powers if self.crt.powers[0].is_empty() => [&mut self.output, &mut Vec::new()],
            Stage::Powers => self.crt.powers.each_mut(),
            Stage::Together => [&mut blinding.result, &mut blinding.factor],
        };
        let [first, second] = numbers;
        let number = if number == 0 || second.is_empty() { first } else { second };
        let bit = bit % (64 * number.len());
        number[bit / 64] ^= 1 << (bit % 64);
    }
}
