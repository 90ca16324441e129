//! Ciphers as the tables measure them, and their loops, written once for all.

use core::hint::black_box;

use crate::direction::Direction;
use crate::loops::{Addressed, Loops, Messages, Run, rounds};
use crate::peer::{Kind, Session};
use crate::{Failed, Peer, lengths};

/// A whole message of a [`Cipher`].
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "measuring code makes it, field by field")]
pub struct Message<'a> {
    /// The index of the session that has its key.
    pub session: usize,
    /// The IV.
    pub iv: &'a [u8],
    /// The data to encrypt or decrypt in place.
    pub data: &'a mut [u8],
}

impl Addressed for Message<'_> {
    #[inline]
    fn session(&self) -> usize {
        self.session
    }
}

/// One algorithm in one direction. A message starts with its IV.
///
/// All methods except [`Messages::messages`] use the first session and end at the first request
/// that fails. The default implementations fail, because not every API has all of these calls.
pub trait Cipher: for<'m> Messages<Message<'m>> {
    /// Starts a message, then makes one call for each `chunk` bytes of `data` and one for the rest.
    /// This is repeated `times` times, which continues the message.
    ///
    /// # Errors
    ///
    /// [`Failed`] in the cases of [`Crypt::start`] and [`Crypt::next`], or if `chunk` is zero.
    fn chunks(
        &mut self,
        iv: &[u8],
        data: &mut [u8],
        chunk: usize,
        times: usize,
    ) -> Result<(), Failed> {
        let _ = (iv, data, chunk, times);
        Err(Failed)
    }

    /// Starts a message `times` times.
    ///
    /// # Errors
    ///
    /// [`Failed`] as for [`Crypt::start`].
    fn set_ivs(&mut self, iv: &[u8], times: usize) -> Result<(), Failed> {
        let _ = (iv, times);
        Err(Failed)
    }

    /// Sets the keys of `keys` in turn, `times` in total, starting again from the first if
    /// necessary.
    ///
    /// # Errors
    ///
    /// [`Failed`] in the cases of [`Crypt::key`], or if there are no keys.
    fn set_keys(&mut self, keys: &[&[u8]], times: usize) -> Result<(), Failed> {
        let _ = (keys, times);
        Err(Failed)
    }

    /// Makes `times` contexts, one after another, with the keys of `keys` in turn, and frees each.
    ///
    /// # Errors
    ///
    /// [`Failed`] in the cases of [`Crypt::open`], or if there are no keys.
    fn open(&mut self, keys: &[&[u8]], iv: &[u8], times: usize) -> Result<(), Failed> {
        let _ = (keys, iv, times);
        Err(Failed)
    }

    /// Looks the algorithm up `times` times.
    ///
    /// # Errors
    ///
    /// [`Failed`] as for [`Crypt::fetch`].
    fn fetch(&mut self, times: usize) -> Result<(), Failed> {
        let _ = times;
        Err(Failed)
    }
}

/// One algorithm in one direction, keyed: the single requests that a [`Cipher`] repeats.
///
/// Every peer implements it, and so can callers for their own ciphers. Implementations mark the
/// timed methods `#[inline]`, so that the loops are compiled for each cipher and contain nothing
/// else. Dropping one frees its context.
pub trait Crypt {
    /// Begins a message under the kept key by setting the IV: the first counter block in counter
    /// mode, the tweak in XTS, or the nonce for a stream cipher, whose block counter begins at
    /// zero.
    ///
    /// # Errors
    ///
    /// [`Failed`] if `iv` does not have the algorithm's length, or the call failed.
    fn start(&mut self, iv: &[u8]) -> Result<(), Failed>;

    /// Encrypts or decrypts the next bytes of the message in place: one call of the API. In XTS
    /// these are the whole message, a data unit of at least 16 bytes.
    ///
    /// # Errors
    ///
    /// [`Failed`] if the call failed, for example for a partial block in CBC, or a second call in
    /// XTS.
    fn next(&mut self, data: &mut [u8]) -> Result<(), Failed>;

    /// Sets another key in the same context, so that its schedule is computed. The next message
    /// must begin with [`Crypt::start`].
    ///
    /// # Errors
    ///
    /// [`Failed`] if the key does not have the algorithm's length, or the call failed.
    fn key(&mut self, key: &[u8]) -> Result<(), Failed>;

