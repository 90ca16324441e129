//! Montgomery arithmetic against a crate of long numbers, at every instruction set: sizes, edges,
//! every number of exponentiations side by side, and single operations.

use lanecrypt_kernels::Isa;
use lanecrypt_kernels::montgomery::{
    MAX_BITS, MIN_BITS, Modulus, Power, PublicPower, Workspace, from_be_bytes, multiply_add,
    powers, public_powers, to_be_bytes,
};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};
use num_bigint::BigUint;

fn long(limbs: &[u64]) -> BigUint {
    let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
    BigUint::from_bytes_le(&bytes)
}

fn limbs(number: &BigUint, length: usize) -> Vec<u64> {
    let mut limbs = number.to_u64_digits();
    assert!(limbs.len() <= length, "it fits");
    limbs.resize(length, 0);
    limbs
}

fn power_of_two(exponent: usize) -> BigUint {
    BigUint::from(1u8) << exponent
}

/// A number of `count` limbs: random, or limbs of zeros and ones, or few bits, or all ones.
fn number(numbers: &mut Numbers, count: usize) -> Vec<u64> {
    let form = numbers.below(8);
    (0..count)
        .map(|_| match form {
            0 => 0u64.wrapping_sub(numbers.number() & 1),
            1 => numbers.number() & numbers.number() & numbers.number() & numbers.number(),
            2 => numbers.number() | numbers.number() | numbers.number() | numbers.number(),
            3 => u64::MAX,
            _ => numbers.number(),
        })
        .collect()
}

/// An odd number of so many bits.
fn odd(numbers: &mut Numbers, bits: usize) -> BigUint {
    let any = long(&number(numbers, bits.div_ceil(64))) % power_of_two(bits - 1);
    power_of_two(bits - 1) | any | BigUint::from(1u8)
}

/// A number below `n`: at its ends, next to a power of two, or any.
fn below(numbers: &mut Numbers, n: &BigUint) -> BigUint {
    let bits = usize::try_from(n.bits()).expect("few");
    match numbers.below(10) {
        0 => BigUint::ZERO,
        1 => BigUint::from(1u8),
        2 => n - 1u8,
        3 => power_of_two(numbers.below(bits)) % n,
        4 => (power_of_two(numbers.below(bits)) - 1u8) % n,
        5 => n >> 1,
        _ => long(&number(numbers, bits.div_ceil(64) + 1)) % n,
    }
}

/// One exponentiation, or one times a factor, and its result.
struct Case {
    modulus: BigUint,
    base: BigUint,
    exponent: BigUint,
    factor: Option<BigUint>,
    result: BigUint,
}

impl Case {
    fn new(modulus: BigUint, base: BigUint, exponent: BigUint) -> Self {
        let result = base.modpow(&exponent, &modulus);
        Self { modulus, base, exponent, factor: None, result }
    }

    fn times(mut self, factor: Option<BigUint>) -> Self {
        if let Some(factor) = &factor {
            self.result = self.result * factor % &self.modulus;
        }
        Self { factor, ..self }
    }

    /// A random one, whose exponent has at most so many limbs.
    fn random(numbers: &mut Numbers, bits: usize, exponent: usize) -> Self {
        let modulus = odd(numbers, bits);
        let base = below(numbers, &modulus);
        let factor = (numbers.below(2) == 0).then(|| below(numbers, &modulus));
        Self::new(modulus, base, long(&number(numbers, exponent))).times(factor)
    }
}

/// Runs them side by side, with exponents of so many limbs.
fn run(isa: Isa, cases: &[Case], exponent_limbs: usize, workspace: &mut Workspace) {
    let moduli: Vec<Modulus> = cases
        .iter()
        .map(|case| Modulus::new(isa, &case.modulus.to_u64_digits()).expect("odd and long"))
        .collect();
    let length = |i: usize| moduli[i].limbs().len();
    let numbers = |of: fn(&Case) -> &BigUint| -> Vec<Vec<u64>> {
        cases.iter().enumerate().map(|(i, case)| limbs(of(case), length(i))).collect()
    };
    let bases = numbers(|case| &case.base);
    let exponents: Vec<_> =
        cases.iter().map(|case| limbs(&case.exponent, exponent_limbs)).collect();
    let factors: Vec<Option<Vec<u64>>> = cases
        .iter()
        .enumerate()
        .map(|(i, case)| Some(limbs(case.factor.as_ref()?, length(i))))
        .collect();
    let mut outs: Vec<_> = (0..cases.len()).map(|i| vec![7; length(i)]).collect();
    let mut jobs: Vec<_> = outs
        .iter_mut()
        .enumerate()
        .map(|(i, out)| Power {
            modulus: &moduli[i],
            base: &bases[i],
            exponent: &exponents[i],
            factor: factors[i].as_deref(),
            out,
        })
        .collect();
    powers(&mut jobs, workspace);
    for (i, case) in cases.iter().enumerate() {
        let Case { modulus, base, exponent, factor, result } = case;
        assert_eq!(
            &long(&outs[i]),
            result,
            "{base:x} ^ {exponent:x} * {factor:x?} mod {modulus:x}, {i} of {}, {isa:?}",
            cases.len()
        );
    }
}

