//! Message authentication codes.

use hmac::{Hmac, KeyInit as _, Mac as _};
use lanecrypt_ciphers::{Error, Isa};
use lanecrypt_kernels::poly1305::Poly1305;
use sha1::Sha1;
use sha2::Sha256;

use super::calls;
use super::refusal::Refusal;

/// A built-in code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    HmacSha1,
    HmacSha256,
    Poly1305,
}

impl Code {
    const ALL: [Self; 3] = [Self::HmacSha1, Self::HmacSha256, Self::Poly1305];

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::HmacSha1 => "hmac-sha1",
            Self::HmacSha256 => "hmac-sha256",
            Self::Poly1305 => "poly1305",
        }
    }
}

/// A message to make the code of.
pub(crate) struct CodeRequest {
    pub(crate) code: Code,
    pub(crate) key: Vec<u8>,
    /// The sizes of successive calls; an empty list means one call.
    pub(crate) chunks: Vec<usize>,
    pub(crate) data: Vec<u8>,
}

impl CodeRequest {
    /// The code of the data, call by call.
    pub(crate) fn run(&self, isa: Isa) -> Result<Vec<u8>, Refusal> {
        calls::check(&self.chunks, self.data.len())?;
        Ok(match self.code {
            Code::HmacSha1 => {
                let mut hmac =
                    Hmac::<Sha1>::new_from_slice(&self.key).map_err(|_| Error::KeyLength)?;
                self.pass(|piece| hmac.update(piece));
                hmac.finalize().into_bytes().to_vec()
            }
            Code::HmacSha256 => {
                let mut hmac =
                    Hmac::<Sha256>::new_from_slice(&self.key).map_err(|_| Error::KeyLength)?;
                self.pass(|piece| hmac.update(piece));
                hmac.finalize().into_bytes().to_vec()
            }
            Code::Poly1305 => {
                let key = self.key.as_slice().try_into().map_err(|_| Error::KeyLength)?;
                self.poly1305(isa, key).to_vec()
            }
        })
    }

    /// The kernel takes whole blocks: a partial block waits for the next call.
    fn poly1305(&self, isa: Isa, key: &[u8; 32]) -> [u8; 16] {
        let mut poly = Poly1305::new(isa, key);
        let mut waiting = Vec::new();
        self.pass(|piece| {
            waiting.extend_from_slice(piece);
            let (blocks, rest) = waiting.as_chunks();
            poly.absorb(blocks);
            let whole = waiting.len() - rest.len();
            waiting.drain(..whole);
        });
        poly.absorb_last(&waiting);
        poly.tag()
    }

    /// Passes the data to `call`, piece by piece.
    fn pass(&self, mut call: impl FnMut(&[u8])) {
        let mut data = self.data.as_slice();
        for size in calls::sizes(&self.chunks, data.len()) {
            let (piece, rest) = data.split_at(size);
            call(piece);
            data = rest;
        }
    }
}