    /// Makes a context like this one with a key and an IV, and frees it.
    ///
    /// # Errors
    ///
    /// [`Failed`] if the API has no contexts, which is the default, or a call failed.
    #[inline]
    fn open(&mut self, key: &[u8], iv: &[u8]) -> Result<(), Failed> {
        let _ = (key, iv);
        Err(Failed)
    }

    /// Looks the algorithm up by its name, and frees it.
    ///
    /// # Errors
    ///
    /// [`Failed`] if the API has no such call, which is the default, or it failed.
    #[inline]
    fn fetch(&mut self) -> Result<(), Failed> {
        Err(Failed)
    }
}

/// Wraps `sessions`, which differ in their keys only, in the measured loops; `None` without any.
#[must_use]
pub fn cipher<C: Crypt + Send + 'static>(sessions: Vec<C>) -> Option<Box<dyn Cipher>> {
    Some(Box::new(Loops::new(Direction::Encrypt, sessions)?))
}

impl<C: Crypt + Send + 'static> Session<dyn Cipher> for C {
    fn boxed(_: Direction, sessions: Vec<Self>) -> Option<Box<dyn Cipher>> {
        cipher(sessions)
    }
}

impl<C: Crypt + Send> Messages<Message<'_>> for Loops<C> {
    fn messages(&mut self, messages: &mut [Message<'_>], run: Run<'_>) -> Result<(), Failed> {
        self.each(messages, run, C::key, |crypt, message| {
            crypt.start(message.iv)?;
            crypt.next(message.data)
        })
    }
}

impl<C: Crypt + Send> Cipher for Loops<C> {
    fn chunks(
        &mut self,
        iv: &[u8],
        data: &mut [u8],
        chunk: usize,
        times: usize,
    ) -> Result<(), Failed> {
        let crypt = self.first()?;
        if chunk == 0 {
            return Err(Failed);
        }
        // The compiler must not specialise a cipher for a length that it can see.
        let (data, chunk) = black_box((data, chunk));
        crypt.start(iv)?;
        for _ in 0..times {
            for part in data.chunks_mut(chunk) {
                crypt.next(part)?;
            }
        }
        black_box(data.as_mut_ptr());
        Ok(())
    }

    fn set_ivs(&mut self, iv: &[u8], times: usize) -> Result<(), Failed> {
        let crypt = self.first()?;
        for _ in 0..times {
            crypt.start(black_box(iv))?;
        }
        Ok(())
    }

    fn set_keys(&mut self, keys: &[&[u8]], times: usize) -> Result<(), Failed> {
        let crypt = self.first()?;
        rounds(keys.len(), times, |count| {
            for key in &keys[..count] {
                crypt.key(black_box(key))?;
            }
            Ok(())
        })?;
        // Prevents the removal of a schedule that the next one replaces.
        black_box(crypt);
        Ok(())
    }

    fn open(&mut self, keys: &[&[u8]], iv: &[u8], times: usize) -> Result<(), Failed> {
        let crypt = self.first()?;
        rounds(keys.len(), times, |count| {
            for key in &keys[..count] {
                crypt.open(black_box(key), black_box(iv))?;
            }
            Ok(())
        })
    }

    fn fetch(&mut self, times: usize) -> Result<(), Failed> {
        let crypt = self.first()?;
        for _ in 0..times {
            crypt.fetch()?;
        }
        Ok(())
    }
}

impl Kind for dyn Cipher {
    fn fault(peer: &Peer<Self>) -> Option<String> {
        (!works(peer)).then(|| format!("has no working {} here", peer.subject))
    }
}