/// Sizes of the moduli of keys, of their primes, and next to the ends of limbs and digits.
const SIZES: [usize; 24] = [
    256, 257, 258, 259, 310, 311, 384, 512, 518, 519, 576, 768, 1023, 1024, 1038, 1039, 1040, 1041,
    1100, 1536, 2047, 2048, 3072, 4096,
];

/// A tenth of the cases of every size, at every level, one and several at a time; most with short
/// exponents, and one in sixteen with those of full length.
#[test]
fn random_powers_of_every_size() {
    let mut numbers = Numbers(1);
    let mut workspace = Workspace::new();
    let count = cases::<usize>(10_000).div_ceil(10);
    for bits in SIZES {
        let mut done = 0;
        for turn in 0.. {
            let full = turn % 16 == 0 && bits <= 1100 || turn == 0 && bits <= 2048;
            let length = if full { bits.div_ceil(64) } else { 1 + numbers.below(2) };
            let together = (1 + numbers.below(9)).min(count - done);
            let batch: Vec<_> =
                (0..together).map(|_| Case::random(&mut numbers, bits, length)).collect();
            for isa in levels() {
                run(isa, &batch, length, &mut workspace);
            }
            done += together;
            if done == count {
                break;
            }
        }
    }
}

/// Every number of limbs that keys have, with short exponents.
#[test]
fn every_number_of_limbs() {
    let mut numbers = Numbers(8);
    let mut workspace = Workspace::new();
    for count in 4..=66 {
        let mut batch: Vec<_> = [64 * count, 64 * count - 63, 64 * count - numbers.below(64)]
            .into_iter()
            .flat_map(|bits| [bits; 3])
            .filter(|&bits| bits >= MIN_BITS)
            .map(|bits| Case::random(&mut numbers, bits, 1))
            .collect();
        // All limbs are ones, and numbers are next to the modulus.
        let modulus = power_of_two(64 * count) - 1u8;
        for less in [1u8, 2] {
            let base = &modulus - less;
            let case = Case::new(modulus.clone(), base.clone(), BigUint::from(u64::MAX));
            batch.push(case.times(Some(base)));
        }
        for isa in levels() {
            run(isa, &batch, 1, &mut workspace);
        }
    }
}

/// The longest moduli.
#[test]
fn longest() {
    let mut numbers = Numbers(2);
    let mut workspace = Workspace::new();
    for bits in [8190, 8191, 8192] {
        let batch: Vec<_> = (0..9).map(|_| Case::random(&mut numbers, bits, 1)).collect();
        for isa in levels() {
            run(isa, &batch[..1], 1, &mut workspace);
            run(isa, &batch, 1, &mut workspace);
        }
    }
}

/// Every number of exponentiations, of one size and of several, with other values in each place.
#[test]
fn every_count() {
    let mut numbers = Numbers(3);
    let mut workspace = Workspace::new();
    for count in (0..=17).chain([33, 70]) {
        for sizes in [&[512][..], &[1024], &[1024, 1020], &[256, 512, 1024], &[1536, 300]] {
            let batch: Vec<_> = (0..count)
                .map(|_| {
                    let bits = sizes[numbers.below(sizes.len())];
                    Case::random(&mut numbers, bits, 2)
                })
                .collect();
            for isa in levels() {
                run(isa, &batch, 2, &mut workspace);
            }
        }
    }
}

