//! The module in every libcrypto that is here, against OpenSSL's default provider: never against
//! itself, because what both sides do wrong would pass.

mod calls;
mod curves;
mod daemon;
mod evp;
mod filters;
mod jobs;
mod keys;
mod messages;
mod random;
mod records;
mod scripts;
mod signatures;
mod table;
mod tls;
mod vectors;

use std::sync::{PoisonError, RwLock};

use evp::{Context, libraries};

/// The ciphers of the module, with all their names.
const NAMES: [&[&str]; 12] = [
    &["AES-128-GCM", "id-aes128-GCM", "2.16.840.1.101.3.4.1.6"],
    &["AES-192-GCM", "id-aes192-GCM", "2.16.840.1.101.3.4.1.26"],
    &["AES-256-GCM", "id-aes256-GCM", "2.16.840.1.101.3.4.1.46"],
    &["ChaCha20-Poly1305"],
    &["AES-128-CTR"],
    &["AES-192-CTR"],
    &["AES-256-CTR"],
    &["AES-128-CBC", "AES128", "2.16.840.1.101.3.4.1.2"],
    &["AES-192-CBC", "AES192", "2.16.840.1.101.3.4.1.22"],
    &["AES-256-CBC", "AES256", "2.16.840.1.101.3.4.1.42"],
    &["AES-128-XTS", "1.3.111.2.1619.0.1.1"],
    &["AES-256-XTS", "1.3.111.2.1619.0.1.2"],
];

/// Those that authenticate, with the length of their keys.
const AEADS: [(&str, usize); 4] =
    [("AES-128-GCM", 16), ("AES-192-GCM", 24), ("AES-256-GCM", 32), ("ChaCha20-Poly1305", 32)];

/// The others.
const OTHERS: [(&str, usize); 8] = [
    ("AES-128-CTR", 16),
    ("AES-192-CTR", 24),
    ("AES-256-CTR", 32),
    ("AES-128-CBC", 16),
    ("AES-192-CBC", 24),
    ("AES-256-CBC", 32),
    ("AES-128-XTS", 32),
    ("AES-256-XTS", 64),
];

/// Held by all that may use RSA or curves of ours, which is counted for the whole process.
static RSA: RwLock<()> = RwLock::new(());

/// Runs a check with each libcrypto, with RSA and curves of ours.
fn everywhere_with_rsa(check: impl Fn(&Context)) {
    let _shared = RSA.read().unwrap_or_else(PoisonError::into_inner);
    with_rsa(check);
}

/// The same for a check that compares counts, or forks: no other uses RSA or curves of ours
/// meanwhile.
fn everywhere_with_rsa_alone(check: impl Fn(&Context)) {
    let _alone = RSA.write().unwrap_or_else(PoisonError::into_inner);
    with_rsa(check);
}

fn with_rsa(check: impl Fn(&Context)) {
    for crypto in libraries() {
        println!("{}: {}", crypto.name, crypto.version());
        check(&Context::with_rsa(crypto));
    }
}

/// Runs a check with each libcrypto.
fn everywhere(check: impl Fn(&Context)) {
    for crypto in libraries() {
        println!("{}: {}", crypto.name, crypto.version());
        check(&Context::new(crypto));
    }
}
