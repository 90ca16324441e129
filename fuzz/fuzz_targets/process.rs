//! Any batch, of any algorithms, keys, lengths and directions, good messages and bad ones: it gives
//! what its messages give one by one.

#![no_main]

use lanecrypt_testing::property::process;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| process(input));
