//! Modular arithmetic: moduli, bases, exponents, factors and all operands are secret. Lengths are
//! public, and so is the highest limb of a modulus, because its number of bits is.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use lanecrypt_kernels::montgomery::{
    Modulus, Power, PublicPower, Workspace, from_be_bytes, multiply_add, powers, public_powers,
    to_be_bytes,
};
use lanecrypt_kernels::{Isa, Level};

use crate::secrets::{Secrets, unseen};

/// The levels with kernels of their own. For one number, that of `avx2` needs ADX, which Valgrind's
/// processor lacks; Valgrind checks its lanes, and the other methods check both one level above.
pub(crate) const LEVELS: &[Level] =
    &[Level::Portable, Level::Avx2, Level::Avx2Vaes, Level::Avx512, Level::Neon];

/// The most limbs of a modulus whose set-up is traced.
const SHORT: usize = 9;

/// So many secret limbs.
fn limbs(count: usize, secrets: &mut Secrets) -> Vec<u64> {
    let mut limbs = unseen(|| vec![0; count]);
    for limb in &mut limbs {
        *limb = u64::from_le_bytes(secrets.bytes());
    }
    limbs
}

fn modulus(isa: Isa, count: usize, secrets: &mut Secrets) -> Modulus {
    let mut limbs = limbs(count, secrets);
    limbs[0] |= 1;
    limbs[count - 1] = 0xd555_5555_5555_5555;
    // The trace of a long one would say no more, and take minutes.
    if count <= SHORT {
        Modulus::new(isa, &limbs).expect("odd and long")
    } else {
        unseen(|| Modulus::new(isa, &limbs).expect("odd and long"))
    }
}

fn reveal(limbs: Vec<u64>, secrets: &Secrets) {
    for limb in limbs {
        secrets.reveal(&mut limb.to_le_bytes());
    }
}

/// Exponentiations with so many limbs, all at once, with short exponents; every other one has a
/// factor.
fn raise(isa: Isa, sizes: &[usize], secrets: &mut Secrets) {
    let moduli: Vec<_> = sizes.iter().map(|&count| modulus(isa, count, secrets)).collect();
    let bases: Vec<_> = sizes.iter().map(|&count| limbs(count, secrets)).collect();
    let exponents: Vec<_> = sizes.iter().map(|_| limbs(1, secrets)).collect();
    let factors: Vec<_> = sizes.iter().map(|&count| limbs(count, secrets)).collect();
    let mut outs: Vec<_> = sizes.iter().map(|&count| vec![0; count]).collect();
    let mut jobs = Vec::new();
    for (i, out) in outs.iter_mut().enumerate() {
        let (modulus, base, exponent) = (&moduli[i], &bases[i], &exponents[i]);
        let factor = (i % 2 == 0).then_some(&factors[i][..]);
        jobs.push(Power { modulus, base, exponent, factor, out });
    }
    powers(&mut jobs, &mut Workspace::new());
    outs.into_iter().for_each(|out| reveal(out, secrets));
}

/// The same with public exponents; the first `with_factor` have a factor.
fn raise_public(
    isa: Isa,
    sizes: &[usize],
    exponents: &[u64],
    with_factor: usize,
    secrets: &mut Secrets,
) {
    let moduli: Vec<_> = sizes.iter().map(|&count| modulus(isa, count, secrets)).collect();
    let bases: Vec<_> = sizes.iter().map(|&count| limbs(count, secrets)).collect();
    let factors: Vec<_> = sizes[..with_factor].iter().map(|&count| limbs(count, secrets)).collect();
    let mut outs: Vec<_> = sizes.iter().map(|&count| vec![0; count]).collect();
    let mut jobs = Vec::new();
    for (i, out) in outs.iter_mut().enumerate() {
        let (modulus, base) = (&moduli[i], &bases[i]);
        let exponent = exponents[i % exponents.len()];
        let factor = factors.get(i).map(|factor| &factor[..]);
        jobs.push(PublicPower { modulus, base, exponent, factor, out });
    }
    public_powers(&mut jobs, &mut Workspace::new());
    outs.into_iter().for_each(|out| reveal(out, secrets));
}

/// One at a time and two at once, with at least one of each number of registers.
pub(crate) fn single(isa: Isa, secrets: &mut Secrets) {
    for sizes in [&[4][..], &[8], &[16, 16]] {
        raise(isa, sizes, secrets);
    }
    for sizes in [&[16][..], &[24], &[32], &[48], &[64], &[4, 4], &[8, 8], &[24, 24], &[32, 32]] {
        raise_public(isa, sizes, &[3], 0, secrets);
    }
    for (sizes, exponent) in [(&[8][..], 1), (&[24], 3), (&[8, 8], 3)] {
        raise_public(isa, sizes, &[exponent], 1, secrets);
    }
    // Passes of eight limbs, of four and of one; those of the kernel for one number at a time.
    raise_public(isa, &[13], &[3], 1, secrets);
}

/// Many side by side, in lanes that are all full or not.
pub(crate) fn lanes(isa: Isa, secrets: &mut Secrets) {
    for sizes in [&[4; 8][..], &[8; 3]] {
        raise(isa, sizes, secrets);
    }
    for (exponents, with_factor) in [(&[17][..], 0), (&[3, 5, 4], 0), (&[1], 5), (&[3, 4], 2)] {
        raise_public(isa, &[8; 5], exponents, with_factor, secrets);
    }
}

/// What is around exponentiations.
pub(crate) fn around(isa: Isa, secrets: &mut Secrets) {
    let mut workspace = Workspace::new();
    for count in [4, 9] {
        let modulus = modulus(isa, count, secrets);
        let [one, other, wide] = [count, count, 2 * count].map(|count| limbs(count, secrets));
        let mut out = vec![0; count];
        modulus.reduce(&wide, &mut out, &mut workspace);
        modulus.subtract(&mut out, &one);
        modulus.add(&mut out, &other);
        let mut product = vec![0; count];
        modulus.multiply(&out, &one, &mut product, &mut workspace);
        // The answer is public, its reasons are not.
        let _ = core::hint::black_box(modulus.contains(&product));
        let mut long = vec![0; 2 * count];
        multiply_add(&product, &other, &one, &mut long);
        let mut bytes = vec![0; 16 * count];
        let _ = to_be_bytes(&long, &mut bytes);
        let _ = from_be_bytes(&bytes, &mut long);
        reveal(long, secrets);
    }
}
