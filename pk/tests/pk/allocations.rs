//! Processing allocates nothing. (AWS-LC does.)

use lanecrypt_pk::mlkem768::DecapsulationKey;
use lanecrypt_pk::{Backend, Options, Request, ed25519, p256, x25519};
use lanecrypt_testing::counting::{Counting, calls};

use crate::common::levels;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn nothing_is_allocated() {
    let x25519 = x25519::SecretKey::generate().expect("entropy");
    let x25519_public = x25519.public_key();
    let ed25519 = ed25519::SigningKey::generate().expect("entropy");
    let secret = p256::SecretKey::generate().expect("entropy");
    let p256 = p256::SigningKey::generate().expect("entropy");
    let mlkem = DecapsulationKey::generate().expect("entropy");
    let ciphertext = [7; 1088];
    for isa in levels() {
        for backend in [Backend::Own, Backend::Lanes] {
            let options = Options::new().with_isa(isa).with_backend(backend);
            for turn in 0..2 {
                let mut outs: Vec<_> =
                    (0..19).map(|_| ([0; 32], [0; 64], [0; 65], [0; 1088], None)).collect();
                let mut requests: Vec<_> = outs
                    .iter_mut()
                    .enumerate()
                    .map(|(i, (a, b, c, d, e))| match i % 9 {
                        0 => Request::x25519_public_key(&x25519, a),
                        1 => Request::x25519_shared_secret(&x25519, &x25519_public, a),
                        2 => Request::ed25519_sign(&ed25519, b"message", b),
                        3 => Request::ed25519_verify(ed25519.verifying_key(), b"message", b),
                        4 => Request::p256_public_key(&secret, c),
                        5 => Request::p256_shared_secret(&secret, p256.public_key(), a),
                        6 => Request::p256_sign(&p256, b"message", b),
                        7 => Request::mlkem768_encapsulate(mlkem.encapsulation_key(), d, a),
                        8 if i > 9 => Request::mlkem768_generate(e),
                        _ => Request::mlkem768_decapsulate(&mlkem, &ciphertext, a),
                    })
                    .collect();
                let allocated = calls(|| {
                    let _ = options.process(&mut requests);
                });
                assert!(turn == 0 || allocated == 0, "{options:?}: {allocated} calls");
            }
        }
    }
}
