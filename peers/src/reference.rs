//! Keys, questions and the checks of their answers, by crates in Rust.

use core::fmt;

use ml_kem::kem::{Decapsulate as _, Encapsulate as _, Kem as _, KeyExport as _};
use ml_kem::{DecapsulationKey, EncapsulationKey, MlKem768};
use p256::ecdsa::signature::hazmat::{PrehashSigner as _, PrehashVerifier as _};
use rand::Rng as _;
use sha2::{Digest as _, Sha256};

use crate::array::array;
use crate::{Failed, Job, KeyKind, KeyPair, Operation, PublicKey, Run};

/// A key pair.
#[derive(Clone)]
pub struct Key {
    kind: KeyKind,
    seed: Vec<u8>,
    private: Vec<u8>,
    public: Vec<u8>,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl Key {
    /// A new key.
    #[must_use]
    pub fn generate(kind: KeyKind) -> Self {
        loop {
            let mut seed = [0; 32];
            rand::rng().fill_bytes(&mut seed);
            // One of 2^32 scalars of P-256 is refused.
            if let Ok(key) = Self::of_seed(kind, &seed) {
                return key;
            }
        }
    }

    /// The key of a scalar of X25519 or P-256, or of a seed of Ed25519; any of ML-KEM-768.
    ///
    /// # Errors
    ///
    /// [`Failed`] if the scalar is not one of P-256.
    pub fn of_seed(kind: KeyKind, seed: &[u8; 32]) -> Result<Self, Failed> {
        let mut seed_of_it = seed.to_vec();
        let private = seed.to_vec();
        let (private, public) = match kind {
            KeyKind::X25519 => {
                let public =
                    x25519_dalek::PublicKey::from(&x25519_dalek::StaticSecret::from(*seed));
                (private, public.as_bytes().to_vec())
            }
            KeyKind::Ed25519 => {
                let public = ed25519_dalek::SigningKey::from_bytes(seed).verifying_key();
                (private, public.as_bytes().to_vec())
            }
            KeyKind::P256 => {
                let secret = p256::SecretKey::from_slice(seed).or(Err(Failed))?;
                (private, secret.public_key().to_sec1_bytes().into_vec())
            }
            KeyKind::MlKem768 => {
                let (secret, key) = MlKem768::generate_keypair_from_rng(&mut rand::rng());
                seed_of_it = secret.to_seed().ok_or(Failed)?.to_vec();
                #[expect(deprecated, reason = "the form that all libraries take")]
                let secret = ml_kem::ExpandedKeyEncoding::to_expanded_bytes(&secret);
                (secret.to_vec(), key.to_bytes().to_vec())
            }
        };
        Ok(Self { kind, seed: seed_of_it, private, public })
    }

    /// What it was made of: a scalar or a seed of 32 bytes, or a seed of 64 bytes of ML-KEM-768.
    #[must_use]
    pub fn seed(&self) -> &[u8] {
        &self.seed
    }

    /// As peers take it.
    #[must_use]
    pub fn pair(&self) -> KeyPair<'_> {
        KeyPair { private: &self.private, public: &self.public }
    }

    /// What it shares with a public key, or gets out of a ciphertext.
    ///
    /// # Errors
    ///
    /// [`Failed`] if that is not valid, or keys of this kind sign.
    pub fn shared(&self, input: &[u8]) -> Result<Vec<u8>, Failed> {
        let Self { kind, private, .. } = self;
        Ok(match kind {
            KeyKind::X25519 => {
                let secret = x25519_dalek::StaticSecret::from(array::<32>(private)?);
                let public = x25519_dalek::PublicKey::from(array::<32>(input)?);
                secret.diffie_hellman(&public).as_bytes().to_vec()
            }
            KeyKind::P256 => {
                let secret = p256::SecretKey::from_slice(private).or(Err(Failed))?;
                let public = p256::PublicKey::from_sec1_bytes(input).or(Err(Failed))?;
                secret.diffie_hellman(&public).raw_secret_bytes().to_vec()
            }
            KeyKind::MlKem768 => {
                let private = array::<2400>(private)?;
                #[expect(deprecated, reason = "the form that all libraries take")]
                let secret = DecapsulationKey::<MlKem768>::from_expanded(&private.into());
                secret.or(Err(Failed))?.decapsulate_slice(input).or(Err(Failed))?.to_vec()
            }
            KeyKind::Ed25519 => return Err(Failed),
        })
    }