/// Moduli whose bits are almost all ones or zeros, with bases at their ends and multiples of
/// factors, to exponents at their ends, times factors at their ends.
#[test]
fn edges() {
    let one = BigUint::from(1u8);
    let mut workspace = Workspace::new();
    for bits in [256, 257, 300, 320, 512, 520, 1024, 1040] {
        let factor = power_of_two(bits / 2) - 1u8;
        let moduli = [
            power_of_two(bits) - 1u8,
            power_of_two(bits - 1) + 1u8,
            power_of_two(bits) - power_of_two(bits / 2) + 1u8,
            power_of_two(bits) - power_of_two(bits - 1) + power_of_two(bits / 3) - 1u8,
            &factor * (&factor + 2u8),
        ];
        let mut batch = Vec::new();
        for modulus in &moduli {
            let bases = [
                BigUint::ZERO,
                one.clone(),
                BigUint::from(2u8),
                modulus - 1u8,
                modulus - 2u8,
                (&factor * 3u8) % modulus,
                power_of_two(bits - 2),
                power_of_two(bits - 1) - 1u8,
            ];
            for base in bases {
                for exponent in [
                    BigUint::ZERO,
                    one.clone(),
                    BigUint::from(2u8),
                    power_of_two(127),
                    power_of_two(128) - 1u8,
                ] {
                    let factors =
                        [None, Some(BigUint::ZERO), Some(one.clone()), Some(modulus - 1u8)];
                    let factor = factors[batch.len() % factors.len()].clone();
                    batch.push(Case::new(modulus.clone(), base.clone(), exponent).times(factor));
                }
            }
        }
        for isa in levels() {
            for some in batch.chunks(3).step_by(7) {
                run(isa, some, 2, &mut workspace);
            }
            run(isa, &batch, 2, &mut workspace);
            run(isa, &batch[..1], 3, &mut workspace);
        }
    }
}

/// An exponent without limbs is zero.
#[test]
fn no_exponent() {
    let modulus = power_of_two(300) - 1u8;
    let batch: Vec<_> = (0..9u8)
        .map(|base| Case::new(modulus.clone(), BigUint::from(base), BigUint::ZERO))
        .collect();
    for isa in levels() {
        run(isa, &batch[..1], 0, &mut Workspace::new());
        run(isa, &batch, 0, &mut Workspace::new());
    }
}

/// Exponents of other lengths side by side.
#[test]
fn exponents_of_many_lengths() {
    let mut numbers = Numbers(4);
    let mut workspace = Workspace::new();
    let n = odd(&mut numbers, 512);
    for isa in levels() {
        let modulus = Modulus::new(isa, &n.to_u64_digits()).expect("odd and long");
        let base = limbs(&below(&mut numbers, &n), 8);
        let exponents: Vec<_> = (0..12).map(|i| number(&mut numbers, i % 9)).collect();
        let mut outs = vec![[0; 8]; 12];
        let mut jobs: Vec<_> = outs
            .iter_mut()
            .zip(&exponents)
            .map(|(out, exponent)| Power {
                modulus: &modulus,
                base: &base,
                exponent,
                factor: None,
                out,
            })
            .collect();
        powers(&mut jobs, &mut workspace);
        for (out, exponent) in outs.iter().zip(&exponents) {
            assert_eq!(long(out), long(&base).modpow(&long(exponent), &n), "{isa:?}");
        }
    }
}

