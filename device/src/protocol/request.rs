//! Requests and completions in the rings.
//!
//! A request has eight words of 64 bits, all little-endian:
//!
//! | word | |
//! |---|---|
//! | 0 | the client's number of it, which its completion gives back |
//! | 1 | bits 0 to 31 the session, 32 to 39 the operation, 48 to 63 the length of the nonce |
//! | 2, 3, 4 | the nonce, if it has at most 24 bytes |
//! | 5 | bits 0 to 31 where it begins in the arena, 32 to 63 the length of the associated data |
//! | 6 | bits 0 to 31 the length of the message with its tag; the others are zero |
//! | 7 | zero |
//!
//! The arena contains, without gaps: a nonce of more than 24 bytes, the associated data, the
//! message, its tag. The answer replaces the message and the tag. If the daemon makes the nonce,
//! the room for it comes first, of any length. To sign or verify, the message
//! takes the place of the associated data, and the signature or the room for it that of the
//! message. A digest that is to be signed takes the place of its message. To agree, what the other
//! side sent takes the place of the associated data, and the room for the secret that of the
//! message.
//!
//! A completion has two words: the client's number, and the [status](super::status).

use lanecrypt_engine::Operation;

/// The longest nonce that is in the request, in bytes.
pub(crate) const INLINE: usize = 24;

/// The operation of a request. Numbers from [`ASYMMETRIC`](Code::ASYMMETRIC) on are those of
/// asymmetric keys, which complete later than others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// An operation under the key of a session.
    Keyed(Operation),
    /// Random bytes, without a session.
    Fill,
    /// Sign, with a digest instead of the message.
    SignDigest,
    /// Seal, with a nonce that the daemon makes.
    SealNext,
}

impl Code {
    /// The first number of operations of asymmetric keys.
    const ASYMMETRIC: u8 = 64;

    /// Its number.
    #[inline]
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Keyed(Operation::Encrypt) => 1,
            Self::Keyed(Operation::Decrypt) => 2,
            Self::Keyed(Operation::Seal) => 3,
            Self::Keyed(Operation::Open) => 4,
            Self::Fill => 5,
            Self::SealNext => 6,
            Self::Keyed(Operation::Sign) => Self::ASYMMETRIC,
            Self::Keyed(Operation::Verify) => Self::ASYMMETRIC + 1,
            Self::SignDigest => Self::ASYMMETRIC + 2,
            Self::Keyed(Operation::Agree) => Self::ASYMMETRIC + 3,
            // An operation of a later version of the engine, which every daemon refuses.
            Self::Keyed(_) => Self::ASYMMETRIC - 1,
        }
    }

    /// The code of a number.
    #[inline]
    pub(crate) fn of(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Keyed(Operation::Encrypt),
            2 => Self::Keyed(Operation::Decrypt),
            3 => Self::Keyed(Operation::Seal),
            4 => Self::Keyed(Operation::Open),
            5 => Self::Fill,
            6 => Self::SealNext,
            Self::ASYMMETRIC => Self::Keyed(Operation::Sign),
            65 => Self::Keyed(Operation::Verify),
            66 => Self::SignDigest,
            67 => Self::Keyed(Operation::Agree),
            _ => return None,
        })
    }

    /// Whether it is of an asymmetric key, and so completes later than others.
    #[inline]
    pub(crate) fn is_asymmetric(self) -> bool {
        self.operation().is_some_and(Operation::is_asymmetric)
    }

    /// Its operation of a session; none without a session.
    #[inline]
    pub(crate) fn operation(self) -> Option<Operation> {
        match self {
            Self::Keyed(operation) => Some(operation),
            Self::SignDigest => Some(Operation::Sign),
            Self::SealNext => Some(Operation::Seal),
            Self::Fill => None,
        }
    }
}

/// A request of a client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) session: u32,
    pub(crate) code: Code,
    pub(crate) nonce: &'a [u8],
    pub(crate) header: usize,
    pub(crate) length: usize,
}

