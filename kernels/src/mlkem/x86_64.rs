//! Kernels of x86-64.
#![cfg(target_arch = "x86_64")]

#[cfg(feature = "isa-avx2")]
pub(crate) mod avx2;
#[cfg(feature = "isa-avx512")]
pub(crate) mod avx512;

/// Calls one function that needs the instructions of a register.
#[cfg(any(feature = "isa-avx2", feature = "isa-avx512"))]
macro_rules! call {
    ($function:ident $(::<$($constant:tt),+>)? ($($arg:expr),*)) => {{
        let result = {
            // SAFETY: only functions with the instructions use the type whose method calls this.
            #[allow(clippy::macro_metavars_in_unsafe)]
            unsafe { $function $(::<$($constant),+>)? ($($arg),*) }
        };
        result
    }};
}
#[cfg(any(feature = "isa-avx2", feature = "isa-avx512"))]
use call;

/// The functions that `by_isa!` calls, with the instructions of the level.
#[cfg(any(feature = "isa-avx2", feature = "isa-avx512"))]
macro_rules! entries {
    (#[$features:meta] $level:ident) => {
        #[$features]
        pub(crate) fn generate(seeds: &[&[u8; 64]], keys: &mut [DecapsulationKey]) {
            steps::generate::<$level>(seeds, keys);
        }

        #[$features]
        pub(crate) fn import(bytes: &[u8; 2400], key: &mut DecapsulationKey) -> bool {
            steps::import::<$level>(bytes, key)
        }

        #[$features]
        pub(crate) fn export(key: &DecapsulationKey, bytes: &mut [u8; 2400]) {
            steps::export::<$level>(key, bytes);
        }

        #[$features]
        pub(crate) fn encapsulate(
            jobs: &[Encapsulation<'_>],
            ciphertexts: &mut [[u8; 1088]],
            secrets: &mut [[u8; 32]],
        ) {
            steps::encapsulate::<$level>(jobs, ciphertexts, secrets);
        }

        #[$features]
        pub(crate) fn decapsulate(jobs: &[Decapsulation<'_>], secrets: &mut [[u8; 32]]) {
            steps::decapsulate::<$level>(jobs, secrets);
        }
    };
}
#[cfg(any(feature = "isa-avx2", feature = "isa-avx512"))]
use entries;
