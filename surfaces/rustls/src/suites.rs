//! Cipher suites of another provider with our ciphers in them.
//!
//! Rustls needs references to suites that live forever. A list of the suites that were made, found
//! by the address of the base's suite, bounds their number.

use std::sync::{Mutex, PoisonError};

#[cfg(feature = "tls12")]
use rustls::Tls12CipherSuite;
use rustls::{CipherSuite, CipherSuiteCommon, SupportedCipherSuite, Tls13CipherSuite, quic};

use crate::aead::Aead;
use crate::hashes::Functions;
use crate::quic::Packets;
#[cfg(feature = "tls12")]
use crate::tls12;
use crate::tls13;

/// The suite with our cipher in place of its own; the suite itself, if we do not know it.
pub(crate) fn ours(suite: SupportedCipherSuite) -> SupportedCipherSuite {
    let Some(parts) = parts(suite.suite()) else { return suite };
    match suite {
        SupportedCipherSuite::Tls13(base) => KNOWN_13
            .of(base, || Tls13CipherSuite {
                common: common(&base.common),
                hkdf_provider: functions(&base.common)
                    .map_or(base.hkdf_provider, |ours| &ours.hkdf),
                aead_alg: &parts.tls13,
                quic: base.quic.map(|_| &parts.quic as &dyn quic::Algorithm),
            })
            .into(),
        #[cfg(feature = "tls12")]
        SupportedCipherSuite::Tls12(base) => KNOWN_12
            .of(base, || Tls12CipherSuite {
                common: common(&base.common),
                prf_provider: functions(&base.common).map_or(base.prf_provider, |ours| &ours.prf),
                kx: base.kx,
                sign: base.sign,
                aead_alg: &parts.tls12,
            })
            .into(),
        // TLS 1.2, if another crate of the program wants it and this one does not enable it.
        #[allow(unreachable_patterns, reason = "the features of rustls are those of all its users")]
        other => other,
    }
}

fn common(base: &CipherSuiteCommon) -> CipherSuiteCommon {
    CipherSuiteCommon {
        suite: base.suite,
        hash_provider: functions(base).map_or(base.hash_provider, |ours| ours.hash),
        confidentiality_limit: base.confidentiality_limit,
    }
}

/// Our hash functions in place of the suite's.
fn functions(base: &CipherSuiteCommon) -> Option<&'static Functions> {
    Functions::of(base.hash_provider.algorithm())
}

/// The parts of a suite that are replaced.
struct Parts {
    tls13: tls13::Records,
    #[cfg(feature = "tls12")]
    tls12: tls12::Records,
    quic: Packets,
}

impl Parts {
    const fn new(aead: Aead) -> Self {
        Self {
            tls13: tls13::Records(aead),
            #[cfg(feature = "tls12")]
            tls12: tls12::Records(aead),
            quic: Packets(aead),
        }
    }
}

/// The parts that replace those of the suite of this name.
fn parts(suite: CipherSuite) -> Option<&'static Parts> {
    static AES_128_GCM: Parts = Parts::new(Aead::Aes128Gcm);
    static AES_256_GCM: Parts = Parts::new(Aead::Aes256Gcm);
    static CHACHA20_POLY1305: Parts = Parts::new(Aead::ChaCha20Poly1305);
    Some(match suite {
        CipherSuite::TLS13_AES_128_GCM_SHA256
        | CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
        | CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
        | CipherSuite::TLS_DHE_RSA_WITH_AES_128_GCM_SHA256 => &AES_128_GCM,
        CipherSuite::TLS13_AES_256_GCM_SHA384
        | CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
        | CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384
        | CipherSuite::TLS_DHE_RSA_WITH_AES_256_GCM_SHA384 => &AES_256_GCM,
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256
        | CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256
        | CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256
        | CipherSuite::TLS_DHE_RSA_WITH_CHACHA20_POLY1305_SHA256 => &CHACHA20_POLY1305,
        _ => return None,
    })
}

static KNOWN_13: Known<Tls13CipherSuite> = Known::new();
#[cfg(feature = "tls12")]
static KNOWN_12: Known<Tls12CipherSuite> = Known::new();

/// The suites that were made. Rustls wants suites that live forever, so each is made once, however
/// many providers a program makes.
struct Known<S: 'static>(Mutex<Vec<Pair<S>>>);

struct Pair<S: 'static> {
    base: &'static S,
    ours: &'static S,
}

impl<S> Known<S> {
    const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    fn of(&self, base: &'static S, make: impl FnOnce() -> S) -> &'static S {
        // A panic while the lock was held left the list whole.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |pair: &&Pair<S>| {
            // Not by name, which suites of several providers share.
            core::ptr::eq(pair.base, base) || core::ptr::eq(pair.ours, base)
        };
        if let Some(pair) = known.iter().find(is_it) {
            return pair.ours;
        }
        let ours = Box::leak(Box::new(make()));
        known.push(Pair { base, ours });
        ours
    }
}