impl Request<'_> {
    /// The bytes of the arena that it takes; `None` if they exceed any arena.
    #[inline]
    pub(crate) fn span(&self) -> Option<u32> {
        let span = self.arena_nonce().len().checked_add(self.header)?.checked_add(self.length)?;
        u32::try_from(span).ok().filter(|_| u16::try_from(self.nonce.len()).is_ok())
    }

    /// The nonce, or the room for one, if it is in the arena.
    #[inline]
    pub(crate) fn arena_nonce(&self) -> &[u8] {
        if is_apart(self.code, self.nonce.len()) { self.nonce } else { &[] }
    }

    /// Its words. Its [span](Self::span) must have been checked.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the span has 32 bits, the nonce 16")]
    pub(crate) fn words(&self, number: u64, offset: u32) -> [u64; 8] {
        let [first, second, third] = match is_apart(self.code, self.nonce.len()) {
            false => words_of(self.nonce),
            true => [0; 3],
        };
        let head = u64::from(self.session)
            | u64::from(self.code.number()) << 32
            | u64::from(self.nonce.len() as u16) << 48;
        let place = u64::from(offset) | u64::from(self.header as u32) << 32;
        [
            number.to_le(),
            head.to_le(),
            first,
            second,
            third,
            place.to_le(),
            u64::from(self.length as u32).to_le(),
            0,
        ]
    }
}

/// Whether a nonce of this length is in the arena.
#[inline]
fn is_apart(code: Code, length: usize) -> bool {
    length > INLINE || code == Code::SealNext
}

/// The bytes of a nonce as words, in which they have the same order in memory; the others are zero.
#[inline]
fn words_of(nonce: &[u8]) -> [u64; 3] {
    // In registers: bytes stored one by one and loaded as words would stall.
    let (whole, rest) = nonce.as_chunks::<8>();
    let rest = rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)).to_le();
    [0, 1, 2].map(|at| match whole.get(at) {
        Some(word) => u64::from_ne_bytes(*word),
        None if at == whole.len() => rest,
        None => 0,
    })
}

/// A request as received by the daemon: any numbers. Its parts are [checked](Self::places) before
/// they are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WireRequest {
    /// The client's number.
    pub(crate) number: u64,
    pub(crate) session: u32,
    operation: u8,
    nonce_length: u16,
    nonce: [u8; INLINE],
    pub(crate) offset: u32,
    header: u32,
    pub(crate) length: u32,
    reserved: bool,
}

/// The division of a request's bytes in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArenaRanges {
    /// The length of the nonce, if it is there.
    pub(crate) nonce: usize,
    /// The length of the associated data.
    pub(crate) header: usize,
    /// The length of all.
    pub(crate) span: usize,
}

impl WireRequest {
    /// Parses the words of a request.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "parts of words")]
    pub(crate) fn of(words: [u64; 8]) -> Self {
        let [number, head, first, second, third, place, length, zero] = words;
        let (head, place, length) = (u64::from_le(head), u64::from_le(place), u64::from_le(length));
        let mut nonce = [0; INLINE];
        let (rooms, _) = nonce.as_chunks_mut::<8>();
        for (room, word) in rooms.iter_mut().zip([first, second, third]) {
            *room = word.to_ne_bytes();
        }
        Self {
            number: u64::from_le(number),
            session: head as u32,
            operation: (head >> 32) as u8,
            nonce_length: (head >> 48) as u16,
            nonce,
            offset: place as u32,
            header: (place >> 32) as u32,
            length: length as u32,
            reserved: zero != 0 || length >> 32 != 0 || (head >> 40) as u8 != 0,
        }
    }

    /// Its operation.
    #[inline]
    pub(crate) fn code(&self) -> Option<Code> {
        Code::of(self.operation)
    }

    /// Its operation, if it is one of a cipher with a nonce of the client's, and the place among
    /// [`Operation::OF_CIPHERS`].
    #[inline]
    pub(crate) fn of_cipher(&self) -> Option<(Operation, usize)> {
        let place = usize::from(self.operation).wrapping_sub(1);
        Some((*Operation::OF_CIPHERS.get(place)?, place))
    }

    /// The division of its bytes, if they are within an arena of this length.
    #[inline]
    pub(crate) fn places(&self, arena: u32) -> Option<ArenaRanges> {
        let nonce = usize::from(self.nonce_length);
        let is_next = self.operation == Code::SealNext.number();
        let nonce = if nonce > INLINE || is_next { nonce } else { 0 };
        // Three numbers below 2^33 together; nothing overflows.
        let span = nonce as u64 + u64::from(self.header) + u64::from(self.length);
        let within = u64::from(self.offset) + span <= u64::from(arena);
        (within && !self.reserved).then_some(ArenaRanges {
            nonce,
            header: self.header as usize,
            span: usize::try_from(span).ok()?,
        })
    }

