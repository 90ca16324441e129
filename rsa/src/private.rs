//! Private operations, blinded.
//!
//! The input x is hidden by a random number r, a new one for each operation: nothing that depends
//! on the private key is computed from a number that anybody else can know. With
//!
//! > y = x r^(e - 1) and b = x r^e = y r, the result is x^d = b^(d - 1) y,
//!
//! because b^d = x^d r, so that b^(d - 1) y = x^d r y / b = x^d. No inverse is needed, and no state
//! is kept from one operation to the next. d is odd, so d - 1 is d with its lowest bit cleared.
//!
//! With the primes of n, b^(d - 1) is computed modulo each of them (RFC 8017, section 5.1.2), and
//! multiplied with y modulo n. So what is known, the result, is computed from the public modulus.
//!
//! All products are exponentiations of the kernels, for all tasks at once.

use arrayvec::ArrayVec;
use lanecrypt_kernels::montgomery::{
    self, Modulus, Power, PublicPower, multiply_add, powers, public_powers,
};
use lanecrypt_random::EntropyError;

use crate::numbers::from_bytes;
use crate::private_key::Primes;
use crate::request::AT_ONCE;
#[cfg(all(test, feature = "legacy"))]
use crate::workspace::fault::Stage;
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
    products(tasks, arithmetic, |task| Some(task.factor()));
    products(tasks, arithmetic, |task| Some(task.blinded()));
    for task in &mut *tasks {
        task.reduce(arithmetic);
    }

    let mut jobs = ArrayVec::<_, { 2 * AT_ONCE }>::new();
    for task in &mut *tasks {
        task.exponentiations(&mut jobs);
    }
    powers(&mut jobs, arithmetic);
    drop(jobs);

    for task in &mut *tasks {
        task.subtract(arithmetic);
    }
    products(tasks, arithmetic, Task::quotient);
    for task in &mut *tasks {
        task.put_together();
    }
    products(tasks, arithmetic, Task::unblinded);
}

/// One product of each task that has one, side by side.
fn products<'t, 'a>(
    tasks: &'t mut [Task<'a>],
    arithmetic: &mut montgomery::Workspace,
    product: impl Fn(&'t mut Task<'a>) -> Option<PublicPower<'t>>,
) {
    let mut jobs: ArrayVec<_, AT_ONCE> = tasks.iter_mut().filter_map(product).collect();
    public_powers(&mut jobs, arithmetic);
}

impl Task<'_> {
    /// y = r^(e - 1) x.
    fn factor(&mut self) -> PublicPower<'_> {
        let key = self.key.public_key();
        let Slot { input, blinding: Blinding { random, factor, .. }, .. } = &mut *self.slot;
        let (exponent, out) = (key.e() - 1, zeros(factor, random.len()));
        PublicPower { modulus: key.modulus(), base: random, exponent, factor: Some(input), out }
    }

    /// b = y r.
    fn blinded(&mut self) -> PublicPower<'_> {
        let Blinding { random, factor, blinded, .. } = &mut self.slot.blinding;
        let out = zeros(blinded, random.len());
        PublicPower::product(self.key.public_key().modulus(), factor, random, out)
    }

    /// b modulo the primes.
    fn reduce(&mut self, arithmetic: &mut montgomery::Workspace) {
        #[cfg(all(test, feature = "legacy"))]
        self.slot.inject(Stage::Blinded);
        let Slot { blinding: Blinding { blinded, .. }, crt, .. } = &mut *self.slot;
        if let Some(Primes { p, q, .. }) = self.key.primes() {
            for (prime, base) in [p, q].into_iter().zip(&mut crt.bases) {
                prime.reduce(blinded, zeros(base, prime.limbs().len()), arithmetic);
            }
        }
    }

    /// b^(d - 1) modulo both primes; without them, b^(d - 1) y, which is the output.
    fn exponentiations<'t>(&'t mut self, jobs: &mut ArrayVec<Power<'t>, { 2 * AT_ONCE }>) {
        let Slot { blinding: Blinding { factor, blinded, .. }, crt, output, .. } = &mut *self.slot;
        match self.key.primes() {
            None => {
                let out = zeros(output, blinded.len());
                let (modulus, exponent) = (self.key.public_key().modulus(), self.key.exponent());
                jobs.push(Power { modulus, base: blinded, exponent, factor: Some(factor), out });
            }
            Some(Primes { p, q, exponents, .. }) => {
                let numbers = crt.bases.iter().zip(&mut crt.powers).zip(exponents);
                for (modulus, ((base, out), exponent)) in [p, q].into_iter().zip(numbers) {
                    let out = zeros(out, base.len());
                    jobs.push(Power { modulus, base, exponent, factor: None, out });
                }
            }
        }
    }

    // Garner's formula: q (qinv (from p - from q) mod p) + from q.

    /// from p - from q, in the place of from p.
    fn subtract(&mut self, arithmetic: &mut montgomery::Workspace) {
        #[cfg(all(test, feature = "legacy"))]
        self.slot.inject(Stage::Powers);
        let Some(Primes { p, .. }) = self.key.primes() else { return };
        let Crt { powers: [from_p, from_q], remainder, .. } = &mut self.slot.crt;
        let remainder = zeros(remainder, p.limbs().len());
        p.reduce(from_q, remainder, arithmetic);
        p.subtract(from_p, remainder);
    }

    /// That times qinv.
    fn quotient(&mut self) -> Option<PublicPower<'_>> {
        let Primes { p, qinv, .. } = self.key.primes()?;
        let Crt { powers: [difference, _], quotient, .. } = &mut self.slot.crt;
        Some(PublicPower::product(p, difference, qinv, zeros(quotient, qinv.len())))
    }

    /// That times q, plus from q: b^(d - 1).
    fn put_together(&mut self) {
        let Some(Primes { q, .. }) = self.key.primes() else { return };
        let Slot { blinding: Blinding { factor, result, .. }, crt, .. } = &mut *self.slot;
        let Crt { powers: [_, from_q], quotient, product, .. } = crt;
        let product = zeros(product, quotient.len() + q.limbs().len());
        multiply_add(quotient, q.limbs(), from_q, product);
        // What is above is zero, as the number is less than n.
        let result = zeros(result, factor.len());
        result.copy_from_slice(&product[..result.len()]);
        #[cfg(all(test, feature = "legacy"))]
        self.slot.inject(Stage::Together);
    }

    /// b^(d - 1) y, if the primes have served so far.
    fn unblinded(&mut self) -> Option<PublicPower<'_>> {
        self.key.primes()?;
        let modulus = self.key.public_key().modulus();
        let Slot { blinding: Blinding { factor, result, .. }, output, .. } = &mut *self.slot;
        Some(PublicPower::product(modulus, result, factor, zeros(output, factor.len())))
    }
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
