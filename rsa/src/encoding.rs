//! Keys as DER (X.690) and as PEM (RFC 7468).
//!
//! Everything is parsed and written by the crates `der`, `spki`, `pkcs1` and `pkcs8`.

use pkcs1::der::asn1::{BitStringRef, OctetStringRef, UintRef};
use pkcs1::der::{Decode as _, Document, Encode as _, Error, SecretDocument};
use pkcs1::{RsaPrivateKey, RsaPublicKey};
use pkcs8::spki::SubjectPublicKeyInfoRef;
use pkcs8::{LineEnding, PrivateKeyInfoRef};
use zeroize::Zeroizing;

use crate::components::{Components, CrtComponents};
use crate::numbers::trimmed;
use crate::public_key::Sizes;
use crate::{KeyError, PrivateKey, PublicKey};

const PKCS1: &str = "RSA PRIVATE KEY";
const PKCS8: &str = "PRIVATE KEY";
const PKCS8_ENCRYPTED: &str = "ENCRYPTED PRIVATE KEY";
const PKCS1_PUBLIC: &str = "RSA PUBLIC KEY";
const SPKI: &str = "PUBLIC KEY";

impl PrivateKey {
    /// A key from the DER of `PrivateKeyInfo` (PKCS#8, RFC 5958).
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn from_pkcs8_der(der: &[u8]) -> Result<Self, KeyError> {
        Self::parse_pkcs8(Sizes::Standard, der)
    }

    /// A key from the DER of `RSAPrivateKey` (PKCS#1, RFC 8017, appendix A.1.2).
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn from_pkcs1_der(der: &[u8]) -> Result<Self, KeyError> {
        Self::parse_pkcs1(Sizes::Standard, der)
    }

    /// A key from PEM: `PRIVATE KEY` (PKCS#8) or `RSA PRIVATE KEY` (PKCS#1).
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        Self::parse_pem(Sizes::Standard, pem)
    }

    pub(crate) fn parse_pem(sizes: Sizes, pem: &str) -> Result<Self, KeyError> {
        let (label, der) = SecretDocument::from_pem(pem).map_err(|_: Error| KeyError::Encoding)?;
        match label {
            PKCS8 => Self::parse_pkcs8(sizes, der.as_bytes()),
            PKCS1 => Self::parse_pkcs1(sizes, der.as_bytes()),
            PKCS8_ENCRYPTED => Err(KeyError::Encrypted),
            _ => Err(KeyError::Encoding),
        }
    }

    pub(crate) fn parse_pkcs8(sizes: Sizes, der: &[u8]) -> Result<Self, KeyError> {
        let info = PrivateKeyInfoRef::from_der(der).map_err(|_| KeyError::Encoding)?;
        if info.algorithm != pkcs1::ALGORITHM_ID {
            return Err(KeyError::Algorithm);
        }
        Self::parse_pkcs1(sizes, info.private_key.as_bytes())
    }

    pub(crate) fn parse_pkcs1(sizes: Sizes, der: &[u8]) -> Result<Self, KeyError> {
        let key = RsaPrivateKey::<UintRef<'_>>::from_der(der).map_err(|_| KeyError::Encoding)?;
        if key.other_prime_infos.is_some() {
            return Err(KeyError::MultiPrime);
        }
        let crt = CrtComponents {
            p: key.prime1.as_bytes(),
            q: key.prime2.as_bytes(),
            dp: key.exponent1.as_bytes(),
            dq: key.exponent2.as_bytes(),
            qinv: key.coefficient.as_bytes(),
        };
        let components = Components {
            n: key.modulus.as_bytes(),
            e: key.public_exponent.as_bytes(),
            d: key.private_exponent.as_bytes(),
            crt: Some(crt),
        };
        Self::with_sizes(sizes, &components)
    }

    /// The DER of `PrivateKeyInfo` (PKCS#8).
    ///
    /// # Errors
    ///
    /// [`KeyError::NoPrimes`].
    pub fn to_pkcs8_der(&self) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        Ok(self.pkcs8()?.to_bytes())
    }

    /// The DER of `RSAPrivateKey` (PKCS#1).
    ///
    /// # Errors
    ///
    /// [`KeyError::NoPrimes`].
    pub fn to_pkcs1_der(&self) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        Ok(self.pkcs1()?.to_bytes())
    }

    /// PEM, `PRIVATE KEY` (PKCS#8).
    ///
    /// # Errors
    ///
    /// [`KeyError::NoPrimes`].
    pub fn to_pem(&self) -> Result<Zeroizing<String>, KeyError> {
        self.pkcs8()?.to_pem(PKCS8, LineEnding::LF).map_err(|_: Error| KeyError::Encoding)
    }

    fn pkcs8(&self) -> Result<SecretDocument, KeyError> {
        let key = self.pkcs1()?;
        let encode = || {
            let key = OctetStringRef::new(key.as_bytes())?;
            SecretDocument::encode_msg(&PrivateKeyInfoRef::new(pkcs1::ALGORITHM_ID, key))
        };
        encode().map_err(|_: Error| KeyError::Encoding)
    }

    fn pkcs1(&self) -> Result<SecretDocument, KeyError> {
        self.with_components(|all| {
            let crt = all.crt.as_ref().ok_or(KeyError::NoPrimes)?;
            let encode = || {
                SecretDocument::encode_msg(&RsaPrivateKey {
                    modulus: number(all.n)?,
                    public_exponent: number(all.e)?,
                    private_exponent: number(all.d)?,
                    prime1: number(crt.p)?,
                    prime2: number(crt.q)?,
                    exponent1: number(crt.dp)?,
                    exponent2: number(crt.dq)?,
                    coefficient: number(crt.qinv)?,
                    other_prime_infos: None,
                })
            };
            encode().map_err(|_: Error| KeyError::Encoding)
        })
    }
}

