//! The providers, and the identity of servers.

use std::sync::{Arc, LazyLock};

use rustls::crypto::{CryptoProvider, aws_lc_rs, ring};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{
    CipherSuite, ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion,
    Tls13CipherSuite,
};

/// Whose ciphers a side has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Party {
    OursOverRing,
    OursOverAwsLc,
    Ring,
    AwsLc,
}

impl Party {
    pub(crate) const ALL: [Self; 4] =
        [Self::OursOverRing, Self::OursOverAwsLc, Self::Ring, Self::AwsLc];
    pub(crate) const OURS: [Self; 2] = [Self::OursOverRing, Self::OursOverAwsLc];

    pub(crate) fn provider(self) -> CryptoProvider {
        match self {
            Self::OursOverRing => rustls_lanecrypt::over(ring::default_provider()),
            Self::OursOverAwsLc => rustls_lanecrypt::over(aws_lc_rs::default_provider()),
            Self::Ring => ring::default_provider(),
            Self::AwsLc => aws_lc_rs::default_provider(),
        }
    }

    /// The provider with nothing but one suite.
    pub(crate) fn provider_of(self, suite: CipherSuite) -> Arc<CryptoProvider> {
        let mut provider = self.provider();
        provider.cipher_suites.retain(|it| it.suite() == suite);
        assert_eq!(provider.cipher_suites.len(), 1, "{self:?} has {suite:?}");
        Arc::new(provider)
    }

    /// A suite of TLS 1.3.
    pub(crate) fn suite13(self, suite: CipherSuite) -> &'static Tls13CipherSuite {
        self.provider_of(suite).cipher_suites[0].tls13().expect("a suite of TLS 1.3")
    }
}

/// The suites of TLS 1.3.
pub(crate) const SUITES_13: [CipherSuite; 3] = [
    CipherSuite::TLS13_AES_128_GCM_SHA256,
    CipherSuite::TLS13_AES_256_GCM_SHA384,
    CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
];

/// Those of TLS 1.2 for the server's key.
pub(crate) const SUITES_12: [CipherSuite; 3] = [
    CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
];

/// The protocol of a suite.
pub(crate) fn version(suite: CipherSuite) -> &'static SupportedProtocolVersion {
    if SUITES_13.contains(&suite) { &rustls::version::TLS13 } else { &rustls::version::TLS12 }
}

/// The server's certificate, and its key in PKCS #8.
static IDENTITY: LazyLock<(CertificateDer<'static>, Vec<u8>)> = LazyLock::new(|| {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    (made.cert.der().clone(), made.signing_key.serialize_der())
});

pub(crate) fn server(provider: Arc<CryptoProvider>, suite: CipherSuite) -> ServerConfig {
    let (certificate, key) = &*IDENTITY;
    let key = PrivateKeyDer::try_from(key.clone()).expect("PKCS #8");
    ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version(suite)])
        .expect("the suite is of this version")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .expect("the key is that of the certificate")
}

pub(crate) fn client(provider: Arc<CryptoProvider>, suite: CipherSuite) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(IDENTITY.0.clone()).expect("a certificate");
    ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version(suite)])
        .expect("the suite is of this version")
        .with_root_certificates(roots)
        .with_no_client_auth()
}
