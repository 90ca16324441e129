//! The steps of ML-KEM that each level has functions for.

use super::row::Poly;
use crate::keccak::Permutation;

/// A transformed polynomial as the second factor of products, see [`super::ntt::factor`].
#[derive(Clone)]
pub(crate) struct Factor(pub(crate) [Poly; 2]);

impl Factor {
    pub(crate) const ZERO: Self = Self([Poly::ZERO; 2]);
}

/// The functions of a level. Only functions that run at this level name the type.
pub(crate) trait Kernel: Permutation {
    /// Adds those of 112 numbers of twelve bits that are below q to the first `filled`
    /// coefficients, and returns how many there are then. Variable time: the numbers are public.
    fn sample(block: &[u8; 168], poly: &mut Poly, filled: usize) -> usize;
    /// See [`super::code::noise`].
    fn noise(bytes: &[u8; 128], poly: &mut Poly);
    /// See [`super::ntt::forward`].
    fn forward(poly: &mut Poly);
    /// See [`super::ntt::factor`].
    fn factor(poly: &Poly, out: &mut Factor);
    /// The sum of three products, divided by 2^16.
    fn product(polys: [&Poly; 3], factors: &[Factor; 3], out: &mut Poly);
    /// The same, and then the inverse transform, which takes the division back.
    fn inverse_product(polys: [&Poly; 3], factors: &[Factor; 3], out: &mut Poly);
    /// Encodes `2^16 product + noise`.
    fn put_public(product: &Poly, noise: &Poly, bytes: &mut [u8; 384]);
    /// See [`super::code::put12`].
    fn put12(poly: &Poly, bytes: &mut [u8; 384]);
    /// See [`super::code::get12`].
    fn get12(bytes: &[u8; 384], poly: &mut Poly);
    /// See [`super::code::put10`].
    fn put10(poly: &Poly, noise: &Poly, bytes: &mut [u8; 320]);
    /// See [`super::code::get10`].
    fn get10(bytes: &[u8; 320], poly: &mut Poly);
    /// See [`super::code::put4`].
    fn put4(poly: &Poly, noise: &Poly, message: &[u8; 32], bytes: &mut [u8; 128]);
    /// See [`super::code::message`].
    fn message(bytes: &[u8; 128], poly: &Poly, out: &mut [u8; 32]);
}

/// The generic code of [`Kernel::product`] and its companions.
pub(crate) mod generic {
    use super::Factor;
    use crate::mlkem::code::canonical;
    use crate::mlkem::ntt;
    use crate::mlkem::row::{Poly, Row, Vector};

    #[inline(always)]
    fn rows<V: Vector>(poly: &Poly) -> [V; 8] {
        let mut rows = [V::splat(0); 8];
        for (row, place) in rows.iter_mut().zip(&poly.0) {
            *row = V::load(place);
        }
        rows
    }

    #[inline(always)]
    fn store<V: Vector>(rows: [V; 8], poly: &mut Poly) {
        for (row, place) in rows.into_iter().zip(&mut poly.0) {
            row.store(place);
        }
    }

    #[inline(always)]
    pub(crate) fn forward<V: Vector>(poly: &mut Poly) {
        let mut rows = rows::<V>(poly);
        ntt::forward(&mut rows);
        store(rows, poly);
    }

    #[inline(always)]
    pub(crate) fn factor<V: Vector>(poly: &Poly, Factor([even, odd]): &mut Factor) {
        let rows = ntt::factor(&rows::<V>(poly));
        store(rows[0], even);
        store(rows[1], odd);
    }

    #[inline(always)]
    fn products<V: Vector>(polys: [&Poly; 3], factors: &[Factor; 3]) -> [V; 8] {
        let mut products = [V::splat(0); 8];
        for (i, product) in products.iter_mut().enumerate() {
            let (mut rows, mut even, mut odd) = ([*product; 3], [*product; 3], [*product; 3]);
            for j in 0..3 {
                rows[j] = V::load(&polys[j].0[i]);
                even[j] = V::load(&factors[j].0[0].0[i]);
                odd[j] = V::load(&factors[j].0[1].0[i]);
            }
            *product = ntt::product(rows, even, odd);
        }
        products
    }

