//! Any sequence of nonces: none comes twice, and it ends where it should.

#![no_main]

use lanecrypt_testing::property::nonce_sequence;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| nonce_sequence(input));
