//! Ciphers with authentication: what AES-GCM and ChaCha20-Poly1305 have in common.
//!
//! OpenSSL gives a message by calls for vector, associated data, data, the end and the tag. Short
//! associated data wait in the context, and the first data are sealed together with them in one
//! call of a kernel, as if no more came. The tag is ready then. If more data come, the kernel goes
//! on.

pub(crate) mod chacha;
pub(crate) mod gcm;
#[cfg(feature = "null")]
pub(crate) mod null;

use core::ops::RangeInclusive;

use inout::InOutBuf;
use lanecrypt_kernels::{Isa, equal, wipe};

use crate::abi::DescribedContext;
use crate::cipher::{CipherContext, Request};
use crate::count::Count;
use crate::info::Info;
use crate::memory::{Buffers, Plain};
use crate::params::{ParamsOut, Settings};

/// Associated data that wait for the data.
const WAITING: usize = 128;
/// The longest initialization vector.
pub(crate) const LONGEST_IV: usize = 128;
/// The associated data of a record of TLS 1.2.
pub(crate) const TLS_AAD: usize = 13;
pub(crate) const TAG: usize = 16;
/// The length of vectors, if nothing else is set.
pub(crate) const NONCE: usize = 12;

/// A keyed cipher.
///
/// # Safety
///
/// As for [`Plain`].
pub(crate) unsafe trait Sealing: Sized {
    const INFO: Info;
    /// The lists of the parameters that [`get`](Self::get) and [`set`](Self::set) know.
    const GETTABLE: DescribedContext;
    const SETTABLE: DescribedContext;
    /// The most bytes of data in a message.
    const LONGEST: u64;
    /// The lengths of initialization vectors.
    const IV_LENGTHS: RangeInclusive<usize> = 1..=LONGEST_IV;
    /// Whether a tag that was made has a length, as one that came. OpenSSL's ciphers differ.
    const TELLS_TAG_LENGTH: bool;
    /// A message so far.
    type PartialState: Clone;

    fn empty(isa: Isa) -> Self;
    fn empty_state(isa: Isa) -> Self::PartialState;
    fn set_key(&mut self, key: &[u8]);
    /// Where a message starts that has a vector of any length but 12 bytes.
    fn start(&self, iv: &[u8]) -> Start;

