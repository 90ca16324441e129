//! Both forms of the field: without overflow at the stated bounds, by arithmetic of intervals, and
//! right, by comparison with long integers.

mod intervals;

use num_bigint::BigUint;

use self::intervals::{Interval, check_truncations};
use super::limbs25::{self, Limbs25};
use super::limbs51::{self, Limbs51, Wide51};
use super::*;

/// The results of all operations, on any limbs up to the bounds.
struct Results<F: Field> {
    products: [F::Wide; 3],
    /// Of sums and differences of two products.
    settled: Vec<F>,
    carried: Vec<F>,
}

/// Runs all operations on elements, carried elements and products. A step that may overflow, or
/// take an operand that is too long, panics.
fn all_operations<F: Field<Words = Interval>>(
    element: F,
    carried: F,
    product: F::Wide,
) -> Results<F> {
    let twice = F::sum(product, product);
    let thrice = F::sum(twice, product);
    let most = F::difference(thrice, product);
    let of_elements = F::difference(F::sum(element.widen(), element.widen()), carried.widen());
    let long = F::sum(product, element.times((1 << 17) - 1));
    carried.to_words();
    F::equal(product, product);
    F::equal(carried.widen(), carried.widen());
    Results {
        products: [element.multiply(&element), element.square(), product],
        settled: vec![
            F::settle(product),
            F::settle(twice),
            F::settle(F::difference(product, product)),
            F::select(Interval::up_to(u64::MAX), element, element),
        ],
        carried: vec![
            F::carry(product),
            F::carry(F::sum(twice, twice)),
            F::carry(most),
            F::carry(of_elements),
            F::carry(long),
            F::from_limbs51(F::carry(most).to_limbs51()),
            F::from_limbs51([Interval::up_to(MASK51); 5]),
            carried.negative(),
            F::from_words([Interval::up_to(u64::MAX); 4]),
            F::select(Interval::up_to(u64::MAX), carried, carried),
        ],
    }
}

#[test]
fn five_limbs_do_not_overflow() {
    let element = Limbs51::of([Interval::up_to(limbs51::ELEMENT); 5]);
    let product = Wide51::of([Interval::up_to(limbs51::PRODUCT); 5]);
    let Results { products, settled, carried } = all_operations(element, element, product);
    check_truncations();
    for limb in settled.into_iter().chain(carried).flat_map(Limbs51::to_limbs51) {
        assert!(limb.most() <= limbs51::ELEMENT, "{limb:?}");
    }
    for limb in products.into_iter().flat_map(Wide51::limbs) {
        assert!(limb.most() <= limbs51::PRODUCT, "{limb:?}");
    }
    // Elements count as products; any word can be carried.
    const { assert!(limbs51::ELEMENT <= limbs51::PRODUCT) };
    for limb in Limbs51::carry(Wide51::of([Interval::up_to(u64::MAX); 5])).to_limbs51() {
        assert!(limb.most() <= limbs51::ELEMENT);
    }
}

#[test]
fn ten_limbs_do_not_overflow() {
    let by_turns = |bounds: [u64; 2]| core::array::from_fn(|i| Interval::up_to(bounds[i % 2]));
    let element = Limbs25::of(by_turns(limbs25::ELEMENT));
    let carried = Limbs25::of(by_turns(limbs25::CARRIED));
    let Results { products, settled, carried } = all_operations(element, carried, carried);
    let are_within = |numbers: Vec<Limbs25<Interval>>, bounds: [u64; 2]| {
        for (i, limb) in numbers.into_iter().flat_map(|it| it.limbs().into_iter().enumerate()) {
            assert!(limb.most() <= bounds[i % 2], "{i} {limb:?}");
        }
    };
    are_within(settled, limbs25::ELEMENT);
    are_within(carried, limbs25::CARRIED);
    are_within(products.to_vec(), limbs25::CARRIED);
}

/// Numbers of a simple generator.
struct Numbers(u64);

impl Numbers {
    /// The bound, zero, or anything between.
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let number = self.0 ^ self.0 >> 29;
        match self.0 >> 61 {
            0 => 0,
            1 | 2 => bound,
            3 => bound - number % 64,
            _ => number % (bound + 1),
        }
    }
}

fn modulus() -> BigUint {
    (BigUint::from(1_u8) << 255) - 19_u8
}

/// The sum of limbs at the given places.
fn value(limbs: &[u64], places: &[u32]) -> BigUint {
    let sum = limbs.iter().zip(places).map(|(&limb, &place)| BigUint::from(limb) << place);
    sum.sum::<BigUint>() % modulus()
}