    /// Signs a message.
    ///
    /// # Errors
    ///
    /// [`Failed`] if keys of this kind do not sign.
    pub fn sign(&self, message: &[u8]) -> Result<[u8; 64], Failed> {
        match self.kind {
            KeyKind::Ed25519 => {
                let key = ed25519_dalek::SigningKey::from_bytes(&array(&self.private)?);
                Ok(ed25519_dalek::Signer::sign(&key, message).to_bytes())
            }
            KeyKind::P256 => {
                let key = p256::ecdsa::SigningKey::from_slice(&self.private).or(Err(Failed))?;
                let made: p256::ecdsa::Signature =
                    key.sign_prehash(&Sha256::digest(message)).or(Err(Failed))?;
                Ok(made.to_bytes().into())
            }
            KeyKind::X25519 | KeyKind::MlKem768 => Err(Failed),
        }
    }

    /// Checks a signature.
    ///
    /// # Errors
    ///
    /// [`Failed`] if it is wrong, or keys of this kind do not sign.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Failed> {
        let signature = array::<64>(signature)?;
        match self.kind {
            KeyKind::Ed25519 => {
                let key = ed25519_dalek::VerifyingKey::from_bytes(&array(&self.public)?);
                let signature = ed25519_dalek::Signature::from_bytes(&signature);
                key.or(Err(Failed))?.verify_strict(message, &signature).or(Err(Failed))
            }
            KeyKind::P256 => {
                let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(&self.public);
                let signature = p256::ecdsa::Signature::from_slice(&signature).or(Err(Failed))?;
                let digest = Sha256::digest(message);
                key.or(Err(Failed))?.verify_prehash(&digest, &signature).or(Err(Failed))
            }
            KeyKind::X25519 | KeyKind::MlKem768 => Err(Failed),
        }
    }
}

/// A secret for the holder of an encapsulation key, after its ciphertext.
fn encapsulate(key: &[u8]) -> Result<(Vec<u8>, Vec<u8>), Failed> {
    let key = EncapsulationKey::<MlKem768>::new(&array::<1184>(key)?.into()).or(Err(Failed))?;
    let (ciphertext, secret) = key.encapsulate_with_rng(&mut rand::rng());
    Ok((ciphertext.to_vec(), secret.to_vec()))
}

/// What an operation is asked, and its answer.
#[derive(Clone, Debug)]
pub struct Asked {
    operation: Operation,
    /// Keys of the other side, whose public parts are sent.
    others: Vec<Key>,
    input: Vec<u8>,
    message: Vec<u8>,
    digest: [u8; 32],
    /// What is known before.
    expected: Vec<u8>,
    output: Vec<u8>,
}

impl Asked {
    /// A question to a session with this key, of the kind that the operation has; any if that has
    /// none.
    ///
    /// # Errors
    ///
    /// [`Failed`] if the key is of another kind.
    pub fn new(operation: Operation, key: Option<&Key>) -> Result<Self, Failed> {
        Failed::unless(key.map(|key| key.kind) == operation.key())?;
        let kinds: &[KeyKind] = match operation {
            Operation::X25519Derive | Operation::Server => &[KeyKind::X25519],
            Operation::P256Derive => &[KeyKind::P256],
            Operation::MlKemEncapsulate => &[KeyKind::MlKem768],
            Operation::ServerHybrid => &[KeyKind::X25519, KeyKind::MlKem768],
            _ => &[],
        };
        let others: Vec<Key> = kinds.iter().map(|&kind| Key::generate(kind)).collect();
        let mut input: Vec<u8> = others.iter().flat_map(|key| key.public.iter().copied()).collect();
        let mut expected = Vec::new();
        match (operation, key) {
            (Operation::X25519Derive | Operation::P256Derive, Some(key)) => {
                expected = key.shared(&input)?;
            }
            (Operation::MlKemDecapsulate, Some(key)) => {
                (input, expected) = encapsulate(&key.public)?;
            }
            _ => {}
        }
        let output = vec![0; operation.output()];
        let (message, digest) = (Vec::new(), [0; 32]);
        let mut asked = Self { operation, others, input, message, digest, expected, output };
        let mut message = [0; 32];
        rand::rng().fill_bytes(&mut message);
        asked.set_message(&message);
        if let Some(key) = key.filter(|_| operation.is_check()) {
            asked.output = key.sign(&message)?.to_vec();
        }
        Ok(asked)
    }

