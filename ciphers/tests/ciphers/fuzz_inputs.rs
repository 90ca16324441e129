//! The properties of the fuzz targets, on inputs that are the same in every run.

use lanecrypt_ciphers::Algorithm;
use lanecrypt_testing::property::{nonce_sequence, seal_open, streaming_splits};

/// Marsaglia's xorshift.
struct Numbers(u64);

impl Numbers {
    fn byte(&mut self) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d).to_le_bytes()[7]
    }
}

/// How many inputs for each algorithm and level: so many as the environment says, or a few.
fn cases() -> u64 {
    match std::env::var("LANECRYPT_CASES") {
        Ok(n) => n.parse::<u64>().expect("LANECRYPT_CASES is a number").div_ceil(1500),
        Err(_) => 30,
    }
}

#[test]
fn any_split_gives_the_same_at_every_level() {
    let mut numbers = Numbers(0x6c61_6e65_6372_7970);
    for algorithm in 0..u8::try_from(Algorithm::ALL.len()).expect("a short table") {
        for level in 0..6 {
            for case in 0..cases() {
                let length = if case % 4 == 0 { 40 } else { 100 + usize::from(numbers.byte()) * 4 };
                let mut input = vec![algorithm, level, u8::from(case % 2 == 1)];
                input.resize_with(length, || numbers.byte());
                streaming_splits(&input);
            }
        }
    }
}

#[test]
fn any_message_is_sealed_and_opened_at_every_level() {
    let mut numbers = Numbers(0x7365_616c_6564_2121);
    for _ in 0..2000.max(3 * cases()) {
        let length = 60 + usize::from(numbers.byte()) * usize::from(1 + numbers.byte() % 5);
        let mut input = Vec::new();
        input.resize_with(length, || numbers.byte());
        seal_open(&input);
    }
}

#[test]
fn any_sequence_of_nonces_is_without_repeats() {
    let mut numbers = Numbers(0x6e6f_6e63_6573_2121);
    for _ in 0..5000.max(30 * cases()) {
        let mut input = Vec::new();
        input.resize_with(60, || numbers.byte());
        nonce_sequence(&input);
    }
}

/// Inputs that a fuzzer begins with.
#[test]
fn short_and_dull_inputs_are_cases_too() {
    for length in [0, 1, 2, 3, 19, 20, 35, 36, 300] {
        for byte in [0, 1, 0x7f, 0xff] {
            let input = vec![byte; length];
            streaming_splits(&input);
            seal_open(&input);
            nonce_sequence(&input);
        }
    }
}
