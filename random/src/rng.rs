//! The traits of `rand_core`, for each major version in use.

use core::convert::Infallible;

#[cfg(not(target_os = "linux"))]
use crate::Rng;
#[cfg(target_os = "linux")]
use crate::linux::generator::Mix;
#[cfg(target_os = "linux")]
use crate::{Generator, Owned, PerCpu, PerThread, StaticGenerator, Strict};

/// Implements the traits by three expressions over a generator `g`.
macro_rules! rand_core {
    ([$($bounds:tt)*] $generator:ty, $g:ident, $u32:expr, $u64:expr, |$out:ident| $fill:expr) => {
        impl<$($bounds)*> rand_core::TryRng for $generator {
            type Error = Infallible;

            #[inline]
            fn try_next_u32(&mut self) -> Result<u32, Infallible> {
                let $g = self;
                Ok($u32)
            }

            #[inline]
            fn try_next_u64(&mut self) -> Result<u64, Infallible> {
                let $g = self;
                Ok($u64)
            }

            #[inline]
            fn try_fill_bytes(&mut self, $out: &mut [u8]) -> Result<(), Infallible> {
                let $g = self;
                $fill;
                Ok(())
            }
        }

        impl<$($bounds)*> rand_core::TryCryptoRng for $generator {}

        #[cfg(feature = "rand_core_09")]
        impl<$($bounds)*> rand_core_09::RngCore for $generator {
            rand_core!(@methods $g, $u32, $u64, |$out| $fill);
        }

        #[cfg(feature = "rand_core_09")]
        impl<$($bounds)*> rand_core_09::CryptoRng for $generator {}

        #[cfg(feature = "rand_core_06")]
        impl<$($bounds)*> rand_core_06::RngCore for $generator {
            rand_core!(@methods $g, $u32, $u64, |$out| $fill);

            #[inline]
            fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), rand_core_06::Error> {
                self.fill_bytes(out);
                Ok(())
            }
        }

        #[cfg(feature = "rand_core_06")]
        impl<$($bounds)*> rand_core_06::CryptoRng for $generator {}
    };
    // The common part of the older versions.
    (@methods $g:ident, $u32:expr, $u64:expr, |$out:ident| $fill:expr) => {
        #[inline]
        fn next_u32(&mut self) -> u32 {
            let $g = self;
            $u32
        }

        #[inline]
        fn next_u64(&mut self) -> u64 {
            let $g = self;
            $u64
        }

        #[inline]
        fn fill_bytes(&mut self, $out: &mut [u8]) {
            let $g = self;
            $fill;
        }
    };
}

#[cfg(target_os = "linux")]
rand_core!([G: StaticGenerator] PerThread<G>, _g, Self::u32(), Self::u64(), |out| Self::fill(out));
#[cfg(target_os = "linux")]
rand_core!([G: StaticGenerator] PerCpu<G>, _g, Self::u32(), Self::u64(), |out| Self::fill(out));
#[cfg(target_os = "linux")]
rand_core!([G: Generator] Owned<G>, g, g.u32(), g.u64(), |out| g.fill(out));
#[cfg(target_os = "linux")]
rand_core!([G: Mix] Strict<G>, g, g.u32(), g.u64(), |out| g.fill(out));
#[cfg(not(target_os = "linux"))]
rand_core!([] Rng, _g, Self::u32(), Self::u64(), |out| Self::fill(out));
