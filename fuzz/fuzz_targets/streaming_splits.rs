//! Any algorithm, key, message and way to cut it into calls: streaming gives what one call gives.

#![no_main]

#[path = "../../ciphers/tests/property/mod.rs"]
mod property;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| property::streaming_splits(input));
