//! Keys as DER (X.690) and as PEM (RFC 7468).
//!
//! Everything is parsed and written by the crates `der`, `spki`, `pkcs8` and `sec1`.

use lanecrypt_kernels::mlkem::{DECAPSULATION_KEY, SEED};
use pkcs8::der::asn1::{AnyRef, BitStringRef, ContextSpecific, OctetStringRef};
use pkcs8::der::{
    Decode as _, Document, Encode, Error, Reader as _, SecretDocument, SliceReader, Tag, TagMode,
    TagNumber, Tagged as _,
};
use pkcs8::spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};
use pkcs8::{LineEnding, ObjectIdentifier, PrivateKeyInfoRef};
use sec1::EcPrivateKey;
use zeroize::Zeroizing;

use crate::KeyError;

const PKCS8: &str = "PRIVATE KEY";
const PKCS8_ENCRYPTED: &str = "ENCRYPTED PRIVATE KEY";
const SEC1: &str = "EC PRIVATE KEY";
const SPKI: &str = "PUBLIC KEY";

/// The identifier of an algorithm.
pub(crate) struct Algorithm {
    oid: ObjectIdentifier,
    curve: Option<ObjectIdentifier>,
}

pub(crate) const X25519: Algorithm = Algorithm::new("1.3.101.110");
pub(crate) const ED25519: Algorithm = Algorithm::new("1.3.101.112");
pub(crate) const MLKEM768: Algorithm = Algorithm::new("2.16.840.1.101.3.4.4.2");
pub(crate) const P256: Algorithm =
    Algorithm { curve: Some(CURVE_P256), ..Algorithm::new("1.2.840.10045.2.1") };
const CURVE_P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");

impl Algorithm {
    const fn new(oid: &str) -> Self {
        Self { oid: ObjectIdentifier::new_unwrap(oid), curve: None }
    }

    fn check(&self, found: &AlgorithmIdentifierRef<'_>) -> Result<(), KeyError> {
        let curve = found.parameters.map(|parameters| parameters.decode_as());
        let is_same = match (self.curve, curve) {
            (None, None) => true,
            (Some(own), Some(Ok(curve))) => own == curve,
            _ => false,
        };
        if found.oid == self.oid && is_same { Ok(()) } else { Err(KeyError::Algorithm) }
    }

    fn identifier(&self) -> AlgorithmIdentifierRef<'_> {
        AlgorithmIdentifierRef { oid: self.oid, parameters: self.curve.as_ref().map(Into::into) }
    }
}

/// Methods of a private key that is an octet string, for DER and PEM.
macro_rules! octets_methods {
    ($algorithm:expr, $octets:ident, $public:ident) => {
        /// A key from the DER of `PrivateKeyInfo` (PKCS#8, RFC 8410).
        ///
        /// # Errors
        ///
        /// [`KeyError`] if the encoding is invalid.
        pub fn from_pkcs8_der(der: &[u8]) -> Result<Self, KeyError> {
            let (octets, public) = encoding::read_octets($algorithm, der)?;
            let key = Self::of(octets);
            match public {
                Some(public) if public != *key.$public().as_bytes() => Err(KeyError::Inconsistent),
                _ => Ok(key),
            }
        }

        /// A key from PEM, `PRIVATE KEY` (PKCS#8).
        ///
        /// # Errors
        ///
        /// [`KeyError`] if the encoding is invalid.
        pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
            Self::from_pkcs8_der(encoding::private_pem(pem)?.as_bytes())
        }

        /// The DER of `PrivateKeyInfo` (PKCS#8), without the public key.
        #[must_use]
        pub fn to_pkcs8_der(&self) -> Zeroizing<Vec<u8>> {
            encoding::write_octets($algorithm, &self.$octets).to_bytes()
        }

        /// PEM, `PRIVATE KEY` (PKCS#8).
        #[must_use]
        pub fn to_pem(&self) -> Zeroizing<String> {
            encoding::to_private_pem(&encoding::write_octets($algorithm, &self.$octets))
        }
    };
}

