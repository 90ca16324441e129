//! What a driver of tests does itself: the keys of its sessions, and the jobs under them.

use lanecrypt_ciphers::{Cipher, hazmat};
use lanecrypt_engine::{Algorithm, Error, Isa, Job, Operation};

/// The key of a session.
#[derive(Debug)]
pub enum Kept {
    Sealed(Cipher),
    Raw(hazmat::RawCipher),
}

impl Kept {
    /// Expands a key.
    pub fn new(isa: Isa, algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
        Ok(match algorithm.is_aead() {
            true => Self::Sealed(Cipher::with_isa(isa, algorithm, key)?),
            false => Self::Raw(hazmat::RawCipher::with_isa(isa, algorithm, key)?),
        })
    }

    /// Serves a job, which is still to be settled with the outcome.
    pub fn serve(&self, job: &mut Job<'_, '_>) -> Result<(), Error> {
        let (nonce, aad, operation) = (job.nonce(), job.aad(), job.operation());
        match (self, operation) {
            (Self::Raw(cipher), Operation::Encrypt) => cipher.encrypt(nonce, job.data()?),
            (Self::Raw(cipher), Operation::Decrypt) => cipher.decrypt(nonce, job.data()?),
            (Self::Sealed(cipher), Operation::Seal) => {
                let mut tag = vec![0; job.tag_length()];
                cipher.seal_detached(nonce, aad, job.data()?, &mut tag)?;
                job.put_tag(&tag)
            }
            (Self::Sealed(cipher), Operation::Open) => {
                let tag = job.tag().map(<[u8]>::to_vec).unwrap_or_default();
                cipher.open_detached(nonce, aad, job.data()?, &tag)
            }
            _ => Err(Error::Unsupported),
        }
    }
}
