//! Vector registers of a chosen width, used and released on purpose.
//!
//! This is not a peer. Measuring the cost of wide vectors besides their instructions needs code
//! that puts the registers into use, and code that tells the processor that they hold nothing worth
//! saving.

#[cfg_attr(target_arch = "x86_64", path = "vectors/x86_64.rs")]
mod state;

use core::hint::black_box;

/// The width of the registers in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Width {
    /// No vector registers.
    None,
    /// 256 bits: AVX2.
    Bits256,
    /// 512 bits, and the upper sixteen registers: AVX-512.
    Bits512,
}

impl Width {
    /// Every width, narrowest first.
    pub const ALL: [Self; 3] = [Self::None, Self::Bits256, Self::Bits512];

    /// The widths that this processor has and that can be distinguished on it.
    #[must_use]
    pub fn available() -> Vec<Self> {
        Self::ALL.into_iter().filter(|width| state::has(*width)).collect()
    }

    /// A short name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Bits256 => "256-bit",
            Self::Bits512 => "512-bit",
        }
    }
}

/// Multiplies `x` by an odd constant 32 times, wrapping, in registers of `width`; in general
/// registers if the processor lacks it.
///
/// The result is the same for every width. It is a chain, so the width changes only the registers.
#[must_use]
pub fn work(width: Width, x: u32) -> u32 {
    let mut x = black_box(x);
    if width == Width::None || !state::has(width) {
        for _ in 0..32 {
            x = x.wrapping_mul(black_box(FACTOR));
        }
        return x;
    }
    state::work(width, x)
}

/// An odd constant without meaning.
const FACTOR: u32 = 0x9E37_79B1;

/// Puts registers of `width` into use on the calling thread, and all wider ones out of use.
///
/// They stay in use until [`forget`], or until code of the C library changes that; [`is_occupied`]
/// tells.
pub fn occupy(width: Width) {
    forget();
    if state::has(width) {
        state::occupy(width);
    }
}

/// Tells the processor that no vector register wider than 128 bits holds anything.
///
/// The kernel then has nothing of them to save when it switches to another thread.
pub fn forget() {
    state::forget();
}

/// Whether the registers of `width`, and no wider ones, are in use on the calling thread.
///
/// If the processor does not tell, only [`Width::None`] is available, and the answer is assumed.
#[must_use]
pub fn is_occupied(width: Width) -> bool {
    state::in_use().unwrap_or(Width::None) == width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_gives_the_same_result() {
        for x in [0, 1, 3, u32::MAX, 0x1234_5678] {
            for width in Width::available() {
                assert_eq!(work(width, x), work(Width::None, x), "{width:?} {x}");
            }
        }
    }

    #[test]
    fn registers_come_into_use_and_out_of_it() {
        // Nothing between the two calls uses vectors: only then can the answer be exact.
        for width in Width::available().into_iter().filter(|width| *width != Width::None) {
            for _ in 0..3 {
                occupy(width);
                let after = is_occupied(width);
                forget();
                let forgotten = !is_occupied(width);
                assert!(after && forgotten, "{width:?}");
            }
        }
    }
}
