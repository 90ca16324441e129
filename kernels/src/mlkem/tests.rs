//! What tests of the parts share.

use core::slice::from_mut;

use super::*;

/// Calls a macro with each kernel that the processor has.
macro_rules! each_kernel {
    ($check:ident) => {{
        $check!($crate::mlkem::portable::Portable);
        #[cfg(all(target_arch = "x86_64", feature = "isa-avx2"))]
        if $crate::Isa::of_processor().has($crate::Level::Avx2) {
            $check!($crate::mlkem::x86_64::avx2::Avx2);
        }
        #[cfg(all(target_arch = "x86_64", feature = "isa-avx512"))]
        if $crate::Isa::of_processor().has($crate::Level::Avx512) {
            $check!($crate::mlkem::x86_64::avx512::Avx512);
        }
    }};
}
pub(crate) use each_kernel;

/// Numbers that look random: a multiplicative generator.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, bound: u64) -> i16 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        i16::try_from((self.0 >> 33) % bound).expect("small")
    }

    pub(crate) fn poly(&mut self) -> Poly {
        let mut poly = Poly::ZERO;
        poly.0.as_flattened_mut().iter_mut().for_each(|x| *x = self.below(3329));
        poly
    }

    pub(crate) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        core::array::from_fn(|_| self.below(256).to_le_bytes()[0])
    }
}

#[test]
fn every_level_reaches_its_kernel() {
    let mut key = DecapsulationKey::empty();
    crate::isa::reached::assert_best(KERNELS, |isa| generate(isa, &[&[7; 64]], from_mut(&mut key)));
    let job = Encapsulation { key: key.encapsulation_key(), randomness: &[3; 32] };
    let (mut ciphertext, mut secret) = ([[0; 1088]; 1], [[0; 32]; 1]);
    crate::isa::reached::assert_best(KERNELS, |isa| {
        encapsulate(isa, &[job], &mut ciphertext, &mut secret);
    });
    let job = Decapsulation { key: &key, ciphertext: &ciphertext[0] };
    crate::isa::reached::assert_best(KERNELS, |isa| decapsulate(isa, &[job], &mut secret));
}

#[test]
fn secrets_are_not_printed() {
    let mut key = DecapsulationKey::empty();
    key.set_seed(Isa::detect(), &[7; 64]);
    assert_eq!(format!("{key:?}"), "DecapsulationKey { .. }");
    let job = Encapsulation { key: key.encapsulation_key(), randomness: &[3; 32] };
    assert_eq!(format!("{job:?}"), "Encapsulation { key: EncapsulationKey(..), .. }");
}
