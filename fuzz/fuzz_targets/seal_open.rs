//! Any message of any cipher with authentication, sealed, opened and forged, whole and in pieces.

#![no_main]

#[path = "../../ciphers/tests/property/bytes.rs"]
mod bytes;
#[path = "../../ciphers/tests/property/seal_open.rs"]
mod seal_open;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| seal_open::seal_open(input));