/// Methods of a public key with `from_spki_der`, for DER and PEM.
macro_rules! public_methods {
    ($algorithm:expr, $bytes:ident) => {
        /// A key from PEM, `PUBLIC KEY`.
        ///
        /// # Errors
        ///
        /// [`KeyError`] if the encoding or the key is invalid.
        pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
            Self::from_spki_der(encoding::public_pem(pem)?.as_bytes())
        }

        /// The DER of `SubjectPublicKeyInfo`.
        #[must_use]
        pub fn to_spki_der(&self) -> Vec<u8> {
            encoding::write_public($algorithm, self.$bytes()).into_vec()
        }

        /// PEM, `PUBLIC KEY`.
        #[must_use]
        pub fn to_pem(&self) -> String {
            encoding::to_public_pem(&encoding::write_public($algorithm, self.$bytes()))
        }
    };
}

pub(crate) use {octets_methods, public_methods};

/// A private key, and the public key beside it if there is one.
pub(crate) type Pair<T> = (Zeroizing<[u8; 32]>, Option<T>);

/// Reads a private key that is an octet string (RFC 8410, section 7).
pub(crate) fn read_octets(algorithm: &Algorithm, der: &[u8]) -> Result<Pair<[u8; 32]>, KeyError> {
    let info = info(algorithm, der)?;
    let octets = <&OctetStringRef>::from_der(info.private_key.as_bytes());
    let key = secret(octets.map_err(encoding)?.as_bytes())?;
    let public = match &info.public_key {
        Some(public) => Some(array(public.as_bytes().ok_or(KeyError::Encoding)?)?),
        None => None,
    };
    Ok((key, public))
}

/// Reads a private key of a curve (RFC 5915) in PKCS#8.
pub(crate) fn read_curve(algorithm: &Algorithm, der: &[u8]) -> Result<Pair<Vec<u8>>, KeyError> {
    let info = info(algorithm, der)?;
    let key = EcPrivateKey::from_der(info.private_key.as_bytes()).map_err(encoding)?;
    of_curve(algorithm, &key, false)
}

/// Reads a private key of a curve (RFC 5915).
pub(crate) fn read_sec1(algorithm: &Algorithm, der: &[u8]) -> Result<Pair<Vec<u8>>, KeyError> {
    let key = EcPrivateKey::from_der(der).map_err(encoding)?;
    of_curve(algorithm, &key, true)
}

fn of_curve(
    algorithm: &Algorithm,
    key: &EcPrivateKey<'_>,
    is_named_here: bool,
) -> Result<Pair<Vec<u8>>, KeyError> {
    match key.parameters {
        Some(parameters) if parameters.named_curve() != algorithm.curve => Err(KeyError::Algorithm),
        None if is_named_here => Err(KeyError::Encoding),
        _ => Ok((secret(key.private_key)?, key.public_key.map(<[u8]>::to_vec))),
    }
}

/// Reads the seed of a key of ML-KEM (RFC 9935, section 6), and the key beside it if there is one.
#[expect(clippy::type_complexity, reason = "a seed and a key")]
pub(crate) fn read_seed(
    der: &[u8],
) -> Result<(Zeroizing<[u8; SEED]>, Option<Zeroizing<Vec<u8>>>), KeyError> {
    let info = info(&MLKEM768, der)?;
    let any = AnyRef::from_der(info.private_key.as_bytes()).map_err(encoding)?;
    match any.tag() {
        Tag::ContextSpecific { constructed: false, number: TagNumber(0) } => {
            Ok((secret(any.value())?, None))
        }
        Tag::OctetString if any.value().len() == DECAPSULATION_KEY => Err(KeyError::NoSeed),
        Tag::Sequence => {
            let both = || {
                let mut reader = SliceReader::new(any.value())?;
                let seed = <&OctetStringRef>::decode(&mut reader)?;
                let key = <&OctetStringRef>::decode(&mut reader)?;
                reader.finish()?;
                Ok((seed.as_bytes(), key.as_bytes()))
            };
            let (seed, key) = both().map_err(encoding)?;
            Ok((secret(seed)?, Some(Zeroizing::new(key.to_vec()))))
        }
        _ => Err(KeyError::Encoding),
    }
}

fn info<'a>(algorithm: &Algorithm, der: &'a [u8]) -> Result<PrivateKeyInfoRef<'a>, KeyError> {
    let info = PrivateKeyInfoRef::from_der(der).map_err(encoding)?;
    algorithm.check(&info.algorithm)?;
    Ok(info)
}

/// Reads a public key.
pub(crate) fn read_public<const N: usize>(
    algorithm: &Algorithm,
    der: &[u8],
) -> Result<[u8; N], KeyError> {
    array(public_bytes(algorithm, der)?)
}

