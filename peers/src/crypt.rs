//! The measured loops, written once for every cipher.

use core::hint::black_box;

use crate::{Cipher, Failed, Message};

/// One algorithm in one direction, keyed: the single requests that a [`Cipher`] repeats.
///
/// Every peer implements it, and whoever measures ciphers of his own beside them. Implementations
/// mark what is timed `#[inline]`, so that the loops are compiled for each cipher and contain
/// nothing else. Dropping one frees its context.
pub trait Crypt {
    /// Begins a message under the kept key, by setting the IV: the first counter block in counter
    /// mode, the tweak in XTS, the nonce for a stream cipher, whose block counter begins at zero.
    ///
    /// # Errors
    ///
    /// [`Failed`] when `iv` is of another length than the algorithm's, or the call failed.
    fn start(&mut self, iv: &[u8]) -> Result<(), Failed>;

    /// Encrypts or decrypts the next bytes of the message, in place: one call of the API. In XTS
    /// these are the whole message, a data unit of 16 bytes or more.
    ///
    /// # Errors
    ///
    /// [`Failed`] when the call failed, such as for a part of a block in CBC, or a second call in
    /// XTS.
    fn next(&mut self, data: &mut [u8]) -> Result<(), Failed>;

    /// Sets another key in the same context, so that its schedule is computed; a message begins
    /// with [`Crypt::start`] afterwards.
    ///
    /// # Errors
    ///
    /// [`Failed`] when the key's length is not the algorithm's, or the call failed.
    fn key(&mut self, key: &[u8]) -> Result<(), Failed>;

    /// Makes a context like this one with a key and an IV, and frees it.
    ///
    /// # Errors
    ///
    /// [`Failed`] when the API has no contexts, as without an implementation, or a call failed.
    #[inline]
    fn open(&mut self, key: &[u8], iv: &[u8]) -> Result<(), Failed> {
        let _ = (key, iv);
        Err(Failed)
    }

    /// Looks the algorithm up by its name, and forgets it.
    ///
    /// # Errors
    ///
    /// [`Failed`] when the API has no such call, as without an implementation, or it failed.
    #[inline]
    fn fetch(&mut self) -> Result<(), Failed> {
        Err(Failed)
    }
}

/// Wraps `sessions`, which differ in their keys only, in the measured loops; `None` without any.
#[must_use]
pub fn cipher<C: Crypt + Send + 'static>(sessions: Vec<C>) -> Option<Box<dyn Cipher>> {
    if sessions.is_empty() {
        return None;
    }
    Some(Box::new(Loops(sessions)))
}

/// The sessions, one at least.
struct Loops<C>(Vec<C>);

impl<C> Loops<C> {
    fn first(&mut self) -> Result<&mut C, Failed> {
        self.0.first_mut().ok_or(Failed)
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
        // The compiler must not specialise a cipher for a length that it happens to know.
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

    fn messages(&mut self, batch: &mut [Message<'_>], requests: usize) -> Result<(), Failed> {
        let sessions = self.0.as_mut_slice();
        rounds(batch.len(), requests, |count| {
            for message in &mut batch[..count] {
                let crypt = sessions.get_mut(message.session).ok_or(Failed)?;
                crypt.start(message.iv)?;
                crypt.next(message.data)?;
            }
            Ok(())
        })
    }

    fn messages_rekeyed(
        &mut self,
        batch: &mut [Message<'_>],
        keys: &[&[u8]],
        requests: usize,
    ) -> Result<(), Failed> {
        let sessions = self.0.as_mut_slice();
        let mut keys = keys.iter().cycle();
        rounds(batch.len(), requests, |count| {
            for message in &mut batch[..count] {
                let crypt = sessions.get_mut(message.session).ok_or(Failed)?;
                crypt.key(keys.next().ok_or(Failed)?)?;
                crypt.start(message.iv)?;
                crypt.next(message.data)?;
            }
            Ok(())
        })
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
        // So that no schedule is dropped for the next one.
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

/// Divides `requests` into rounds through `len` things: calls `round` with how many of them, from
/// the first, to go through.
///
/// # Errors
///
/// [`Failed`] as `round`, or when there are requests but no things.
#[inline]
pub fn rounds(
    len: usize,
    requests: usize,
    mut round: impl FnMut(usize) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let mut left = requests;
    while left > 0 {
        let count = left.min(len);
        if count == 0 {
            return Err(Failed);
        }
        round(count)?;
        left -= count;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes what it is told: the key's, the IV's and its own count into each byte of its data.
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
        cipher.messages(&mut batch, 5).expect("nothing fails");
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
        cipher.messages_rekeyed(&mut batch, &[&[30], &[40]], 2).expect("nothing fails");
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
