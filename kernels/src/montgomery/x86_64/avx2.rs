//! One number at a time, in limbs of 64 bits, or four side by side, in digits of 29 bits. Constant
//! time in all values.
//!
//! Processors of this level have MULX, but the oldest of them lack ADCX and ADOX (ADX). For one
//! number they run the portable kernel.

mod adx;
mod four;
mod fused;
mod multiply;
mod passes;
mod tiles;

use self::adx::Eight;
use self::four::Four;
use super::lanes::{self, Kernel};
use crate::Level;
use crate::montgomery::passes::ByPasses;
use crate::montgomery::{Jobs, Workspace, exponentiation, portable};

pub(crate) const NEEDS: Level = Level::Avx2;

/// Passes with MULX, ADCX and ADOX. Only [`raise`] uses it, on processors that have AVX2, BMI2 and
/// ADX.
struct Adx;

/// Exponentiations of as many digits: four side by side if that takes less time.
#[target_feature(enable = "avx2,bmi2")]
pub(crate) fn raise(jobs: &mut dyn Jobs, chosen: &[usize], workspace: &mut Workspace) {
    raise_by(has_adx(), jobs, chosen, workspace);
}

#[target_feature(enable = "avx2,bmi2")]
fn raise_by(has_adx: bool, jobs: &mut dyn Jobs, chosen: &[usize], workspace: &mut Workspace) {
    // The fewest that take less time in lanes, full or not, than one by one: docs/notes/rsa.md.
    let fewest = if has_adx { 4 } else { 2 };
    for chosen in chosen.chunks(Four::NUMBERS) {
        if chosen.len() >= fewest {
            lanes::raise::<Four>(jobs, chosen, workspace);
        } else if has_adx {
            raise_with_adx(jobs, chosen, workspace);
        } else {
            portable::raise(jobs, chosen, workspace);
        }
    }
}

/// One by one. Numbers of as many digits may have different numbers of limbs.
fn raise_with_adx(jobs: &mut dyn Jobs, chosen: &[usize], workspace: &mut Workspace) {
    for chosen in chosen.chunks(1) {
        if jobs.job(chosen[0]).modulus.limbs().len() == 8 {
            exponentiation::raise::<Eight>(jobs, chosen, workspace);
        } else {
            exponentiation::raise::<ByPasses<Adx>>(jobs, chosen, workspace);
        }
    }
}

/// Without detection, this is what the program was compiled for.
pub(crate) fn has_adx() -> bool {
    #[cfg(feature = "std")]
    {
        std::arch::is_x86_feature_detected!("adx")
    }
    #[cfg(not(feature = "std"))]
    {
        cfg!(target_feature = "adx")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Isa;
    use crate::montgomery::{Modulus, Power};

    /// Both choices of a kernel for one number, and lanes, against the portable kernel: on every
    /// processor of this level, whether it has ADX or not.
    #[test]
    fn with_and_without_adx() {
        let isa = Isa::detect();
        if !isa.has(NEEDS) {
            return;
        }
        let isa = isa.at_most(NEEDS);
        let mut state = 7_u64;
        let mut limb = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            // All ones, or any.
            if state >> 62 == 0 { u64::MAX } else { state ^ state >> 29 }
        };
        let mut workspace = Workspace::new();
        for length in [4, 5, 8, 13, 16, 24, 32, 33] {
            for count in 1..=5 {
                let mut limbs = || (0..length).map(|_| limb()).collect::<Vec<_>>();
                let cases: Vec<_> = (0..count)
                    .map(|_| {
                        let (mut n, mut base) = (limbs(), limbs());
                        (n[0], n[length - 1]) = (n[0] | 1, u64::MAX);
                        base[length - 1] >>= 1;
                        (Modulus::new(isa, &n).expect("odd"), base, limbs(), limbs())
                    })
                    .collect();
                let [portable, with, without] = [None, Some(has_adx()), Some(false)].map(|adx| {
                    let mut outs = vec![vec![0; length]; count];
                    let mut jobs: Vec<_> = outs
                        .iter_mut()
                        .zip(&cases)
                        .map(|(out, (modulus, base, exponent, factor))| Power {
                            modulus,
                            base,
                            exponent: &exponent[..2],
                            factor: (factor[0] % 2 == 0).then_some(&base[..]),
                            out,
                        })
                        .collect();
                    let chosen: Vec<_> = (0..count).collect();
                    match adx {
                        None => portable::raise(&mut &mut jobs[..], &chosen, &mut workspace),
                        // SAFETY: the processor has the instructions of this level, see above.
                        Some(adx) => unsafe {
                            raise_by(adx, &mut &mut jobs[..], &chosen, &mut workspace);
                        },
                    }
                    outs
                });
                assert_eq!(with, portable, "{count} of {length} limbs");
                assert_eq!(without, portable, "{count} of {length} limbs, without ADX");
            }
        }
    }
}
