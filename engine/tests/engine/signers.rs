//! Keys of several sizes.

use std::sync::Arc;

use lanecrypt_rsa::{Hash, Padding, PrivateKey};

use crate::rsa_common;

/// A key, and the padding of its signatures.
#[derive(Clone)]
pub(crate) struct Signer {
    pub(crate) key: Arc<PrivateKey>,
    pub(crate) padding: Padding,
}

/// Keys of 512 to 2048 bits, with and without their primes, and with several paddings.
pub(crate) fn signers() -> Vec<Signer> {
    let (keys, _) = rsa_common::vectors();
    let paddings = [
        Padding::pkcs1v15(Hash::SHA256),
        Padding::pss(Hash::SHA256),
        Padding::pkcs1v15(Hash::SHA512),
        Padding::pss_with_salt_length(Hash::SHA384, 0),
    ];
    let sizes = [512, 768, 1024, 1536, 2048];
    let names = sizes.map(|bits| format!("generated-{bits}-1"));
    let signers = names.iter().enumerate().flat_map(|(at, name)| {
        let numbers = &keys[name];
        let without = numbers.key_without_primes().expect("a good key");
        let both = [numbers.key().expect("a good key"), without];
        // 512 bits have no room for more.
        let padding = if at == 0 { paddings[0] } else { paddings[at % 4] };
        both.map(|key| Signer { key: Arc::new(key), padding })
    });
    signers.collect()
}
