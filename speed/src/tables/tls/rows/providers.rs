//! The providers of cryptography that rustls is measured with.

use lanecrypt_ciphers::{Algorithm, Isa};
use rustls_lanecrypt::rustls::crypto::CryptoProvider;
use rustls_lanecrypt::rustls::{CipherSuite, Tls13CipherSuite};

use crate::peer_set::PeerSet;
use crate::results::Point;

/// What every provider is measured by.
const API: &str = "rustls";

/// One provider: its ciphers are ours or a peer's.
#[derive(Clone)]
pub(super) struct Provider {
    pub(super) source: &'static str,
    pub(super) version: String,
    pub(super) make: fn() -> CryptoProvider,
}

impl Provider {
    /// Ours, and the chosen peers.
    pub(super) fn all(peers: &PeerSet<'_>) -> Vec<Self> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let mut all = vec![Self { source: "lanecrypt", version, make: ours }];
        for &Base { source, make } in BASES {
            let found = peers.aeads().iter().find(|it| it.point().source == source);
            let version = found.and_then(|found| found.point().version.clone());
            all.extend(version.map(|version| Self { source, version, make }));
        }
        all
    }

    /// Another one, whose answers its answers are compared with.
    pub(super) fn reference(&self) -> Self {
        let version = String::new();
        match BASES.first() {
            Some(&Base { source, make }) if self.is_ours() => Self { source, version, make },
            _ => Self { source: "lanecrypt", version, make: ours },
        }
    }

    const fn is_ours(&self) -> bool {
        matches!(self.source.as_bytes(), b"lanecrypt")
    }

    /// What is known of its points.
    pub(super) fn point(&self) -> Point {
        let isa = self.is_ours().then(|| Isa::detect().level().name().to_owned());
        let (source, version) = (self.source.to_owned(), Some(self.version.clone()));
        Point { source, api: API.into(), version, isa, ..Point::default() }
    }

    /// The provider with one suite of TLS 1.3.
    pub(super) fn with(&self, algorithm: Algorithm) -> Option<CryptoProvider> {
        let suite = match algorithm {
            Algorithm::AES_128_GCM => CipherSuite::TLS13_AES_128_GCM_SHA256,
            Algorithm::AES_256_GCM => CipherSuite::TLS13_AES_256_GCM_SHA384,
            Algorithm::CHACHA20_POLY1305 => CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
            _ => return None,
        };
        let mut provider = (self.make)();
        provider.cipher_suites.retain(|it| it.suite() == suite);
        Some(provider)
    }

    /// That suite.
    pub(super) fn suite(&self, algorithm: Algorithm) -> Option<&'static Tls13CipherSuite> {
        self.with(algorithm)?.cipher_suites.first()?.tls13()
    }
}

/// A provider that rustls comes with.
struct Base {
    source: &'static str,
    make: fn() -> CryptoProvider,
}

/// The peers, the one that ours is over first.
const BASES: &[Base] = &[
    #[cfg(feature = "aws-lc")]
    Base { source: "aws-lc", make: rustls_lanecrypt::rustls::crypto::aws_lc_rs::default_provider },
    #[cfg(feature = "ring")]
    Base { source: "ring", make: rustls_lanecrypt::rustls::crypto::ring::default_provider },
];

/// Key exchange and signatures are not measured, so it does not matter whose they are.
pub(super) fn ours() -> CryptoProvider {
    let [base, ..] = BASES else { unreachable!("the table needs one of the features") };
    rustls_lanecrypt::over((base.make)())
}
