//! Any algorithm, key, message and way to cut it into calls: streaming gives what one call gives.

#![no_main]

#[path = "../../ciphers/tests/property/bytes.rs"]
mod bytes;
#[path = "../../ciphers/tests/property/streaming_splits.rs"]
mod streaming_splits;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| streaming_splits::streaming_splits(input));
