//! Any algorithm, key, message and way to cut it into calls: streaming gives what one call gives.

#![no_main]

use lanecrypt_testing::property::streaming_splits;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| streaming_splits(input));
