//! Any batch, of any algorithms, keys, lengths and directions, good messages and bad ones: it gives
//! what its messages give one by one.

#![no_main]

#[path = "../../ciphers/tests/property/bytes.rs"]
#[allow(dead_code, reason = "the properties of ciphers use more of it")]
mod bytes;
#[path = "../../engine/tests/common/mod.rs"]
#[allow(dead_code, reason = "the tests of batches use all of it")]
mod common;
#[path = "../../engine/tests/property/process.rs"]
mod process;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| process::process(input));