    /// Another message to sign.
    pub fn set_message(&mut self, message: &[u8]) {
        self.message = message.to_vec();
        self.digest = Sha256::digest(message).into();
    }

    /// As peers take it; `session` has the key.
    #[must_use]
    pub fn job(&mut self, session: usize) -> Job<'_> {
        let Self { input, message, digest, output, .. } = self;
        Job { session, input, message, digest, output }
    }

    /// What was written.
    #[must_use]
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// The same, to forget or to damage it.
    #[must_use]
    pub fn output_mut(&mut self) -> &mut [u8] {
        &mut self.output
    }

    /// Whether what a session with this key has written is right. A key that was generated is seen
    /// by [`Asked::has_generated`] only; a check of a signature writes nothing.
    #[must_use]
    pub fn is_answered(&self, key: Option<&Key>) -> bool {
        self.answered(key).is_ok()
    }

    fn answered(&self, key: Option<&Key>) -> Result<(), Failed> {
        let Self { operation, others, message, expected, output, .. } = self;
        let is_shared = |other: usize, input: &[u8], secret: &[u8]| {
            Failed::unless(others.get(other).ok_or(Failed)?.shared(input)? == secret)
        };
        match operation {
            Operation::X25519Derive | Operation::P256Derive | Operation::MlKemDecapsulate => {
                Failed::unless(expected == output)
            }
            Operation::Ed25519Sign | Operation::P256Sign => {
                key.ok_or(Failed)?.verify(message, output)
            }
            Operation::MlKemEncapsulate => {
                let (ciphertext, secret) = output.split_at(output.len() - 32);
                is_shared(0, ciphertext, secret)
            }
            Operation::Server | Operation::ServerHybrid => {
                let (share, rest) = output.split_at(32);
                let (rest, signature) = rest.split_at(rest.len() - 64);
                let (encapsulated, secret) = rest.split_at(rest.len() - 32);
                is_shared(0, share, secret)?;
                if *operation == Operation::ServerHybrid {
                    let (ciphertext, secret) = encapsulated.split_at(encapsulated.len() - 32);
                    is_shared(1, ciphertext, secret)?;
                }
                key.ok_or(Failed)?.verify(message, signature)
            }
            Operation::X25519Generate | Operation::P256Generate | Operation::MlKemGenerate => {
                Failed::unless(output.iter().any(|&byte| byte != 0))
            }
            Operation::Ed25519Verify | Operation::P256Verify => Ok(()),
        }
    }

    /// Whether the public key that was written, as the last one, belongs to the private key that is
    /// kept.
    #[must_use]
    pub fn has_generated(&self, by: &mut dyn PublicKey) -> bool {
        self.generated(by).is_ok()
    }

    fn generated(&self, by: &mut dyn PublicKey) -> Result<(), Failed> {
        let kind = self.operation.generated().ok_or(Failed)?;
        let (input, expected) = match kind {
            KeyKind::MlKem768 => encapsulate(&self.output)?,
            _ => {
                let other = Key::generate(kind);
                let expected = other.shared(&self.output)?;
                (other.public, expected)
            }
        };
        let mut secret = [0; 32];
        by.shared(&input, &mut secret)?;
        Failed::unless(secret == *expected)
    }

    /// Whether a session with this key works: it answers, and refuses wrong signatures.
    pub(crate) fn works(&mut self, by: &mut dyn PublicKey, key: Option<&Key>) -> bool {
        let mut ask = |asked: &mut Self| by.jobs(&mut [asked.job(0)], Run::of(1)).is_ok();
        if !ask(self) || !self.is_answered(key) {
            return false;
        }
        if self.operation.is_check() {
            // A bit of the first half, of the second one, and another message.
            for at in [7, 40] {
                self.output[at] ^= 4;
                let forged = ask(self);
                self.output[at] ^= 4;
                if forged {
                    return false;
                }
            }
            self.set_message(&[1; 32]);
            return !ask(self);
        }
        self.operation.generated().is_none() || self.has_generated(by)
    }
}