/// Public exponents: those of keys, others, one exponent and several side by side; with factors for
/// all, for some, or for none. Products are among them.
#[test]
fn public_exponents() {
    let mut numbers = Numbers(5);
    let mut workspace = Workspace::new();
    let exponents = [65537, 3, 17, 1, 0, 2, 4, u64::MAX, 1 << 63, 0xffff_fffe, 65537, 65537];
    for round in 0..cases(200) {
        let count = [1, 2, 3, 8, 9, 17][numbers.below(6)];
        let sizes = [&[2048][..], &[1024], &[512, 1024], &[3000, 512]][numbers.below(4)];
        let same = (numbers.below(2) == 0).then(|| numbers.below(exponents.len()));
        let factors = numbers.below(3);
        let chosen: Vec<_> = (0..count)
            .map(|i| {
                let bits = sizes[numbers.below(sizes.len())];
                let n = odd(&mut numbers, bits);
                let base = below(&mut numbers, &n);
                let which = same.unwrap_or_else(|| i + numbers.below(exponents.len()));
                let exponent = exponents[which % exponents.len()];
                let has_factor = factors == 0 || factors == 1 && numbers.below(2) == 0;
                let factor = has_factor.then(|| below(&mut numbers, &n));
                (Case::new(n, base, BigUint::from(exponent)).times(factor), exponent)
            })
            .collect();
        for isa in levels() {
            let moduli: Vec<_> = chosen
                .iter()
                .map(|(case, _)| Modulus::new(isa, &case.modulus.to_u64_digits()))
                .map(|modulus| modulus.expect("odd and long"))
                .collect();
            let length = |i: usize| moduli[i].limbs().len();
            let bases: Vec<_> = chosen
                .iter()
                .enumerate()
                .map(|(i, (case, _))| limbs(&case.base, length(i)))
                .collect();
            let factors: Vec<Option<Vec<u64>>> = chosen
                .iter()
                .enumerate()
                .map(|(i, (case, _))| Some(limbs(case.factor.as_ref()?, length(i))))
                .collect();
            let mut outs = bases.clone();
            let mut jobs = Vec::new();
            for (i, out) in outs.iter_mut().enumerate() {
                let (modulus, base, exponent) = (&moduli[i], &bases[i], chosen[i].1);
                let factor = factors[i].as_deref();
                jobs.push(PublicPower { modulus, base, exponent, factor, out });
            }
            public_powers(&mut jobs, &mut workspace);
            for ((case, exponent), out) in chosen.iter().zip(&outs) {
                let Case { factor, result, .. } = case;
                assert_eq!(
                    &long(out),
                    result,
                    "{exponent}, {factor:x?}, round {round}, {count}, {isa:?}"
                );
            }
        }
    }
}

/// Products, sums, differences and remainders.
#[test]
fn single_operations() {
    let mut numbers = Numbers(6);
    let mut workspace = Workspace::new();
    for round in 0..cases(600) {
        let bits = 256 + numbers_below(round, 900);
        let bits = if round % 4 == 0 { bits.next_multiple_of(64) } else { bits };
        let n = odd(&mut numbers, bits);
        let modulus = Modulus::new(Isa::detect(), &n.to_u64_digits()).expect("odd and long");
        let length = modulus.limbs().len();
        assert_eq!(long(modulus.limbs()), n);
        assert_eq!(modulus.bits() as u64, n.bits());
        let [a, b] = core::array::from_fn(|_| below(&mut numbers, &n));
        let [one, other] = [&a, &b].map(|number| limbs(number, length));

        for isa in levels() {
            let modulus = Modulus::new(isa, &n.to_u64_digits()).expect("odd and long");
            let mut out = vec![0; length];
            modulus.multiply(&one, &other, &mut out, &mut workspace);
            assert_eq!(long(&out), &a * &b % &n, "{isa:?}");
        }
        let mut out = one.clone();
        modulus.add(&mut out, &other);
        assert_eq!(long(&out), (&a + &b) % &n);
        let mut out = one.clone();
        modulus.subtract(&mut out, &other);
        assert_eq!(long(&out), (&a + &n - &b) % &n);

        let some = numbers.below(3 * length);
        let wide = number(&mut numbers, some);
        let mut out = vec![0; length];
        modulus.reduce(&wide, &mut out, &mut workspace);
        assert_eq!(long(&out), long(&wide) % &n, "{some} limbs");
        // As long as the modulus, and next to it.
        for near in [&n - 1u8, n.clone(), power_of_two(64 * length) - 1u8] {
            modulus.reduce(&limbs(&near, length), &mut out, &mut workspace);
            assert_eq!(long(&out), near % &n, "{} bits", n.bits());
        }
        let multiple = limbs(&(&n * &a), 2 * length);
        modulus.reduce(&multiple, &mut out, &mut workspace);
        assert_eq!(long(&out), BigUint::ZERO);

        let summand = number(&mut numbers, length);
        let mut out = vec![0; wide.len() + length];
        multiply_add(&wide, &one, &summand[..length.min(out.len())], &mut out);
        if some > 0 {
            assert_eq!(long(&out), long(&wide) * &a + long(&summand));
        }
    }
}

fn numbers_below(round: u64, bound: usize) -> usize {
    usize::try_from(round * 37 % bound as u64).expect("few")
}

