//! Any message of any cipher with authentication, sealed, opened and forged, whole and in pieces.

#![no_main]

use lanecrypt_testing::property::seal_open;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| seal_open(input));
