//! Any sequence of nonces: none comes twice, and it ends where it should.

#![no_main]

#[path = "../../ciphers/tests/property/bytes.rs"]
mod bytes;
#[path = "../../ciphers/tests/property/nonce_sequence.rs"]
mod nonce_sequence;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| nonce_sequence::nonce_sequence(input));