/// Whether encrypted data can be decrypted, in one call and, except in XTS, in two.
fn works(peer: &Peer<dyn Cipher>) -> bool {
    let Some((key_len, iv_len)) = lengths(peer.subject) else { return false };
    let Some(key) = KEY.get(..key_len) else { return false };
    let iv = [7; 16];
    let Some(iv) = iv.get(..iv_len) else { return false };
    // A data unit of XTS cannot be split.
    let first = if peer.subject.ends_with("xts") { 128 } else { 64 };
    let plain: [u8; 128] = core::array::from_fn(|at| u8::try_from(at).unwrap_or(0));
    let mut data = plain;
    let mut run = |direction, chunk| {
        let mut cipher = peer.open(direction, &[key])?;
        cipher.chunks(iv, &mut data, chunk, 1).ok()?;
        Some(data)
    };
    run(Direction::Encrypt, first).is_some_and(|data| data != plain)
        && run(Direction::Decrypt, 128) == Some(plain)
}
/// The key of the first test: three different keys of DES that are not weak, and different halves
/// for XTS.
const KEY: [u8; 64] = [
    0x23, 0x57, 0x68, 0x4c, 0xa1, 0x0e, 0x92, 0xdb, 0x0d, 0x7c, 0x85, 0xe3, 0x19, 0x2a, 0xb6, 0xf4,
    0x51, 0x8f, 0x3e, 0xc2, 0x76, 0xad, 0x04, 0x98, 0x6b, 0xd0, 0x1f, 0xe9, 0x47, 0xbc, 0x32, 0x8a,
    0xc6, 0x09, 0xd3, 0x5e, 0x1b, 0xf7, 0x88, 0x24, 0x60, 0xae, 0x91, 0x3d, 0x7f, 0x02, 0xec, 0x55,
    0x0a, 0xb8, 0x4d, 0xf1, 0x37, 0x9c, 0x63, 0xde, 0x82, 0x19, 0xc5, 0x70, 0x2e, 0xeb, 0x46, 0x93,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills its data with digits for the key, the IV and its own count.
    #[derive(Default)]
    struct Counter {
        key: u8,
        iv: u8,
        calls: u8,
        left: Option<u8>,
    }

    impl Crypt for Counter {
        fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
            self.iv = *iv.first().ok_or(Failed)?;
            Ok(())
        }

        fn next(&mut self, data: &mut [u8]) -> Result<(), Failed> {
            if let Some(left) = &mut self.left {
                *left = left.checked_sub(1).ok_or(Failed)?;
            }
            self.calls += 1;
            data.fill(self.key + self.iv + self.calls);
            Ok(())
        }

        fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
            self.key = *key.first().ok_or(Failed)?;
            Ok(())
        }
    }

    fn counters(keys: &[u8]) -> Box<dyn Cipher> {
        let sessions = keys.iter().map(|&key| Counter { key, ..Counter::default() }).collect();
        cipher(sessions).expect("there are keys")
    }

    #[test]
    fn chunks_are_calls_and_the_rest_is_one_too() {
        let mut data = [0; 7];
        counters(&[100, 200]).chunks(&[10], &mut data, 3, 1).expect("nothing fails");
        assert_eq!(data, [111, 111, 111, 112, 112, 112, 113]);
        counters(&[100]).chunks(&[10], &mut data, 9, 2).expect("nothing fails");
        assert_eq!(data, [112; 7], "two calls");
        assert_eq!(counters(&[100]).chunks(&[10], &mut data, 0, 1), Err(Failed));
    }

    #[test]
    fn messages_go_to_their_sessions_again_and_again() {
        let mut data = [[0; 2]; 3];
        let [a, b, c] = &mut data;
        let mut batch = [
            Message { session: 1, iv: &[1], data: a },
            Message { session: 0, iv: &[2], data: b },
            Message { session: 1, iv: &[3], data: c },
        ];
        let mut cipher = counters(&[10, 50]);
        cipher.messages(&mut batch, Run::of(5)).expect("nothing fails");
        assert_eq!(data, [[54; 2], [14; 2], [55; 2]], "the first two went twice");
    }

    #[test]
    fn keys_are_used_in_turn() {
        let mut data = [0; 4];
        let mut cipher = counters(&[0]);
        cipher.set_keys(&[&[10], &[20]], 3).expect("nothing fails");
        cipher.chunks(&[0], &mut data, 4, 1).expect("nothing fails");
        assert_eq!(data, [11; 4]);
        let mut batch = [Message { session: 0, iv: &[1], data: &mut data }];
        let keys: [&[u8]; 2] = [&[30], &[40]];
        cipher.messages(&mut batch, Run::of(2).with_keys(Some(&keys))).expect("nothing fails");
        assert_eq!(data, [44; 4]);
        assert_eq!(cipher.set_keys(&[], 1), Err(Failed));
        assert_eq!(cipher.set_keys(&[], 0), Ok(()));
    }

    #[test]
    fn a_failure_ends_the_batch() {
        let mut data = [0; 4];
        let limited = Counter { left: Some(2), ..Counter::default() };
        let mut cipher = cipher(vec![limited]).expect("one session");
        assert_eq!(cipher.chunks(&[0], &mut data, 1, 1), Err(Failed));
        assert_eq!(data, [1, 2, 0, 0]);
        assert_eq!(cipher.open(&[&[1]], &[1], 1), Err(Failed), "it has no contexts");
        assert_eq!(cipher.fetch(1), Err(Failed), "nor names");
        assert!(super::cipher::<Counter>(Vec::new()).is_none());
    }
}
