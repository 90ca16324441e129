//! The operations, and the lengths of what they take and give.

use super::Job;

/// A kind of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "tables have a key of each kind")]
pub enum KeyKind {
    /// X25519 (RFC 7748).
    X25519,
    /// Ed25519 (RFC 8032).
    Ed25519,
    /// P-256 (SEC 2), for key exchange and ECDSA.
    P256,
    /// ML-KEM-768 (FIPS 203).
    MlKem768,
}

/// An operation of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "tables have rows of each operation")]
pub enum Operation {
    /// X25519: a new key.
    X25519Generate,
    /// X25519: a shared secret.
    X25519Derive,
    /// Ed25519: a signature.
    Ed25519Sign,
    /// Ed25519: a check of a signature.
    Ed25519Verify,
    /// P-256: a new key.
    P256Generate,
    /// P-256: a shared secret (ECDH).
    P256Derive,
    /// P-256: a signature (ECDSA with SHA-256).
    P256Sign,
    /// P-256: a check of a signature.
    P256Verify,
    /// ML-KEM-768: a new key.
    MlKemGenerate,
    /// ML-KEM-768: a secret and its ciphertext, under a key that comes as bytes.
    MlKemEncapsulate,
    /// ML-KEM-768: the secret of a ciphertext.
    MlKemDecapsulate,
    /// The server's part of a TLS 1.3 handshake: a new key of X25519, the shared secret, and a
    /// signature by P-256.
    Server,
    /// The same with X25519MLKEM768: an encapsulation, too.
    ServerHybrid,
}

/// Bytes of a key or secret of X25519, of a key of Ed25519, and of any shared secret.
const SHORT: usize = 32;
/// Bytes of a signature.
const SIGNATURE: usize = 64;
/// Bytes of a point of P-256 that is not compressed.
const POINT: usize = 65;
/// Bytes of an encapsulation key.
const ENCAPSULATION_KEY: usize = 1184;
/// Bytes of a ciphertext of ML-KEM-768.
const CIPHERTEXT: usize = 1088;

impl Operation {
    /// All of them, in the order of the tables.
    pub const ALL: [Self; 13] = [
        Self::X25519Generate,
        Self::X25519Derive,
        Self::Ed25519Sign,
        Self::Ed25519Verify,
        Self::P256Generate,
        Self::P256Derive,
        Self::P256Sign,
        Self::P256Verify,
        Self::MlKemGenerate,
        Self::MlKemEncapsulate,
        Self::MlKemDecapsulate,
        Self::Server,
        Self::ServerHybrid,
    ];

    /// The algorithm and what is done by it, as results name them.
    #[must_use]
    pub const fn names(self) -> [&'static str; 2] {
        match self {
            Self::X25519Generate => ["x25519", "generate"],
            Self::X25519Derive => ["x25519", "derive"],
            Self::Ed25519Sign => ["ed25519", "sign"],
            Self::Ed25519Verify => ["ed25519", "verify"],
            Self::P256Generate => ["p256", "generate"],
            Self::P256Derive => ["p256", "derive"],
            Self::P256Sign => ["p256", "sign"],
            Self::P256Verify => ["p256", "verify"],
            Self::MlKemGenerate => ["ml-kem-768", "generate"],
            Self::MlKemEncapsulate => ["ml-kem-768", "encapsulate"],
            Self::MlKemDecapsulate => ["ml-kem-768", "decapsulate"],
            Self::Server => ["x25519+p256", "server"],
            Self::ServerHybrid => ["x25519mlkem768+p256", "server"],
        }
    }