/// Generated keys, and answers of independent implementations: with the two primes, with the whole
/// private exponent, and back with the public one.
#[test]
fn known_answers() {
    let keys = [
        [
            "fe4bfae51c218171ca5c011adbdfdc59595e7f4ad25957c51102a66fd44a76c1",
            "fb04d1b515d9a93bea44879185f44746be95fcefa1b821afabaa9cf449221529",
            "4960e559fd3f11da22f95f7c3f9c1e3a4e167d86baa1fb38ab4ae779f7793141",
            "78196a2c75f3da20ac8975438f0fbd3a7fdd4b536bd0a96d5f7915f75b364f61",
            "647123f09e4629f38c6781400511a57c8bf34089f6862c24b39cb8128a520736",
            "14c60f7819d2dffdf9844e27e119017782ef4e5354aeb81ebe834d94d130919a1092adfc70f9\
             77519031f373fa6c8a2864a11fa43e548e8a699ae58f07fe9801",
            "f959487e776b2c7cf9eafac1e328d1534a066f869c8261c7ac13525696aa0c22556f7d3aaf89\
             e71dd5ccc737710b4e0df04434765f79ca6d6df80e07ea4cd9e8",
            "f959487e776b2c7cf9eafac1e328d1534a066f869c8261c7ac13525696aa0c22556f7d3aaf89\
             e71dd5ccc737710b4e0df04434765f79ca6d6df80e07ea4cd9e8",
        ],
        [
            "eea6469b555e4ea7a38ed856413b6dc56a34f7d24fcc21b265b7fa5786f3d90f5ac832ffe330\
             befe40f6284962308b169883162712c786e3bdedb1d0bdf9536b",
            "c0337ce226a1ac2f260397ce57793b68ba783049ddc8d0750f8001152bf0097e305db3a3d7b8\
             0f3ca8886f3ffc982ee9014b93688c017cd4ccd0712a6614d353",
            "de1783d1ff2a5acc8bdbdddcb7ac54c5c9c72d725dacbd1746ae669d9a0bc8cf0f4f0c973299\
             24c57d3317dee33005e0ab6222f58df67dc3e7f712ea0e41bfad",
            "a10240eadebbef172c3c344eaa1ea7f30acaa6812aa71062101306552b12919141892d74e2c0\
             911b1a7ff8da5c8b4c38eb59d969ea6750a09fd73a05efb0207b",
            "b055b63795806d917b05340684fe9cde231e16230e1e9a8de35e759c7c4fddd03d8c9abcaba1\
             2f9074c90f3afa6d99404867c6072a62ca11cb201f032a4f9d69",
            "0c1150bee50a5271859245bb191a9824d997c14363316fccd7ddcfdf3b433748425793f59ccb\
             266c8837415ba10dc9a56395d4073212a019a32ac83eea78ab88184b6c622dd586c33c3488bf\
             ec4de9435f187b8ee74b36a8c97d73542aa8685ef0c61212390bb0b3971a4aed4866668c9d34\
             ed31a546968bf54666cef6d78519",
            "b32cb47fedf9b4d3932f66bc135a6ea067bbf5f987e09f823e1857fc0188ac5664e7e3ff9466\
             b9ce0b1f869ae06a6858ec59fd4687d1ba6b22f04e82c47884bfac09f0d22c4b6931aad1f145\
             7bedefe534185fa2c7fa34d9ddbe59f01eaeb400541bf9729cfa4e5cc569d4a4203ea1d07e2c\
             8672a61b3e8fd149cc873df33cb0",
            "b32cb47fedf9b4d3932f66bc135a6ea067bbf5f987e09f823e1857fc0188ac5664e7e3ff9466\
             b9ce0b1f869ae06a6858ec59fd4687d1ba6b22f04e82c47884bfac09f0d22c4b6931aad1f145\
             7bedefe534185fa2c7fa34d9ddbe59f01eaeb400541bf9729cfa4e5cc569d4a4203ea1d07e2c\
             8672a61b3e8fd149cc873df33cb0",
        ],
    ];
    let mut workspace = Workspace::new();
    for [p, q, dp, dq, qinv, d, message, signature] in
        keys.map(|key| key.map(|field| BigUint::from_bytes_be(&hex(field))))
    {
        let n = &p * &q;
        let half = p.to_u64_digits().len();
        let [of_p, of_q, qinv] = [&p, &q, &qinv].map(|number| limbs(number, half));
        let message = limbs(&message, 2 * half);
        for isa in levels() {
            let [p, q] = [&of_p, &of_q].map(|prime| Modulus::new(isa, prime).expect("a prime"));
            let n = Modulus::new(isa, &n.to_u64_digits()).expect("odd and long");
            let [mut base_p, mut base_q, mut from_p, mut from_q] = [(); 4].map(|()| vec![0; half]);
            p.reduce(&message, &mut base_p, &mut workspace);
            q.reduce(&message, &mut base_q, &mut workspace);
            let [dp, dq] = [&dp, &dq].map(|number| limbs(number, half));
            let mut jobs = [
                Power { modulus: &p, base: &base_p, exponent: &dp, factor: None, out: &mut from_p },
                Power { modulus: &q, base: &base_q, exponent: &dq, factor: None, out: &mut from_q },
            ];
            powers(&mut jobs, &mut workspace);
            let [mut difference, mut h] = [(); 2].map(|()| vec![0; half]);
            p.reduce(&from_q, &mut difference, &mut workspace);
            p.subtract(&mut from_p, &difference);
            p.multiply(&from_p, &qinv, &mut h, &mut workspace);
            let mut out = vec![0; 2 * half];
            multiply_add(&h, q.limbs(), &from_q, &mut out);
            assert_eq!(long(&out), signature, "by the primes, {isa:?}");
            n.power(&message, &limbs(&d, 2 * half), &mut out, &mut workspace);
            assert_eq!(long(&out), signature, "by the exponent, {isa:?}");
            let mut back = vec![0; 2 * half];
            n.public_power(&out, 65537, &mut back, &mut workspace);
            assert_eq!(back, message, "back, {isa:?}");
        }
    }
}