    /// The first piece of the data, after these associated data: its tag.
    fn first<const SEAL: bool>(
        &self,
        partial: &mut Self::PartialState,
        nonce: &[u8; NONCE],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> [u8; TAG];
    /// The same from a start.
    fn first_from<const SEAL: bool>(
        &self,
        partial: &mut Self::PartialState,
        start: &Start,
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> [u8; TAG];
    /// A message that begins with associated data that do not fit into the context.
    fn begin(&self, partial: &mut Self::PartialState, start: &Start);
    fn associate(&self, partial: &mut Self::PartialState, aad: &[u8]);
    fn next<const SEAL: bool>(&self, partial: &mut Self::PartialState, data: InOutBuf<'_, '_, u8>);
    fn tag(&self, partial: &Self::PartialState) -> [u8; TAG];

    /// What a new vector changes beside itself.
    fn vector_set(context: &mut AeadContext<Self>);
    /// Makes a vector for a message that begins without one. Fails if there is none.
    fn vector_unasked(context: &mut AeadContext<Self>) -> bool;
    fn get(context: &mut AeadContext<Self>, params_out: ParamsOut<'_>) -> bool;
    fn set(context: &mut AeadContext<Self>, settings: Settings<'_>) -> bool;
    /// A record of TLS 1.2, if one is announced: the length of what was written.
    fn tls_record(context: &mut AeadContext<Self>, data: InOutBuf<'_, '_, u8>) -> Option<usize>;
    /// What `EVP_Cipher` returns for a record of that many bytes.
    fn record_length(written: Option<usize>, length: usize) -> Option<usize>;
}

/// Where a message starts.
#[derive(Clone, Copy)]
pub(crate) enum Start {
    /// From its vector.
    Nonce([u8; NONCE]),
    /// From the first counter block, to which its vector was hashed.
    Hashed([u8; 16]),
}

/// Where a message is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// There is no vector.
    NoVector,
    /// The vector is in `iv`.
    Vector,
    /// The vector is in `start`, because `iv` is another or has another length.
    Started,
    /// Associated data have been hashed.
    Associated,
    /// Data have come in one piece, and `made` is right if no more do.
    Data,
    /// Data have come in several pieces.
    More,
    /// The vector is spent.
    Finished,
}

/// The context of one cipher. What each message touches comes first.
#[repr(C, align(64))]
pub(crate) struct AeadContext<C: Sealing> {
    pub(crate) state: State,
    pub(crate) encrypts: bool,
    pub(crate) has_key: bool,
    /// Whether vectors are made by counting.
    pub(crate) counts_iv: bool,
    /// A record of TLS 1.2 is announced, with `tls_aad`.
    pub(crate) tls: bool,
    /// Bytes of associated data that wait.
    waiting: usize,
    /// Bytes of data so far.
    length: u64,
    pub(crate) iv_length: usize,
    /// The length of the tag; zero if there is none yet.
    pub(crate) tag_length: usize,
    count: Count,
    pub(crate) tls_padding: usize,
    pub(crate) tls_payload: usize,
    /// The tag that came with a message to be opened.
    pub(crate) tag: [u8; TAG],
    /// The tag of what has come.
    pub(crate) made: [u8; TAG],
    /// The fixed vector of records of TLS 1.2.
    pub(crate) fixed: [u8; NONCE],
    pub(crate) tls_aad: [u8; TLS_AAD],
    pub(crate) start: Start,
    pub(crate) iv: [u8; LONGEST_IV],
    aad: [u8; WAITING],
    partial: C::PartialState,
    pub(crate) cipher: C,
}

// SAFETY: plain bytes, numbers and keys, which are as the trait says.
unsafe impl<C: Sealing> Plain for AeadContext<C> {}

impl<C: Sealing> Drop for AeadContext<C> {
    /// Key and message wipe themselves.
    fn drop(&mut self) {
        wipe::memory(&mut self.tag);
        wipe::memory(&mut self.made);
        wipe::memory(&mut self.aad);
        wipe::memory(&mut self.fixed);
    }
}

impl<C: Sealing> AeadContext<C> {
    #[inline]
    fn set_iv(&mut self, iv: &[u8]) -> bool {
        if !C::IV_LENGTHS.contains(&iv.len()) {
            return false;
        }
        if let ([first, second, third], []) = iv.as_chunks::<4>()
            && let Some(place) = self.iv.first_chunk_mut::<NONCE>()
        {
            // In words, as they are loaded again soon.
            for (place, word) in place.as_chunks_mut().0.iter_mut().zip([first, second, third]) {
                *place = *word;
            }
        } else {
            let Some(place) = self.iv.get_mut(..iv.len()) else { return false };
            place.copy_from_slice(iv);
        }
        self.iv_length = iv.len();
        self.begin_with(State::Vector);
        self.tls = false;
        C::vector_set(self);
        true
    }

    fn set_key(&mut self, key: &[u8]) -> bool {
        if key.len() != C::INFO.key {
            return false;
        }
        self.cipher.set_key(key);
        self.has_key = true;
        // A message that has begun under another key begins again.
        let begun =
            matches!(self.state, State::Started | State::Associated | State::Data | State::More);
        self.begin_with(if begun { State::Vector } else { self.state });
        self.tls = false;
        true
    }

    /// Nothing has come yet.
    #[inline]
    pub(crate) fn begin_with(&mut self, state: State) {
        self.state = state;
        self.waiting = 0;
        self.length = 0;
    }

    /// Prepares a message that has not begun. Fails if there is no vector or no key, or the message
    /// is over.
    #[inline]
    fn ensure_started(&mut self) -> bool {
        if !self.has_key {
            return false;
        }
        match self.state {
            State::Vector if self.iv_length == NONCE => true,
            State::Vector => {
                self.start_from_vector();
                true
            }
            State::NoVector => C::vector_unasked(self) && self.ensure_started(),
            State::Finished => false,
            State::Started | State::Associated | State::Data | State::More => true,
        }
    }

    /// Fixes the vector of the message, so that another may take its place.
    pub(crate) fn start_from_vector(&mut self) {
        let length = self.iv_length;
        if let (Some(iv), NONCE) = (self.iv.first_chunk(), length) {
            self.start = Start::Nonce(*iv);
        } else if let Some(iv) = self.iv.get(..length) {
            self.start = self.cipher.start(iv);
        }
        self.state = State::Started;
    }

    fn associate(&mut self, aad: &[u8]) -> bool {
        if !self.ensure_started() {
            return false;
        }
        let end = self.waiting + aad.len();
        match self.state {
            State::Vector | State::Started => {
                if let Some(place) = self.aad.get_mut(self.waiting..end) {
                    put(place, aad);
                    self.waiting = end;
                    return true;
                }
                self.start_hashing();
            }
            State::Associated => {}
            _ => return false,
        }
        self.cipher.associate(&mut self.partial, aad);
        true
    }

    /// Hashes the associated data that wait, because there are too many.
    fn start_hashing(&mut self) {
        if self.state == State::Vector {
            self.start_from_vector();
        }
        self.cipher.begin(&mut self.partial, &self.start);
        let waiting = self.aad.get(..self.waiting).unwrap_or_default();
        self.cipher.associate(&mut self.partial, waiting);
        self.state = State::Associated;
    }

    #[inline]
    fn crypt(&mut self, data: InOutBuf<'_, '_, u8>) -> bool {
        let total = self.length.saturating_add(data.len() as u64);
        if !self.ensure_started() || total > C::LONGEST {
            return false;
        }
        self.length = total;
        match self.state {
            State::Vector | State::Started => {
                self.made = if self.encrypts {
                    self.first::<true>(data)
                } else {
                    self.first::<false>(data)
                };
                self.state = State::Data;
            }
            _ => self.go_on(data),
        }
        true
    }

    /// The first data, with the associated data that wait.
    #[inline(always)]
    fn first<const SEAL: bool>(&mut self, data: InOutBuf<'_, '_, u8>) -> [u8; TAG] {
        let aad = self.aad.get(..self.waiting).unwrap_or_default();
        match (self.state, self.iv.first_chunk()) {
            (State::Vector, Some(iv)) => {
                self.cipher.first::<SEAL>(&mut self.partial, iv, aad, data)
            }
            _ => self.cipher.first_from::<SEAL>(&mut self.partial, &self.start, aad, data),
        }
    }

    #[inline(never)]
    fn go_on(&mut self, data: InOutBuf<'_, '_, u8>) {
        if self.encrypts {
            self.cipher.next::<true>(&mut self.partial, data);
        } else {
            self.cipher.next::<false>(&mut self.partial, data);
        }
        self.state = State::More;
    }

    /// The end of a message: makes the tag, or compares it. Either way the vector is spent.
    #[inline]
    fn end(&mut self) -> bool {
        if !self.encrypts && self.tag_length == 0 || !self.ensure_started() {
            return false;
        }
        match self.state {
            State::Data => {}
            State::Vector | State::Started => {
                self.made = self.first::<true>((&mut [][..]).into());
            }
            _ => self.made = self.cipher.tag(&self.partial),
        }
        self.count.one_more();
        self.begin_with(State::Finished);
        if self.encrypts {
            if C::TELLS_TAG_LENGTH {
                self.tag_length = TAG;
            }
            return true;
        }
        self.tag_is_right()
    }

    /// Takes the tag of a message to be opened.
    #[inline]
    fn set_tag(&mut self, tag: &[u8]) -> bool {
        let Some(place) = self.tag.get_mut(..tag.len()) else { return false };
        if tag.is_empty() || self.encrypts {
            return false;
        }
        match (place.as_chunks_mut(), tag.as_chunks::<8>()) {
            (([a, b], []), ([c, d], [])) => (*a, *b) = (*c, *d),
            _ => self.tag[..tag.len()].copy_from_slice(tag),
        }
        self.tag_length = tag.len();
        true
    }

    /// The front of the tag of a message that is over.
    #[inline]
    pub(crate) fn tag(&self, length: usize) -> Option<&[u8]> {
        if !self.encrypts || self.state != State::Finished || length == 0 {
            return None;
        }
        self.made.get(..length)
    }

    /// Whether the tag that came is the one that was made, in constant time.
    #[inline]
    fn tag_is_right(&self) -> bool {
        if self.tag_length == TAG {
            return equal(&self.made, &self.tag);
        }
        let (mut made, mut came) = (self.made, self.tag);
        for (at, (made, came)) in made.iter_mut().zip(&mut came).enumerate() {
            if at >= self.tag_length {
                (*made, *came) = (0, 0);
            }
        }
        equal(&made, &came)
    }

    /// A record of TLS 1.2 follows, which carries so many bytes of its vector.
    fn announce(&mut self, aad: &[u8], explicit: usize) -> bool {
        let Ok(aad) = <[u8; TLS_AAD]>::try_from(aad) else { return false };
        let [.., high, low] = aad;
        let length = usize::from(u16::from_be_bytes([high, low]));
        let others = if self.encrypts { explicit } else { explicit + TAG };
        let Some(length) = length.checked_sub(others) else { return false };
        self.tls_aad = aad;
        let [.., high, low] = &mut self.tls_aad;
        // It was no longer than 16 bits.
        let [.., upper, lower] = (length as u64).to_be_bytes();
        (*high, *low) = (upper, lower);
        self.tls_payload = length;
        self.tls = true;
        self.tls_padding = TAG;
        true
    }

    /// A record of TLS 1.2, whole and with its tag.
    #[inline]
    fn record(&mut self, data: InOutBuf<'_, '_, u8>) -> Option<usize> {
        self.tls = false;
        let length = if self.has_key { C::tls_record(self, data) } else { None };
        if length.is_some() {
            self.count.one_more();
        }
        length
    }
}

impl<C: Sealing> CipherContext for AeadContext<C> {
    const INFO: Info = C::INFO;
    const GETTABLE: DescribedContext = C::GETTABLE;
    const SETTABLE: DescribedContext = C::SETTABLE;
    const SKIPS_EMPTY: bool = true;

    #[inline]
    fn new(isa: Isa) -> Self {
        Self {
            state: State::NoVector,
            encrypts: false,
            has_key: false,
            counts_iv: false,
            tls: false,
            waiting: 0,
            length: 0,
            iv_length: NONCE,
            tag_length: 0,
            count: Count::of_new_context(),
            tls_padding: 0,
            tls_payload: 0,
            tag: [0; TAG],
            made: [0; TAG],
            fixed: [0; NONCE],
            tls_aad: [0; TLS_AAD],
            start: Start::Nonce([0; NONCE]),
            iv: [0; LONGEST_IV],
            aad: [0; WAITING],
            partial: C::empty_state(isa),
            cipher: C::empty(isa),
        }
    }

    fn count(&mut self) -> &mut Count {
        &mut self.count
    }

    #[inline]
    fn init(&mut self, encrypts: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> bool {
        self.encrypts = encrypts;
        if let Some(iv) = iv
            && !self.set_iv(iv)
        {
            return false;
        }
        if let Some(key) = key {
            return self.set_key(key);
        }
        true
    }

    #[inline]
    fn update(&mut self, request: Request) -> Option<usize> {
        match request.buffers()? {
            Buffers::Data(data) if self.tls => self.record(data),
            Buffers::Data(data) => self.crypt(data).then_some(request.length),
            Buffers::Associated(aad) => self.associate(aad).then_some(request.length),
            Buffers::End => None,
        }
    }

    #[inline]
    fn finish(&mut self, _: *mut u8, _: usize) -> Option<usize> {
        self.end().then_some(0)
    }

    /// Any of the others, as the pointers say.
    #[inline]
    fn cipher(&mut self, request: Request) -> Option<usize> {
        match request.buffers()? {
            Buffers::Data(data) if self.tls => C::record_length(self.record(data), request.length),
            Buffers::Data(data) => self.crypt(data).then_some(request.length),
            Buffers::Associated(aad) => self.associate(aad).then_some(request.length),
            Buffers::End => self.end().then_some(0),
        }
    }

    #[inline]
    fn get(&mut self, params_out: ParamsOut<'_>) -> bool {
        C::get(self, params_out)
    }

    #[inline]
    fn set(&mut self, settings: Settings<'_>) -> bool {
        C::set(self, settings)
    }
}

/// Copies a few bytes in parts that do not overlap: loads of them that follow at once would wait
/// for overlapping ones.
#[inline]
fn put(place: &mut [u8], bytes: &[u8]) {
    if place.len() > 16 {
        return place.copy_from_slice(bytes);
    }
    let (places, place) = place.as_chunks_mut::<8>();
    let (eights, bytes) = bytes.as_chunks::<8>();
    for (place, eight) in places.iter_mut().zip(eights) {
        *place = *eight;
    }
    let (places, place) = place.as_chunks_mut::<4>();
    let (fours, bytes) = bytes.as_chunks::<4>();
    for (place, four) in places.iter_mut().zip(fours) {
        *place = *four;
    }
    for (place, byte) in place.iter_mut().zip(bytes) {
        *place = *byte;
    }
}

/// What of [`Sealing`] kernels do that can go on with a message.
macro_rules! by_kernel {
    () => {
        fn set_key(&mut self, key: &[u8]) {
            if let Ok(key) = key.try_into() {
                Aead::set_key(self, key);
            }
        }

        #[inline]
        fn first<const SEAL: bool>(
            &self,
            partial: &mut PartialState,
            nonce: &[u8; NONCE],
            aad: &[u8],
            data: InOutBuf<'_, '_, u8>,
        ) -> [u8; TAG] {
            if SEAL {
                self.seal_resumable(partial, nonce, aad, data)
            } else {
                self.open_resumable(partial, nonce, aad, data)
            }
        }

        fn associate(&self, partial: &mut PartialState, aad: &[u8]) {
            self.associate_more(partial, aad);
        }

        fn next<const SEAL: bool>(&self, partial: &mut PartialState, data: InOutBuf<'_, '_, u8>) {
            if SEAL {
                self.seal_more(partial, data);
            } else {
                self.open_more(partial, data);
            }
        }

        fn tag(&self, partial: &PartialState) -> [u8; TAG] {
            self.tag_of(partial)
        }
    };
}

use by_kernel;