    /// The length of its nonce, in either place.
    #[inline]
    pub(crate) fn nonce_length(&self) -> usize {
        usize::from(self.nonce_length)
    }

    /// The nonce, if it is in the request.
    #[inline]
    pub(crate) fn nonce(&self) -> &[u8] {
        self.nonce.get(..usize::from(self.nonce_length)).unwrap_or_default()
    }
}

/// The words of a completion.
#[inline]
pub(crate) fn completion(number: u64, status: u32) -> [u64; 2] {
    [number.to_le(), u64::from(status).to_le()]
}

/// The number and the status of a completion.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the status is the lower half")]
pub(crate) fn completed([number, status]: [u64; 2]) -> (u64, u32) {
    (u64::from_le(number), u64::from_le(status) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_as_they_were_made() {
        for nonce_length in [0, 1, 8, 12, 16, 24, 25, 300] {
            let codes = [1, 2, 3, 4, 5, 6, 64, 65, 66, 67];
            for code in codes.map(|number| Code::of(number).expect("it is known")) {
                let nonce: Vec<u8> = (0..=255).cycle().take(nonce_length).collect();
                let request =
                    Request { session: 0xdead_beef, code, nonce: &nonce, header: 7, length: 100 };
                let found = WireRequest::of(request.words(u64::MAX - 1, 64));
                assert_eq!(found.number, u64::MAX - 1);
                assert_eq!((found.session, found.code()), (0xdead_beef, Some(code)));
                let is_long = nonce_length > INLINE || code == Code::SealNext;
                let long = if is_long { nonce_length } else { 0 };
                let places = found.places(4096).expect("it is within");
                assert_eq!(places, ArenaRanges { nonce: long, header: 7, span: long + 107 });
                assert_eq!(request.span(), u32::try_from(long + 107).ok());
                if code != Code::SealNext {
                    assert_eq!(found.nonce(), if long > 0 { &[] } else { &nonce[..] });
                }
            }
        }
    }

    #[test]
    fn lengths_that_overflow_are_refused() {
        let make = |offset: u64, header: u64, length: u64, nonce: u64, zero: u64| {
            WireRequest::of([0, nonce << 48, 0, 0, 0, offset | header << 32, length, zero])
        };
        let most = u64::from(u32::MAX);
        assert!(make(0, 0, 4096, 0, 0).places(4096).is_some());
        assert!(make(4096, 0, 0, 24, 0).places(4096).is_some());
        for (offset, header, length, nonce, zero) in [
            (1, 0, 4096, 0, 0),
            (0, 1, 4096, 0, 0),
            (0, 0, 4097, 0, 0),
            (4000, 0, 80, 25, 0),
            (most, 1, 0, 0, 0),
            (most, most, most, 0xffff, 0),
            (1, most, 0, 0, 0),
            (0, most, 1, 0, 0),
            (0, 0, 1 << 32, 0, 0),
            (0, 0, 16, 0, 1),
        ] {
            assert_eq!(make(offset, header, length, nonce, zero).places(4096), None);
        }
        assert_eq!(WireRequest::of([0, 1 << 40, 0, 0, 0, 0, 0, 0]).places(4096), None);
    }

    #[test]
    fn other_operations_are_unknown() {
        for number in 0..=255 {
            let code = Code::of(number);
            assert_eq!(code.is_some(), matches!(number, 1..=6 | 64..=67));
            assert!(code.is_none_or(|code| code.number() == number));
            let of_cipher =
                WireRequest::of([0, u64::from(number) << 32, 0, 0, 0, 0, 0, 0]).of_cipher();
            let expected = match code {
                Some(Code::Keyed(operation)) if !operation.is_asymmetric() => Some(operation),
                _ => None,
            };
            assert_eq!(of_cipher.map(|(operation, _)| operation), expected);
            assert_eq!(code.is_some_and(Code::is_asymmetric), number >= 64 && code.is_some());
        }
        assert_eq!(completed(completion(u64::MAX, 65)), (u64::MAX, 65));
    }
}
