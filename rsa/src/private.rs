//! Private operations, blinded.
//!
//! The input x is hidden by a random number r, a new one for each operation: nothing that depends
//! on the private key is computed from a number that anybody else can know. With
//!
//! > y = x r^(e - 1) and b = x r^e = y r, the result is x^d = b^(d - 1) y,
//!
//! because b^d = x^d r, so that b^(d - 1) y = x^d r y / b = x^d. No inverse is needed, and no state is
//! kept from one operation to the next. d is odd, so d - 1 is d with its lowest bit cleared.
//!
//! With the primes of n, b^(d - 1) is computed modulo each of them (RFC 8017, section 5.1.2).

use arrayvec::ArrayVec;
use lanecrypt_kernels::montgomery::{
    self, Modulus, Power, PublicPower, multiply_add, powers, public_powers,
};
use lanecrypt_random::EntropyError;

use crate::numbers::from_bytes;
use crate::private_key::Primes;
use crate::process::AT_ONCE;
use crate::workspace::{Blinding, Crt, Slot, zeros};
use crate::{Error, PrivateKey, PublicKey};

/// One private operation.
pub(crate) struct Task<'a> {
    pub(crate) key: &'a PrivateKey,
    pub(crate) slot: &'a mut Slot,
}

/// Draws the random number.
pub(crate) fn draw(key: &PublicKey, slot: &mut Slot) -> Result<(), Error> {
    let modulus = key.modulus();
    let random = zeros(&mut slot.blinding.random, modulus.limbs().len());
    random_below(modulus, &mut slot.blinding.bytes, random)
}

/// A random number below a modulus. `bytes` is memory for it.
pub(crate) fn random_below(
    modulus: &Modulus,
    bytes: &mut Vec<u8>,
    number: &mut [u64],
) -> Result<(), Error> {
    let bytes = zeros(bytes, modulus.bits().div_ceil(8));
    let unused = 8 * bytes.len() - modulus.bits();
    loop {
        lanecrypt_random::try_fill(bytes).map_err(|_: EntropyError| Error::Entropy)?;
        bytes[0] &= 0xff >> unused;
        from_bytes(bytes, number);
        // Reveals how many numbers were drawn, nothing of the last one.
        if modulus.contains(number) {
            return Ok(());
        }
    }
}

