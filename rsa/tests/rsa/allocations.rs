//! A workspace allocates nothing once it has seen a batch of that size. (AWS-LC does.)

use lanecrypt_rsa::{Backend, Hash, Padding, PrivateKey, Request, Workspace, process};
use lanecrypt_testing::counting::{Counting, calls};
use lanecrypt_testing::levels;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn nothing_after_the_first_batch() {
    let key = PrivateKey::from_pem(include_str!("../key.pem")).expect("a good key");
    for isa in levels() {
        let keys = [key.with_isa(isa), key.without_primes().with_isa(isa)];
        let mut workspace = Workspace::with_backend(Backend::Own);
        let mut signatures = vec![vec![0; 256]; 5];
        let paddings = [Padding::pss(Hash::SHA256), Padding::pkcs1v15(Hash::SHA512)];
        for turn in 0..2 {
            for i in 0..signatures.len() {
                // Both requests use what the batch left.
                let (signed, rest) = signatures.split_at_mut(i);
                let mut requests: Vec<_> = rest
                    .iter_mut()
                    .map(|out| Request::sign(&keys[i % 2], paddings[i % 2], b"message", out))
                    .chain(signed.iter().enumerate().map(|(i, signature)| {
                        Request::verify(keys[0].public_key(), paddings[i % 2], b"x", signature)
                    }))
                    .collect();
                let allocated = calls(|| {
                    let _ = process(&mut requests, &mut workspace);
                });
                assert!(turn == 0 || allocated == 0, "turn {turn}: {allocated} calls");
            }
        }
    }
}
