//! The reproducible generator gives the numbers that its documentation promises.

use chacha20::ChaCha8Rng;
use lanecrypt_random::InsecureRng;
use lanecrypt_random::rand_core::{Rng, SeedableRng};
use lanecrypt_testing::harness::Case;

pub(crate) const CASES: &[Case] = &[
    Case(
        "insecure::it_equals_the_generators_of_other_crates",
        it_equals_the_generators_of_other_crates,
    ),
    Case("insecure::its_numbers_are_fixed", its_numbers_are_fixed),
    Case("insecure::a_clone_goes_on_alike", a_clone_goes_on_alike),
    Case("insecure::the_traits_give_the_same", the_traits_give_the_same),
];

/// Calls of every kind, in an order that crosses the buffer's end at each place of a word.
fn it_equals_the_generators_of_other_crates() {
    for seed in 0..4 {
        let (mut ours, mut theirs) =
            (InsecureRng::seed_from_u64(seed), ChaCha8Rng::seed_from_u64(seed));
        for step in 0..5000_usize {
            match step * 7 % 5 {
                0 | 1 => assert_eq!(ours.u32(), theirs.next_u32(), "seed {seed}, step {step}"),
                2 => assert_eq!(ours.u64(), theirs.next_u64(), "seed {seed}, step {step}"),
                _ => {
                    let mut bytes = [[0; 3000]; 2];
                    let length = step * step % if step % 100 == 3 { 3000 } else { 40 };
                    ours.fill(&mut bytes[0][..length]);
                    theirs.fill_bytes(&mut bytes[1][..length]);
                    assert_eq!(bytes[0], bytes[1], "seed {seed}, step {step}");
                }
            }
        }
    }
    let seed: [u8; 32] = core::array::from_fn(|at| at.to_le_bytes()[0]);
    let (mut ours, mut theirs) = (InsecureRng::from_seed(seed), ChaCha8Rng::from_seed(seed));
    assert_eq!(ours.u64(), theirs.next_u64());
}

/// These numbers must never change: simulations are repeated years later.
fn its_numbers_are_fixed() {
    let mut rng = InsecureRng::seed_from_u64(7);
    let numbers = [rng.u64(), rng.u32().into(), rng.range(0..1000)];
    assert_eq!(numbers, [2_910_824_217_569_608_635, 781_920_570, 167]);
}

fn a_clone_goes_on_alike() {
    let mut rng = InsecureRng::seed_from_u64(1);
    for draws in [0, 1, 255, 256, 700] {
        for _ in 0..draws {
            let _ = rng.u32();
        }
        let mut clone = rng.clone();
        for _ in 0..1000 {
            assert_eq!(rng.u32(), clone.u32(), "after {draws} more draws");
        }
    }
}

/// It has the traits of `rand_core` 0.10, through which other crates use it.
fn the_traits_give_the_same() {
    let (mut own, mut by_trait) = (InsecureRng::seed_from_u64(3), InsecureRng::seed_from_u64(3));
    assert_eq!(own.u32(), Rng::next_u32(&mut by_trait));
    assert_eq!(own.u64(), Rng::next_u64(&mut by_trait));
    let mut bytes = [[0; 77]; 2];
    own.fill(&mut bytes[0]);
    by_trait.fill_bytes(&mut bytes[1]);
    assert_eq!(bytes[0], bytes[1]);
    assert_eq!(format!("{own:?}"), "InsecureRng { .. }");
}