/// Computes the outputs, which have to be checked before anybody gets them.
pub(crate) fn run(tasks: &mut [Task<'_>], arithmetic: &mut montgomery::Workspace) {
    let mut jobs: ArrayVec<_, AT_ONCE> = tasks.iter_mut().map(|task| task.hiding()).collect();
    public_powers(&mut jobs, arithmetic);
    drop(jobs);
    for task in &mut *tasks {
        task.blind(arithmetic);
    }

    let mut jobs = ArrayVec::<_, { 2 * AT_ONCE }>::new();
    for task in &mut *tasks {
        task.exponentiations(&mut jobs);
    }
    powers(&mut jobs, arithmetic);
    drop(jobs);
    for task in tasks {
        task.unblind(arithmetic);
    }
}

impl Task<'_> {
    /// r^(e - 1).
    fn hiding(&mut self) -> PublicPower<'_> {
        let key = self.key.public_key();
        let Blinding { random, power, .. } = &mut self.slot.blinding;
        let out = zeros(power, random.len());
        PublicPower { modulus: key.modulus(), base: random, exponent: key.e() - 1, out }
    }

    /// y and b, and b modulo the primes.
    fn blind(&mut self, arithmetic: &mut montgomery::Workspace) {
        let modulus = self.key.public_key().modulus();
        let Slot { input, blinding, .. } = &mut *self.slot;
        let Blinding { random, power, factor, blinded, .. } = blinding;
        let factor = zeros(factor, random.len());
        let blinded = zeros(blinded, random.len());
        modulus.multiply(input, power, factor, arithmetic);
        modulus.multiply(factor, random, blinded, arithmetic);
        #[cfg(all(test, feature = "legacy"))]
        crate::faults::inject(self.slot, crate::faults::Stage::Blinded);
        let Slot { blinding: Blinding { blinded, .. }, crt, .. } = &mut *self.slot;
        if let Some(Primes { p, q, .. }) = self.key.primes() {
            for (prime, base) in [p, q].into_iter().zip(&mut crt.bases) {
                prime.reduce(blinded, zeros(base, prime.limbs().len()), arithmetic);
            }
        }
    }

    /// b^(d - 1), or the same modulo both primes.
    fn exponentiations<'t>(&'t mut self, jobs: &mut ArrayVec<Power<'t>, { 2 * AT_ONCE }>) {
        let Slot { blinding, crt, .. } = &mut *self.slot;
        match self.key.primes() {
            None => {
                let Blinding { blinded, result, .. } = blinding;
                let out = zeros(result, blinded.len());
                let exponent = self.key.exponent();
                let modulus = self.key.public_key().modulus();
                jobs.push(Power { modulus, base: blinded, exponent, out });
            }
            Some(Primes { p, q, exponents, .. }) => {
                let numbers = crt.bases.iter().zip(&mut crt.powers).zip(exponents);
                for (modulus, ((base, out), exponent)) in [p, q].into_iter().zip(numbers) {
                    let out = zeros(out, base.len());
                    jobs.push(Power { modulus, base, exponent, out });
                }
            }
        }
    }

    /// The result of b^(d - 1).
    fn unblind(&mut self, arithmetic: &mut montgomery::Workspace) {
        #[cfg(all(test, feature = "legacy"))]
        crate::faults::inject(self.slot, crate::faults::Stage::Powers);
        let modulus = self.key.public_key().modulus();
        let Slot { blinding: Blinding { factor, result, .. }, crt, .. } = &mut *self.slot;
        if let Some(primes) = self.key.primes() {
            put_together(primes, crt, zeros(result, factor.len()), arithmetic);
        }
        #[cfg(all(test, feature = "legacy"))]
        crate::faults::inject(self.slot, crate::faults::Stage::Together);
        let Slot { blinding: Blinding { factor, result, .. }, output, .. } = &mut *self.slot;
        modulus.multiply(result, factor, zeros(output, factor.len()), arithmetic);
    }
}

/// Garner's formula: q (qinv (from p - from q) mod p) + from q.
fn put_together(
    primes: &Primes,
    crt: &mut Crt,
    result: &mut [u64],
    arithmetic: &mut montgomery::Workspace,
) {
    let Primes { p, q, qinv, .. } = primes;
    let Crt { powers: [from_p, from_q], remainder, quotient, product, .. } = crt;
    let (length, length_q) = (p.limbs().len(), q.limbs().len());
    let remainder = zeros(remainder, length);
    p.reduce(from_q, remainder, arithmetic);
    p.subtract(from_p, remainder);
    let quotient = zeros(quotient, length);
    p.multiply(from_p, qinv, quotient, arithmetic);
    let product = zeros(product, length + length_q);
    multiply_add(quotient, q.limbs(), from_q, product);
    // What is above is zero, as the number is less than n.
    result.copy_from_slice(&product[..result.len()]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the exponentiations get is another number each time, and never the input.
    #[test]
    fn inputs_are_hidden() {
        let key = PrivateKey::from_pem(include_str!("../tests/key.pem")).expect("a good key");
        for key in [key.without_primes(), key] {
            let length = key.public_key().modulus().limbs().len();
            let [one, other] = [(); 2].map(|()| {
                let mut slot = Slot::default();
                zeros(&mut slot.input, length)[0] = 7;
                draw(key.public_key(), &mut slot).expect("random numbers");
                run(&mut [Task { key: &key, slot: &mut slot }], &mut montgomery::Workspace::new());
                slot
            });
            assert_eq!(one.output, other.output);
            for hidden in [one.blinding.blinded.clone(), one.crt.bases.concat()] {
                let again = [other.blinding.blinded.clone(), other.crt.bases.concat()];
                assert!(hidden.is_empty() || !again.contains(&hidden));
            }
            assert_ne!(one.blinding.blinded, one.input);
            // Nothing of it is left.
            for mut slot in [one, other] {
                slot.wipe();
                assert!(slot.output.is_empty() && slot.blinding.random.is_empty());
            }
        }
    }
}