/// Reads the bytes of a public key.
pub(crate) fn public_bytes<'a>(algorithm: &Algorithm, der: &'a [u8]) -> Result<&'a [u8], KeyError> {
    let info = SubjectPublicKeyInfoRef::from_der(der).map_err(encoding)?;
    algorithm.check(&info.algorithm)?;
    info.subject_public_key.as_bytes().ok_or(KeyError::Encoding)
}

/// Writes a private key that is an octet string.
pub(crate) fn write_octets(algorithm: &Algorithm, key: &[u8; 32]) -> SecretDocument {
    private(algorithm, OctetStringRef::new(key))
}

/// Writes a private key of a curve with its public key.
pub(crate) fn write_curve(algorithm: &Algorithm, key: &[u8; 32], public: &[u8]) -> SecretDocument {
    let public_key = Some(public);
    private(algorithm, Ok(EcPrivateKey { private_key: key, parameters: None, public_key }))
}

/// Writes the seed of a key of ML-KEM.
pub(crate) fn write_seed(seed: &[u8; SEED]) -> SecretDocument {
    let value = written(OctetStringRef::new(seed));
    let (tag_number, tag_mode) = (TagNumber(0), TagMode::Implicit);
    private(&MLKEM768, Ok(ContextSpecific { tag_number, tag_mode, value }))
}

fn private(algorithm: &Algorithm, key: Result<impl Encode, Error>) -> SecretDocument {
    let encode = move || {
        let key = Zeroizing::new(key?.to_der()?);
        let key = OctetStringRef::new(&key)?;
        SecretDocument::encode_msg(&PrivateKeyInfoRef::new(algorithm.identifier(), key))
    };
    written(encode())
}

/// Writes a public key.
pub(crate) fn write_public(algorithm: &Algorithm, key: &[u8]) -> Document {
    let encode = || {
        let subject_public_key = BitStringRef::from_bytes(key)?;
        let algorithm = algorithm.identifier();
        Document::encode_msg(&SubjectPublicKeyInfoRef { algorithm, subject_public_key })
    };
    written(encode())
}

/// Reads the DER in PEM, `PRIVATE KEY`.
pub(crate) fn private_pem(pem: &str) -> Result<SecretDocument, KeyError> {
    match either_pem(pem)? {
        (der, false) => Ok(der),
        (_, true) => Err(KeyError::Encoding),
    }
}

/// Reads the DER in PEM, `PRIVATE KEY` or `EC PRIVATE KEY`, and whether it is the second one.
pub(crate) fn either_pem(pem: &str) -> Result<(SecretDocument, bool), KeyError> {
    let (label, der) = SecretDocument::from_pem(pem).map_err(encoding)?;
    match label {
        PKCS8 => Ok((der, false)),
        SEC1 => Ok((der, true)),
        PKCS8_ENCRYPTED => Err(KeyError::Encrypted),
        _ => Err(KeyError::Encoding),
    }
}

/// Reads the DER in PEM, `PUBLIC KEY`.
pub(crate) fn public_pem(pem: &str) -> Result<Document, KeyError> {
    let (label, der) = Document::from_pem(pem).map_err(encoding)?;
    if label == SPKI { Ok(der) } else { Err(KeyError::Encoding) }
}

pub(crate) fn to_private_pem(der: &SecretDocument) -> Zeroizing<String> {
    written(der.to_pem(PKCS8, LineEnding::LF))
}

pub(crate) fn to_public_pem(der: &Document) -> String {
    written(der.to_pem(SPKI, LineEnding::LF))
}

fn secret<const N: usize>(bytes: &[u8]) -> Result<Zeroizing<[u8; N]>, KeyError> {
    let mut secret = Zeroizing::new([0; N]);
    if bytes.len() != N {
        return Err(KeyError::Encoding);
    }
    secret.copy_from_slice(bytes);
    Ok(secret)
}

fn array<const N: usize>(bytes: &[u8]) -> Result<[u8; N], KeyError> {
    bytes.try_into().map_err(|_| KeyError::Encoding)
}

fn encoding(_: Error) -> KeyError {
    KeyError::Encoding
}

/// What was written of a key.
fn written<T>(what: Result<T, Error>) -> T {
    what.expect("keys are not too long")
}