    #[inline(always)]
    pub(crate) fn product<V: Vector>(polys: [&Poly; 3], factors: &[Factor; 3], out: &mut Poly) {
        store(products::<V>(polys, factors), out);
    }

    #[inline(always)]
    pub(crate) fn inverse_product<V: Vector>(
        polys: [&Poly; 3],
        factors: &[Factor; 3],
        out: &mut Poly,
    ) {
        let mut rows = products::<V>(polys, factors);
        ntt::inverse(&mut rows);
        store(rows, out);
    }

    #[inline(always)]
    pub(crate) fn put_public<V: Vector>(product: &Poly, noise: &Poly, bytes: &mut [u8; 384]) {
        let rows = product.0.iter().zip(&noise.0);
        for ((row, noise), bytes) in rows.zip(bytes.as_chunks_mut().0) {
            let sum = Vector::add(ntt::to_montgomery(V::load(row)), V::load(noise));
            canonical(sum.reduce()).pack12(bytes);
        }
    }
}

/// Implements [`Kernel`] for a level: `kernel! { #[target_feature(…)] Level by Registers }`. The
/// attribute is that of all its functions.
macro_rules! kernel {
    (#[$features:meta] $level:ident by $vector:ident) => {
        kernel! { @ #[$features] $level, $vector:
            sample(block: &[u8; 168], poly: &mut Poly, filled: usize) -> usize
                => Vector::sample;
            noise(bytes: &[u8; 128], poly: &mut Poly) -> () => code::noise;
            forward(poly: &mut Poly) -> () => generic::forward;
            factor(poly: &Poly, out: &mut Factor) -> () => generic::factor;
            product(polys: [&Poly; 3], factors: &[Factor; 3], out: &mut Poly) -> ()
                => generic::product;
            inverse_product(polys: [&Poly; 3], factors: &[Factor; 3], out: &mut Poly) -> ()
                => generic::inverse_product;
            put_public(product: &Poly, noise: &Poly, bytes: &mut [u8; 384]) -> ()
                => generic::put_public;
            put12(poly: &Poly, bytes: &mut [u8; 384]) -> () => code::put12;
            get12(bytes: &[u8; 384], poly: &mut Poly) -> () => code::get12;
            put10(poly: &Poly, noise: &Poly, bytes: &mut [u8; 320]) -> () => code::put10;
            get10(bytes: &[u8; 320], poly: &mut Poly) -> () => code::get10;
            put4(poly: &Poly, noise: &Poly, message: &[u8; 32], bytes: &mut [u8; 128]) -> ()
                => code::put4;
            message(bytes: &[u8; 128], poly: &Poly, out: &mut [u8; 32]) -> ()
                => code::message;
        }
    };
    (@ #[$features:meta] $level:ident, $vector:ident:
     $($f:ident($($arg:ident: $type:ty),*) -> $result:ty => $module:ident::$code:ident;)+) => {
        #[allow(unused_unsafe, reason = "portable functions need no instructions")]
        impl $crate::mlkem::kernel::Kernel for $level {
            $(
                #[inline(always)]
                fn $f($($arg: $type),*) -> $result {
                    #[$features]
                    fn $f($($arg: $type),*) -> $result {
                        kernel!(@call $vector $module::$code($($arg),*))
                    }
                    // SAFETY: only functions of the level name this type.
                    unsafe { $f($($arg),*) }
                }
            )+
        }
    };
    (@call $vector:ident Vector::sample($($arg:ident),*)) => {
        <$vector as $crate::mlkem::row::Vector>::sample($($arg),*)
    };
    (@call $vector:ident generic::$code:ident($($arg:ident),*)) => {
        $crate::mlkem::kernel::generic::$code::<$vector>($($arg),*)
    };
    (@call $vector:ident code::$code:ident($($arg:ident),*)) => {
        $crate::mlkem::code::$code::<$vector>($($arg),*)
    };
}