impl PublicKey {
    /// A key from the DER of `SubjectPublicKeyInfo` (RFC 5280, section 4.1), as in certificates.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn from_spki_der(der: &[u8]) -> Result<Self, KeyError> {
        Self::parse_spki(Sizes::Standard, der)
    }

    /// A key from the DER of `RSAPublicKey` (PKCS#1, RFC 8017, appendix A.1.1).
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn from_pkcs1_der(der: &[u8]) -> Result<Self, KeyError> {
        Self::parse_pkcs1(Sizes::Standard, der)
    }

    /// A key from PEM: `PUBLIC KEY` or `RSA PUBLIC KEY` (PKCS#1).
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        Self::parse_pem(Sizes::Standard, pem)
    }

    pub(crate) fn parse_pem(sizes: Sizes, pem: &str) -> Result<Self, KeyError> {
        let (label, der) = Document::from_pem(pem).map_err(|_: Error| KeyError::Encoding)?;
        match label {
            SPKI => Self::parse_spki(sizes, der.as_bytes()),
            PKCS1_PUBLIC => Self::parse_pkcs1(sizes, der.as_bytes()),
            _ => Err(KeyError::Encoding),
        }
    }

    pub(crate) fn parse_spki(sizes: Sizes, der: &[u8]) -> Result<Self, KeyError> {
        let info = SubjectPublicKeyInfoRef::from_der(der).map_err(|_| KeyError::Encoding)?;
        if info.algorithm != pkcs1::ALGORITHM_ID {
            return Err(KeyError::Algorithm);
        }
        let key = info.subject_public_key.as_bytes().ok_or(KeyError::Encoding)?;
        Self::parse_pkcs1(sizes, key)
    }

    pub(crate) fn parse_pkcs1(sizes: Sizes, der: &[u8]) -> Result<Self, KeyError> {
        let key = RsaPublicKey::<UintRef<'_>>::from_der(der).map_err(|_| KeyError::Encoding)?;
        Self::with_sizes(sizes, key.modulus.as_bytes(), key.public_exponent.as_bytes())
    }

    /// The DER of `SubjectPublicKeyInfo`.
    #[must_use]
    pub fn to_spki_der(&self) -> Vec<u8> {
        self.spki().into_vec()
    }

    /// The DER of `RSAPublicKey` (PKCS#1).
    #[must_use]
    pub fn to_pkcs1_der(&self) -> Vec<u8> {
        let (n, e) = (self.n(), self.e().to_be_bytes());
        let encode =
            || RsaPublicKey { modulus: number(&n)?, public_exponent: number(&e)? }.to_der();
        written(encode())
    }

    /// PEM, `PUBLIC KEY`.
    #[must_use]
    pub fn to_pem(&self) -> String {
        written(self.spki().to_pem(SPKI, LineEnding::LF))
    }

    fn spki(&self) -> Document {
        let key = self.to_pkcs1_der();
        let encode = || {
            let subject_public_key = BitStringRef::from_bytes(&key)?;
            let algorithm = pkcs1::ALGORITHM_ID;
            Document::encode_msg(&SubjectPublicKeyInfoRef { algorithm, subject_public_key })
        };
        written(encode())
    }
}

fn number(bytes: &[u8]) -> Result<UintRef<'_>, Error> {
    UintRef::new(trimmed(bytes))
}

/// What was written of a public key, whose numbers have at most 1024 bytes.
fn written<T>(what: Result<T, Error>) -> T {
    what.expect("numbers of public keys are not too long")
}
