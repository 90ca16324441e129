//! Which implementation serves requests.

use lanecrypt_kernels::Isa;

use crate::{Padding, PublicKey};

/// Which implementation serves the requests of a [`Workspace`](crate::Workspace).
///
/// With the feature `aws-lc`, AWS-LC may serve signatures of PKCS#1 v1.5, and of PSS with a salt as
/// long as a digest, with SHA-256, SHA-384 or SHA-512: it makes those of keys of 2048 to 8192 bits
/// that know their primes, and checks those of keys of that size. All other requests are served by
/// this crate, and so is a signature that AWS-LC does not make. Outcomes are the same.
///
/// AWS-LC keeps keys in a form of its own. That is made when it first serves a request of a key,
/// which takes 0.4 milliseconds for a private key of 2048 bits, and wiped with the key. Unlike this
/// crate, AWS-LC allocates and locks during each operation. A forked child of a process with
/// several threads must not use it: choose [`Own`](Self::Own) there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// Whatever costs least for the requests that are processed together. With AVX-512 and a key of
    /// 2048, 3072 or 4096 bits, four of five signatures may run side by side here, and one by
    /// AWS-LC, if that is faster on this processor. The 17th signature by itself measures that once
    /// for each size, in a few milliseconds. On AArch64, all such signatures may be AWS-LC's, as
    /// measured in the same way. Otherwise, this crate serves everything there and on processors of
    /// x86-64 with ADX, and elsewhere AWS-LC all that it takes.
    #[default]
    Measured,
    /// This crate alone.
    Own,
    /// AWS-LC for all that it takes.
    #[cfg(feature = "aws-lc")]
    AwsLc,
}

impl Backend {
    /// Whether it serves signatures of this key, with this padding. To sign, AWS-LC needs the
    /// primes, too.
    #[must_use]
    pub fn supports(self, key: &PublicKey, padding: Padding) -> bool {
        match self {
            Self::Measured | Self::Own => {
                let _ = (key, padding);
                true
            }
            #[cfg(feature = "aws-lc")]
            Self::AwsLc => crate::aws_lc::takes_key(key, padding),
        }
    }

    /// Whether a single signature, by a key of so many bits that knows its primes, may be made by
    /// AWS-LC at this level.
    #[must_use]
    pub fn may_sign_by_aws_lc(self, isa: Isa, bits: usize) -> bool {
        match self {
            Self::Own => false,
            #[cfg(feature = "aws-lc")]
            Self::Measured => crate::aws_lc::may_be_faster(isa, bits),
            #[cfg(feature = "aws-lc")]
            Self::AwsLc => crate::aws_lc::takes_size(bits),
            #[cfg(not(feature = "aws-lc"))]
            Self::Measured => {
                let _ = (isa, bits);
                false
            }
        }
    }
}
