//! Private keys.

use core::fmt;

use lanecrypt_kernels::Isa;
use lanecrypt_kernels::montgomery::Modulus;
use zeroize::{ZeroizeOnDrop, Zeroizing};

#[cfg(feature = "aws-lc")]
use crate::aws_lc::Signer;
use crate::components::{Components, CrtComponents};
use crate::numbers::{from_bytes, to_limbs, write_bytes};
use crate::public_key::of_level;
use crate::{KeyError, PublicKey};

/// An RSA private key of 2048 to 8192 bits.
///
/// It is wiped on drop. Signing leaves it as it is, so it may be used by many threads at once, each
/// with its own [`Workspace`](crate::Workspace). Keys that know their primes sign several times
/// faster (by the Chinese remainder theorem); [`recover_primes`](Self::recover_primes) finds them.
pub struct PrivateKey {
    public: PublicKey,
    /// d less one, with as many limbs as the modulus.
    exponent: Zeroizing<Box<[u64]>>,
    primes: Option<Primes>,
    #[cfg(feature = "aws-lc")]
    pub(crate) aws_lc: Signer,
}

/// The numbers for signatures by the Chinese remainder theorem.
pub(crate) struct Primes {
    pub(crate) p: Modulus,
    pub(crate) q: Modulus,
    /// dp and dq less one, with as many limbs as their primes.
    pub(crate) exponents: [Zeroizing<Box<[u64]>>; 2],
    /// The inverse of q modulo p.
    pub(crate) qinv: Zeroizing<Box<[u64]>>,
}

impl PrivateKey {
    /// A key whose numbers have been found to belong together.
    pub(crate) fn unchecked(
        public: PublicKey,
        components: &Components<'_>,
    ) -> Result<Self, KeyError> {
        let exponent = less_one(components.d, public.modulus());
        let isa = public.modulus().isa();
        let primes = match &components.crt {
            None => None,
            Some(crt) => Some(Primes::new(isa, crt)?),
        };
        Ok(Self::of_parts(public, exponent, primes))
    }

    fn of_parts(
        public: PublicKey,
        exponent: Zeroizing<Box<[u64]>>,
        primes: Option<Primes>,
    ) -> Self {
        Self {
            public,
            exponent,
            primes,
            #[cfg(feature = "aws-lc")]
            aws_lc: Signer::default(),
        }
    }

    /// The same key, with the kernels of `isa`.
    #[must_use]
    pub fn with_isa(&self, isa: Isa) -> Self {
        let primes = self.primes.as_ref().map(|primes| primes.with_isa(isa));
        Self::of_parts(self.public.with_isa(isa), self.exponent.clone(), primes)
    }

    /// The same key without its primes. It signs several times more slowly.
    #[must_use]
    pub fn without_primes(&self) -> Self {
        Self::of_parts(self.public.clone(), self.exponent.clone(), None)
    }

    /// The public key.
    #[must_use]
    pub const fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// Whether it knows its primes.
    #[must_use]
    pub const fn has_primes(&self) -> bool {
        self.primes.is_some()
    }

    /// The length of its signatures in bytes: that of the modulus.
    #[must_use]
    pub const fn signature_length(&self) -> usize {
        self.public.signature_length()
    }

    pub(crate) const fn primes(&self) -> Option<&Primes> {
        self.primes.as_ref()
    }

    #[cfg(all(test, feature = "legacy"))]
    pub(crate) const fn primes_mut(&mut self) -> Option<&mut Primes> {
        self.primes.as_mut()
    }

    /// d less one.
    pub(crate) fn exponent(&self) -> &[u64] {
        &self.exponent
    }

    /// Calls `take` with all numbers of the key, as another implementation needs them. They are
    /// wiped afterwards.
    pub fn with_components<T>(&self, take: impl FnOnce(&Components<'_>) -> T) -> T {
        let number = |limbs: &[u64], add_one: bool| {
            let mut bytes = Zeroizing::new(vec![0; 8 * limbs.len()]);
            write_bytes(limbs, &mut bytes);
            if let (true, Some(last)) = (add_one, bytes.last_mut()) {
                *last |= 1;
            }
            bytes
        };
        let d = number(&self.exponent, true);
        let crt = self.primes.as_ref().map(|primes| {
            let [dp, dq] = primes.exponents.each_ref().map(|exponent| number(exponent, true));
            let [p, q] = [&primes.p, &primes.q].map(|prime| number(prime.limbs(), false));
            [p, q, dp, dq, number(&primes.qinv, false)]
        });
        let crt = crt.as_ref().map(|[p, q, dp, dq, qinv]| CrtComponents { p, q, dp, dq, qinv });
        let (n, e) = (self.public.n(), self.public.e().to_be_bytes());
        take(&Components { n: &n, e: &e, d: &d, crt })
    }
}

impl Primes {
    fn new(isa: Isa, crt: &CrtComponents<'_>) -> Result<Self, KeyError> {
        let prime = |bytes: &[u8]| {
            let limbs = Zeroizing::new(to_limbs(bytes));
            Modulus::new(isa, &limbs).ok_or(KeyError::Primes)
        };
        let (p, q) = (prime(crt.p)?, prime(crt.q)?);
        let exponents = [less_one(crt.dp, &p), less_one(crt.dq, &q)];
        let mut qinv = Zeroizing::new(vec![0; p.limbs().len()].into_boxed_slice());
        from_bytes(crt.qinv, &mut qinv);
        Ok(Self { p, q, exponents, qinv })
    }

    fn with_isa(&self, isa: Isa) -> Self {
        Self {
            p: of_level(&self.p, isa),
            q: of_level(&self.q, isa),
            exponents: self.exponents.clone(),
            qinv: self.qinv.clone(),
        }
    }
}

/// An odd exponent less one, with as many limbs as its modulus.
fn less_one(exponent: &[u8], modulus: &Modulus) -> Zeroizing<Box<[u64]>> {
    let mut limbs = Zeroizing::new(vec![0; modulus.limbs().len()].into_boxed_slice());
    from_bytes(exponent, &mut limbs);
    limbs[0] &= !1;
    limbs
}

impl ZeroizeOnDrop for PrivateKey {}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateKey").field("public", &self.public).finish_non_exhaustive()
    }
}