    /// The [`Peer::subject`](crate::Peer::subject).
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::X25519Generate => "x25519-generate",
            Self::X25519Derive => "x25519-derive",
            Self::Ed25519Sign => "ed25519-sign",
            Self::Ed25519Verify => "ed25519-verify",
            Self::P256Generate => "p256-generate",
            Self::P256Derive => "p256-derive",
            Self::P256Sign => "p256-sign",
            Self::P256Verify => "p256-verify",
            Self::MlKemGenerate => "ml-kem-768-generate",
            Self::MlKemEncapsulate => "ml-kem-768-encapsulate",
            Self::MlKemDecapsulate => "ml-kem-768-decapsulate",
            Self::Server => "x25519+p256-server",
            Self::ServerHybrid => "x25519mlkem768+p256-server",
        }
    }

    /// The operation with this [`Peer::subject`](crate::Peer::subject).
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }

    /// The kind of a session's key; none where the key is generated, or comes as input.
    #[must_use]
    pub const fn key(self) -> Option<KeyKind> {
        match self {
            Self::X25519Derive => Some(KeyKind::X25519),
            Self::Ed25519Sign | Self::Ed25519Verify => Some(KeyKind::Ed25519),
            Self::P256Derive | Self::P256Sign | Self::P256Verify => Some(KeyKind::P256),
            Self::MlKemDecapsulate => Some(KeyKind::MlKem768),
            Self::Server | Self::ServerHybrid => Some(KeyKind::P256),
            Self::X25519Generate
            | Self::P256Generate
            | Self::MlKemGenerate
            | Self::MlKemEncapsulate => None,
        }
    }

    /// The kind of a key that is generated, and kept to be checked.
    #[must_use]
    pub const fn generated(self) -> Option<KeyKind> {
        match self {
            Self::X25519Generate => Some(KeyKind::X25519),
            Self::P256Generate => Some(KeyKind::P256),
            Self::MlKemGenerate => Some(KeyKind::MlKem768),
            _ => None,
        }
    }

    /// Whether it checks a signature.
    #[must_use]
    pub const fn is_check(self) -> bool {
        matches!(self, Self::Ed25519Verify | Self::P256Verify)
    }

    /// Bytes of [`Job::input`].
    #[must_use]
    pub const fn input(self) -> usize {
        match self {
            Self::X25519Derive | Self::Server => SHORT,
            Self::P256Derive => POINT,
            Self::MlKemEncapsulate => ENCAPSULATION_KEY,
            Self::MlKemDecapsulate => CIPHERTEXT,
            Self::ServerHybrid => SHORT + ENCAPSULATION_KEY,
            _ => 0,
        }
    }

    /// Bytes of [`Job::output`]: a public key; a shared secret; a ciphertext and its secret; a
    /// signature. A server writes its public key, a ciphertext and its secret if the client has
    /// sent an encapsulation key, the secret of X25519, and its signature.
    #[must_use]
    pub const fn output(self) -> usize {
        match self {
            Self::X25519Generate
            | Self::X25519Derive
            | Self::P256Derive
            | Self::MlKemDecapsulate => SHORT,
            Self::P256Generate => POINT,
            Self::MlKemGenerate => ENCAPSULATION_KEY,
            Self::MlKemEncapsulate => CIPHERTEXT + SHORT,
            Self::Ed25519Sign | Self::Ed25519Verify | Self::P256Sign | Self::P256Verify => {
                SIGNATURE
            }
            Self::Server => 2 * SHORT + SIGNATURE,
            Self::ServerHybrid => 2 * SHORT + CIPHERTEXT + SHORT + SIGNATURE,
        }
    }

    /// The operations that a server's part is made of.
    pub(crate) const fn parts(self) -> Option<&'static [Self]> {
        match self {
            Self::Server => Some(&[Self::X25519Generate, Self::P256Sign]),
            Self::ServerHybrid => {
                Some(&[Self::X25519Generate, Self::P256Sign, Self::MlKemEncapsulate])
            }
            _ => None,
        }
    }

    /// Whether a job has the lengths of this operation.
    pub(crate) fn fits(self, job: &Job<'_>) -> bool {
        job.input.len() == self.input() && job.output.len() == self.output()
    }
}