/// Compares all operations with long integers.
fn compare<F: Field<Words = u64>>(elements: [F; 3], value: impl Fn(F::Wide) -> BigUint) {
    let p = modulus();
    let [a, b, c] = elements;
    let [av, bv, cv] = elements.map(|element| value(element.widen()));
    let (ab, cc) = (a.multiply(&b), c.square());
    let (abv, ccv) = (&av * &bv % &p, &cv * &cv % &p);
    assert_eq!(value(ab), abv);
    assert_eq!(value(cc), ccv);
    assert_eq!(value(a.times(121_666)), &av * 121_666_u32 % &p);
    assert_eq!(value(F::carry(ab).widen()), abv);
    assert_eq!(value(F::sum(ab, cc)), (&abv + &ccv) % &p);
    assert_eq!(value(F::difference(F::sum(ab, ab), cc)), (&abv + &abv + &p - &ccv) % &p);
    assert_eq!(value(F::settle(F::difference(ab, cc)).widen()), (&abv + &p - &ccv) % &p);
    assert_eq!(value(a.product(&b).widen()), abv);
    assert_eq!(value(c.squared().widen()), ccv);
    let a = F::carry(a.widen());
    assert_eq!(value(a.negative().widen()), (&p - &av) % &p);
    assert_eq!(value(F::select(u64::MAX, a, b).widen()), av);
    assert_eq!(value(F::select(0, a, b).widen()), bv);
    let words = a.to_words().map(|word| u64::store(word)[0]);
    let number: BigUint = (0..4).map(|i| BigUint::from(words[i]) << (64 * i)).sum();
    assert_eq!(number, av);
    assert_eq!(value(F::from_words(words).widen()), av);
    assert_eq!(F::equal(ab, F::carry(ab).widen()), u64::MAX);
    assert_eq!(F::equal(ab, F::sum(ab, F::small(1).widen())), 0);
    assert_eq!(value(inverse(a).widen()), av.modpow(&(&p - 2_u8), &p));
    let [root, other] = root_powers([a, b]).map(|root| value(root.widen()));
    let exponent = (&p - 5_u8) >> 3;
    assert_eq!([root, other], [av.modpow(&exponent, &p), bv.modpow(&exponent, &p)]);
}

#[test]
fn five_limbs_are_right() {
    let mut numbers = Numbers(1);
    for _ in 0..400 {
        let mut element = || Limbs51::of(core::array::from_fn(|_| numbers.below(limbs51::ELEMENT)));
        compare([element(), element(), element()], |wide: Wide51<u64>| {
            value(&wide.limbs(), &[0, 51, 102, 153, 204])
        });
    }
}

#[test]
fn ten_limbs_are_right() {
    let mut numbers = Numbers(2);
    for _ in 0..400 {
        let mut element =
            || Limbs25::of(core::array::from_fn(|i| numbers.below(limbs25::ELEMENT[i % 2])));
        compare([element(), element(), element()], |wide: Limbs25<u64>| {
            value(&wide.limbs(), &[0, 26, 51, 77, 102, 128, 153, 179, 204, 230])
        });
    }
}

/// The largest numbers of 255 bits, around the modulus.
#[test]
fn the_number_is_less_than_the_modulus() {
    let p = modulus();
    for offset in 0..40_u32 {
        let number = (&p + 18_u32) - offset;
        let digits = number.to_u64_digits();
        let words = core::array::from_fn(|i| digits[i]);
        let expected: Vec<_> = (number % &p).iter_u64_digits().chain([0; 4]).take(4).collect();
        assert_eq!(Limbs51::<u64>::from_words(words).to_words()[..], expected, "{offset}");
        assert_eq!(Limbs25::<u64>::from_words(words).to_words()[..], expected, "{offset}");
    }
}

/// Zeros in some lanes, as 0 or as the modulus, do not change the inverses of the others.
#[test]
fn lanes_are_inverted_together() {
    let p = modulus();
    let mut numbers = Numbers(3);
    for round in 0..200_u32 {
        let mut limbs = [[0; 8]; 5];
        limbs.as_flattened_mut().fill_with(|| numbers.below(limbs51::ELEMENT));
        let zero = if round % 2 == 0 { [0; 5] } else { limbs51::BIAS.map(|limb| limb / 32) };
        for lane in (0..8).filter(|lane| round >> lane & 1 == 1) {
            (0..5).for_each(|k| limbs[k][lane] = zero[k]);
        }
        let of = |limbs: &[[u64; 8]; 5], lane: usize| {
            value(&limbs.map(|limb| limb[lane]), &[0, 51, 102, 153, 204])
        };
        let lanes = 1 + round as usize % 8;
        let mut inverses = limbs;
        single::invert_each(&mut inverses, lanes);
        for lane in 0..8 {
            let number = of(&limbs, lane);
            let expected =
                if lane < lanes { number.modpow(&(&p - 2_u8), &p) } else { number.clone() };
            assert_eq!(of(&inverses, lane), expected, "{lane} of {lanes}: {number}");
        }
    }
}
