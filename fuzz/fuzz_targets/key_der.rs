//! Any bytes as a private or a public key of RSA, in DER and PEM.

#![no_main]

use lanecrypt_testing::key_der::key_der;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    key_der(input);
});