#[test]
fn contains_what_is_less() {
    let n = power_of_two(300) - power_of_two(100) + 1u8;
    let modulus = Modulus::new(Isa::detect(), &n.to_u64_digits()).expect("odd and long");
    for (number, less) in [
        (BigUint::ZERO, true),
        (&n - 1u8, true),
        (n.clone(), false),
        (&n + 1u8, false),
        (power_of_two(64) - 1u8, true),
        (power_of_two(320) - 1u8, false),
    ] {
        assert_eq!(modulus.contains(&limbs(&number, 5)), less, "{number:x}");
    }
}

#[test]
fn moduli_that_are_refused() {
    let of = |n: &BigUint| Modulus::new(Isa::detect(), &n.to_u64_digits()).is_some();
    assert!(!of(&BigUint::ZERO));
    assert!(!of(&BigUint::from(1u8)));
    assert!(!of(&power_of_two(300)));
    assert!(!of(&(power_of_two(MIN_BITS - 1) - 1u8)));
    assert!(of(&(power_of_two(MIN_BITS - 1) + 1u8)));
    assert!(of(&(power_of_two(MAX_BITS) - 1u8)));
    assert!(!of(&(power_of_two(MAX_BITS) + 1u8)));
    assert!(Modulus::new(Isa::detect(), &[]).is_none());
    let padded = [limbs(&(power_of_two(256) - 1u8), 4), vec![0; 300]].concat();
    let modulus = Modulus::new(Isa::detect(), &padded).expect("odd and long");
    assert_eq!(modulus.limbs().len(), 4);
}

#[test]
fn bytes() {
    let mut numbers = Numbers(7);
    for length in 0..40 {
        let bytes = numbers.bytes(length);
        for count in 0..7 {
            let mut limbs = vec![9; count];
            let whole = BigUint::from_bytes_be(&bytes);
            let fits = whole.bits() <= 64 * count as u64;
            assert_eq!(from_be_bytes(&bytes, &mut limbs), fits, "{length} in {count}");
            assert_eq!(long(&limbs), &whole % power_of_two(64 * count));
            for room in 0..50 {
                let mut back = vec![9; room];
                let fits = long(&limbs).bits() <= 8 * room as u64;
                assert_eq!(to_be_bytes(&limbs, &mut back), fits, "{count} in {room}");
                let rest = long(&limbs) % power_of_two(8 * room);
                assert_eq!(BigUint::from_bytes_be(&back), rest);
            }
        }
    }
}

#[test]
fn debug_shows_no_value() {
    let modulus = Modulus::new(Isa::PORTABLE, &[0xcdcd_cdcd_cdcd_cdcd; 4]).expect("odd and long");
    let shown = format!("{modulus:?}");
    assert!(!shown.contains("cd") && !shown.contains(&0xcdu8.to_string()), "{shown}");
}
