//! Our checked layer as programs call it.
//!
//! The loops are the same as those of the peers' `cipher`. They are repeated here because the state
//! of a message borrows its key, so that one value cannot hold both.

use core::hint::black_box;
use std::sync::Arc;

use lanecrypt_ciphers::{Algorithm, Error, Isa, KeyError, hazmat};
use lanecrypt_peers::{Cipher, Direction, Failed, Message, Messages, Run, rounds};

use self::hazmat::Padding;

/// The key of a session: its own, or one that sessions share.
pub(crate) trait Session: Send {
    fn cipher(&self) -> &hazmat::RawCipher;

    /// The cipher, if it can take another key.
    fn own(&mut self) -> Option<&mut hazmat::RawCipher>;
}

impl Session for hazmat::RawCipher {
    #[inline]
    fn cipher(&self) -> &hazmat::RawCipher {
        self
    }

    #[inline]
    fn own(&mut self) -> Option<&mut hazmat::RawCipher> {
        Some(self)
    }
}

impl Session for Arc<hazmat::RawCipher> {
    #[inline]
    fn cipher(&self) -> &hazmat::RawCipher {
        self
    }

    fn own(&mut self) -> Option<&mut hazmat::RawCipher> {
        None
    }
}

/// Sessions of one algorithm in one direction.
pub(crate) struct Checked<K> {
    sessions: Vec<K>,
    algorithm: Algorithm,
    isa: Isa,
    direction: Direction,
}

impl Checked<hazmat::RawCipher> {
    /// A session for each key; at least one.
    pub(crate) fn new(
        algorithm: Algorithm,
        isa: Isa,
        direction: Direction,
        keys: &[&[u8]],
    ) -> Option<Self> {
        let keyed = |key: &&[u8]| hazmat::RawCipher::with_isa(isa, algorithm, key);
        let sessions: Result<Vec<_>, KeyError> = keys.iter().map(keyed).collect();
        let sessions = sessions.ok().filter(|sessions| !sessions.is_empty())?;
        Some(Self { sessions, algorithm, isa, direction })
    }
}

impl<K: Session> Checked<K> {
    /// One session with the key behind `key`.
    pub(crate) fn with(key: K, isa: Isa, direction: Direction) -> Self {
        let algorithm = key.cipher().algorithm();
        Self { sessions: vec![key], algorithm, isa, direction }
    }

    fn first(&self) -> Result<&hazmat::RawCipher, Failed> {
        self.sessions.first().map(K::cipher).ok_or(Failed)
    }

    /// One call for each message, after setting its key if it brings one.
    #[inline]
    fn each(
        &mut self,
        messages: &mut [Message<'_>],
        run: Run<'_>,
        call: impl Fn(&hazmat::RawCipher, &mut Message<'_>) -> Result<(), Error>,
    ) -> Result<(), Failed> {
        let sessions = self.sessions.as_mut_slice();
        let Some(keys) = run.keys else {
            return rounds(messages.len(), run.requests, |count| {
                messages[..count].iter_mut().try_for_each(|message| {
                    let session = sessions.get(message.session).ok_or(Failed)?;
                    answered(call(session.cipher(), message))
                })
            });
        };
        let mut keys = keys.iter().cycle();
        rounds(messages.len(), run.requests, |count| {
            messages[..count].iter_mut().try_for_each(|message| {
                let session = sessions.get_mut(message.session).ok_or(Failed)?;
                let cipher = session.own().ok_or(Failed)?;
                answered(cipher.set_key(black_box(keys.next().ok_or(Failed)?)))?;
                answered(call(cipher, message))
            })
        })
    }

    #[inline]
    fn keyed(&self, key: &[u8]) -> Result<hazmat::RawCipher, Failed> {
        answered(hazmat::RawCipher::with_isa(self.isa, self.algorithm, black_box(key)))
    }
}

impl<K: Session> Messages<Message<'_>> for Checked<K> {
    fn messages(&mut self, messages: &mut [Message<'_>], run: Run<'_>) -> Result<(), Failed> {
        match self.direction {
            Direction::Encrypt => self.each(messages, run, |cipher, message| {
                cipher.encrypt(message.iv, &mut *message.data)
            }),
            Direction::Decrypt => self.each(messages, run, |cipher, message| {
                cipher.decrypt(message.iv, &mut *message.data)
            }),
        }
    }
}

impl<K: Session> Cipher for Checked<K> {
    fn chunks(
        &mut self,
        iv: &[u8],
        data: &mut [u8],
        chunk: usize,
        times: usize,
    ) -> Result<(), Failed> {
        let cipher = self.first()?;
        match self.direction {
            Direction::Encrypt => {
                let mut encryptor = answered(cipher.encryptor(iv, Padding::None))?;
                parts(data, chunk, times, |part| encryptor.apply(part))
            }
            Direction::Decrypt => {
                let mut decryptor = answered(cipher.decryptor(iv, Padding::None))?;
                parts(data, chunk, times, |part| decryptor.apply(part))
            }
        }
    }

    fn set_ivs(&mut self, iv: &[u8], times: usize) -> Result<(), Failed> {
        let cipher = self.first()?;
        match self.direction {
            Direction::Encrypt => {
                let mut encryptor = answered(cipher.encryptor(iv, Padding::None))?;
                again(times, || answered(encryptor.restart(black_box(iv))))
            }
            Direction::Decrypt => {
                let mut decryptor = answered(cipher.decryptor(iv, Padding::None))?;
                again(times, || answered(decryptor.restart(black_box(iv))))
            }
        }
    }

    fn set_keys(&mut self, keys: &[&[u8]], times: usize) -> Result<(), Failed> {
        let mut keys = keys.iter().cycle();
        let cipher = self.sessions.first_mut().and_then(K::own).ok_or(Failed)?;
        again(times, || answered(cipher.set_key(black_box(keys.next().ok_or(Failed)?))))?;
        black_box(&cipher);
        Ok(())
    }

    fn open(&mut self, keys: &[&[u8]], iv: &[u8], times: usize) -> Result<(), Failed> {
        let mut keys = keys.iter().cycle();
        let direction = self.direction;
        again(times, || {
            let cipher = self.keyed(keys.next().ok_or(Failed)?)?;
            match direction {
                Direction::Encrypt => {
                    black_box(&answered(cipher.encryptor(black_box(iv), Padding::None))?);
                }
                Direction::Decrypt => {
                    black_box(&answered(cipher.decryptor(black_box(iv), Padding::None))?);
                }
            }
            Ok(())
        })
    }
}

#[inline]
fn answered<T, E>(result: Result<T, E>) -> Result<T, Failed> {
    result.or(Err(Failed))
}

/// One call for each `chunk` bytes of `data`, repeated `times` times.
#[inline]
fn parts(
    data: &mut [u8],
    chunk: usize,
    times: usize,
    mut apply: impl FnMut(&mut [u8]) -> Result<(), Error>,
) -> Result<(), Failed> {
    if chunk == 0 {
        return Err(Failed);
    }
    // The compiler must not specialise a cipher for a length that it can see.
    let (data, chunk) = black_box((data, chunk));
    for _ in 0..times {
        for part in data.chunks_mut(chunk) {
            answered(apply(part))?;
        }
    }
    black_box(data.as_mut_ptr());
    Ok(())
}

#[inline]
fn again(times: usize, mut call: impl FnMut() -> Result<(), Failed>) -> Result<(), Failed> {
    for _ in 0..times {
        call()?;
    }
    Ok(())
}
