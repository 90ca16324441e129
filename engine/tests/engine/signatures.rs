//! Shared parts of the tests of signatures: what a key signs, and random requests.

use lanecrypt_engine::{Error, RsaKey};
use lanecrypt_rsa::Workspace;
use lanecrypt_testing::batches::numbers::{Numbers, Random};

use crate::signers::Signer;

impl Signer {
    pub(crate) fn length(&self) -> usize {
        self.key.signature_length()
    }

    pub(crate) fn public(&self) -> RsaKey {
        self.key.public_key().clone().into()
    }

    /// A signature by the crate of RSA itself.
    pub(crate) fn sign(&self, message: &[u8]) -> Vec<u8> {
        let mut signature = vec![0; self.length()];
        let signed = self.key.sign(self.padding, message, &mut signature, &mut Workspace::new());
        assert_eq!(signed, Ok(()));
        signature
    }

    /// Asserts that a signature is the right one; of PSS any that is right.
    pub(crate) fn assert_signed(&self, message: &[u8], signature: &[u8]) {
        let mut workspace = Workspace::new();
        let checked =
            self.key.public_key().verify(self.padding, message, signature, &mut workspace);
        assert_eq!(checked, Ok(()), "{:?} {:?}", self.key, self.padding);
        if format!("{:?}", self.padding).contains("Pkcs1v15") {
            assert!(signature == self.sign(message), "{:?}", self.key);
        }
    }
}

/// A signature to make or to check.
#[derive(Clone)]
pub(crate) struct Case {
    /// The index of its signer.
    pub(crate) signer: usize,
    pub(crate) message: Vec<u8>,
    /// To check; none to make one.
    pub(crate) signature: Option<Vec<u8>>,
    pub(crate) outcome: Result<(), Error>,
}

impl Case {
    /// Half of them are to be made. Of those to be checked, half are damaged.
    pub(crate) fn random(signers: &[Signer], numbers: &mut Random) -> Self {
        let signer = numbers.below(signers.len());
        let length = numbers.below(200);
        let message = numbers.bytes(length);
        let mut case = Self { signer, message, signature: None, outcome: Ok(()) };
        if numbers.below(2) == 0 {
            return case;
        }
        let mut signature = signers[signer].sign(&case.message);
        match numbers.below(6) {
            0 => {
                let at = numbers.below(signature.len());
                signature[at] ^= 1 << numbers.below(8);
                case.outcome = Err(Error::Authentication);
            }
            1 => {
                case.message.push(0);
                case.outcome = Err(Error::Authentication);
            }
            2 => {
                signature.fill(0xff);
                case.outcome = Err(Error::Authentication);
            }
            _ => {}
        }
        case.signature = Some(signature);
        case
    }

    /// Asserts what came of it. `signature` is that which was made, if one was.
    pub(crate) fn assert(&self, signers: &[Signer], outcome: Result<(), Error>, signature: &[u8]) {
        assert_eq!(outcome, self.outcome, "{:?}", signers[self.signer].key);
        match &self.signature {
            None => signers[self.signer].assert_signed(&self.message, signature),
            Some(given) => assert!(given == signature, "it is left as it is"),
        }
    }

    /// The signature to check, or room for one.
    pub(crate) fn place(&self, signers: &[Signer]) -> Vec<u8> {
        self.signature.clone().unwrap_or_else(|| vec![0; signers[self.signer].length()])
    }
}
