//! The property of the fuzz target, on inputs that are the same in every run.

use lanecrypt_testing::batches::numbers::{Numbers as _, Random};
use lanecrypt_testing::property::process;

/// The number of inputs: a twentieth of `LANECRYPT_CASES`, or a default.
fn cases() -> usize {
    std::env::var("LANECRYPT_CASES")
        .map_or(1500, |n| n.parse::<usize>().expect("LANECRYPT_CASES is a number").div_ceil(20))
}

#[test]
fn any_batch_gives_what_its_messages_give_one_by_one() {
    let mut numbers = Random(0x7072_6f63_6573_7321);
    for _ in 0..cases() {
        let length = 60 + numbers.below(1500);
        process(&numbers.bytes(length));
    }
}

/// Inputs such as a fuzzer begins with.
#[test]
fn short_and_dull_inputs_are_cases_too() {
    for length in [0, 1, 2, 3, 19, 20, 35, 36, 300] {
        for byte in [0, 1, 0x7f, 0xff] {
            process(&vec![byte; length]);
        }
    }
}
