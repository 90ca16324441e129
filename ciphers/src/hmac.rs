//! HMAC (RFC 2104; FIPS 198-1) over the compression functions of the crates `sha1` and `sha2`.
//!
//! The crate `hmac` keeps a buffer in each key and copies it for each message. Here a key is two
//! hash states; blocks of the message are hashed where they lie, and two messages can take turns,
//! block by block: the processor overlaps them, and each costs two thirds of what it does alone.
//! Constant time but for lengths.

mod secret_length;

use core::slice;

use lanecrypt_kernels::wipe;
use subtle::{Choice, ConstantTimeEq};
use zeroize::ZeroizeOnDrop;

use crate::Error;

/// The longest code, that of SHA-384.
const LONGEST: usize = 48;

/// A hash function with blocks of `BLOCK` bytes, as the Merkle-Damgård construction of its
/// compression function.
pub(crate) trait Hash<const BLOCK: usize>: Sized {
    /// The chaining value.
    type State: Copy + Default;
    /// The first chaining value (FIPS 180-4, section 5.3).
    const INITIAL: Self::State;
    /// Bytes of the field that holds the length of the message.
    const LENGTH_FIELD: usize;
    /// Bytes of the hash.
    const OUTPUT: usize;

    fn compress(state: &mut Self::State, blocks: &[[u8; BLOCK]]);

    /// Writes as many whole words of a last state as there is room for: the hash, in its room.
    fn put(state: &Self::State, output: &mut [u8]);
}

pub(crate) struct Sha1;
pub(crate) struct Sha256;
pub(crate) struct Sha384;

impl Hash<64> for Sha1 {
    type State = [u32; 5];
    const INITIAL: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    const LENGTH_FIELD: usize = 8;
    const OUTPUT: usize = 20;

    #[inline]
    fn compress(state: &mut [u32; 5], blocks: &[[u8; 64]]) {
        sha1::block_api::compress(state, blocks);
    }

    #[inline]
    fn put(state: &[u32; 5], output: &mut [u8]) {
        put_words(state.map(u32::to_be_bytes), output);
    }
}

impl Hash<64> for Sha256 {
    type State = [u32; 8];
    const INITIAL: [u32; 8] = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];
    const LENGTH_FIELD: usize = 8;
    const OUTPUT: usize = 32;

    #[inline]
    fn compress(state: &mut [u32; 8], blocks: &[[u8; 64]]) {
        sha2::block_api::compress256(state, blocks);
    }

    #[inline]
    fn put(state: &[u32; 8], output: &mut [u8]) {
        put_words(state.map(u32::to_be_bytes), output);
    }
}

impl Hash<128> for Sha384 {
    type State = [u64; 8];
    const INITIAL: [u64; 8] = [
        0xcbbb_9d5d_c105_9ed8,
        0x629a_292a_367c_d507,
        0x9159_015a_3070_dd17,
        0x152f_ecd8_f70e_5939,
        0x6733_2667_ffc0_0b31,
        0x8eb4_4a87_6858_1511,
        0xdb0c_2e0d_64f9_8fa7,
        0x47b5_481d_befa_4fa4,
    ];
    const LENGTH_FIELD: usize = 16;
    const OUTPUT: usize = 48;

    #[inline]
    fn compress(state: &mut [u64; 8], blocks: &[[u8; 128]]) {
        sha2::block_api::compress512(state, blocks);
    }

    #[inline]
    fn put(state: &[u64; 8], output: &mut [u8]) {
        put_words(state.map(u64::to_be_bytes), output);
    }
}

#[inline]
fn put_words<const N: usize, const W: usize>(words: [[u8; N]; W], output: &mut [u8]) {
    for (to, word) in output.chunks_exact_mut(N).zip(words) {
        to.copy_from_slice(&word);
    }
}

/// An expanded key: the states behind the padded key of the inner and of the outer hash.
pub(crate) struct Key<H: Hash<BLOCK>, const BLOCK: usize> {
    inner: H::State,
    outer: H::State,
}

impl<H: Hash<BLOCK>, const BLOCK: usize> Key<H, BLOCK> {
    /// The place of a key, which has to be set before anything is asked.
    pub(crate) fn empty() -> Self {
        Self { inner: H::State::default(), outer: H::State::default() }
    }

    /// Expands a key of at most `BLOCK` bytes.
    pub(crate) fn set(&mut self, key: &[u8]) {
        debug_assert!(key.len() <= BLOCK, "longer keys would be hashed");
        let mut block = [0; BLOCK];
        for (state, pad) in [(&mut self.inner, 0x36), (&mut self.outer, 0x5c)] {
            block.fill(pad);
            block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
            *state = H::INITIAL;
            H::compress(state, &[block]);
        }
        wipe::memory(&mut block);
    }

    /// Begins a message.
    #[inline]
    pub(crate) fn begin(&self) -> Message<H, BLOCK> {
        Message::from(self.inner)
    }

    /// The code of a message that has come as a whole.
    #[inline]
    pub(crate) fn finish(&self, message: Message<H, BLOCK>) -> Code {
        self.enclose(message.end())
    }

    /// The codes of two messages; the processor overlaps them.
    #[inline]
    pub(crate) fn finish_both(keys: [&Self; 2], messages: [Message<H, BLOCK>; 2]) -> [Code; 2] {
        let ([one, other], [state, other_state]) = (keys, messages.map(Message::end));
        [one.enclose(state), other.enclose(other_state)]
    }

    /// The outer hash, of the inner one.
    #[inline]
    fn enclose(&self, mut inner: H::State) -> Code {
        let mut block = [0; BLOCK];
        H::put(&inner, &mut block[..H::OUTPUT]);
        wipe::words(slice::from_mut(&mut inner));
        self.enclose_hash(&mut block)
    }

    /// The same of an inner hash at the beginning of a block of zeros, which is wiped.
    #[inline]
    fn enclose_hash(&self, block: &mut [u8; BLOCK]) -> Code {
        block[H::OUTPUT] = 0x80;
        let bits = 8 * (BLOCK + H::OUTPUT) as u64;
        block[BLOCK - 8..].copy_from_slice(&bits.to_be_bytes());
        let mut outer = self.outer;
        H::compress(&mut outer, slice::from_ref(block));
        let mut code = Code([0; LONGEST]);
        H::put(&outer, &mut code.0[..H::OUTPUT]);
        wipe::memory(block);
        wipe::words(slice::from_mut(&mut outer));
        code
    }
}

impl<H: Hash<BLOCK>, const BLOCK: usize> Drop for Key<H, BLOCK> {
    fn drop(&mut self) {
        wipe::words(slice::from_mut(&mut self.inner));
        wipe::words(slice::from_mut(&mut self.outer));
    }
}

impl<H: Hash<BLOCK>, const BLOCK: usize> ZeroizeOnDrop for Key<H, BLOCK> {}

/// A message on its way.
pub(crate) struct Message<H: Hash<BLOCK>, const BLOCK: usize> {
    state: H::State,
    /// The first `filled` bytes, fewer than a block, are not hashed yet.
    block: [u8; BLOCK],
    filled: usize,
    /// Bytes that are hashed, with the block of the key.
    hashed: u64,
}

impl<H: Hash<BLOCK>, const BLOCK: usize> Message<H, BLOCK> {
    #[inline]
    fn from(state: H::State) -> Self {
        Self { state, block: [0; BLOCK], filled: 0, hashed: BLOCK as u64 }
    }

    /// Bytes after which nothing waits for the rest of a block.
    #[inline]
    pub(crate) fn to_whole_block(&self) -> usize {
        (BLOCK - self.filled) % BLOCK
    }

    /// Hashes the next piece of the message.
    #[inline]
    pub(crate) fn update(&mut self, data: &[u8]) {
        let data = self.fill(data);
        let (blocks, rest) = data.as_chunks();
        self.compress(blocks);
        self.keep(rest);
    }

    /// Hashes the next pieces of two messages; the processor overlaps them.
    pub(crate) fn update_both(both: [&mut Self; 2], data: [&[u8]; 2]) {
        let ([one, other], [data, others]) = (both, data);
        let (data, others) = (one.fill(data), other.fill(others));
        let ((blocks, rest), (other_blocks, others_rest)) = (data.as_chunks(), others.as_chunks());
        let common = blocks.len().min(other_blocks.len());
        let (blocks, more) = blocks.split_at(common);
        let (other_blocks, others_more) = other_blocks.split_at(common);
        for (block, other_block) in blocks.iter().zip(other_blocks) {
            one.compress(slice::from_ref(block));
            other.compress(slice::from_ref(other_block));
        }
        one.compress(more);
        other.compress(others_more);
        one.keep(rest);
        other.keep(others_rest);
    }

    /// Hashes the block that data complete, and returns the rest of them.
    #[inline]
    fn fill<'d>(&mut self, data: &'d [u8]) -> &'d [u8] {
        if self.filled == 0 {
            return data;
        }
        let Some((first, rest)) = data.split_at_checked(BLOCK - self.filled) else {
            self.keep(data);
            return &[];
        };
        self.block[self.filled..].copy_from_slice(first);
        self.filled = 0;
        self.compress_kept();
        rest
    }

    #[inline]
    fn compress(&mut self, blocks: &[[u8; BLOCK]]) {
        H::compress(&mut self.state, blocks);
        self.hashed += (BLOCK * blocks.len()) as u64;
    }

    /// Hashes the block that was kept.
    #[inline]
    fn compress_kept(&mut self) {
        H::compress(&mut self.state, slice::from_ref(&self.block));
        self.hashed += BLOCK as u64;
    }

    /// Keeps bytes that do not complete a block.
    #[inline]
    fn keep(&mut self, data: &[u8]) {
        let end = self.filled + data.len();
        self.block[self.filled..end].copy_from_slice(data);
        self.filled = end;
    }

    /// Pads the message (FIPS 180-4, section 5.1) and returns the last state.
    #[inline]
    fn end(mut self) -> H::State {
        let bits = 8 * u128::from(self.hashed + self.filled as u64);
        self.block[self.filled] = 0x80;
        self.block[self.filled + 1..].fill(0);
        if self.filled >= BLOCK - H::LENGTH_FIELD {
            self.compress_kept();
            self.block.fill(0);
        }
        let length = bits.to_be_bytes();
        self.block[BLOCK - H::LENGTH_FIELD..].copy_from_slice(&length[16 - H::LENGTH_FIELD..]);
        self.compress_kept();
        self.state
    }
}

impl<H: Hash<BLOCK>, const BLOCK: usize> Drop for Message<H, BLOCK> {
    #[inline]
    fn drop(&mut self) {
        wipe::words(slice::from_mut(&mut self.state));
        // Ciphertext and associated data.
        wipe::memory(&mut self.block);
    }
}

impl<H: Hash<BLOCK>, const BLOCK: usize> ZeroizeOnDrop for Message<H, BLOCK> {}

/// The code of a message; what is longer than the hash is zero.
pub(crate) struct Code([u8; LONGEST]);

impl Code {
    /// Writes as much of it as there is room for.
    #[inline]
    pub(crate) fn put(&self, tag: &mut [u8]) {
        tag.iter_mut().zip(self.0).for_each(|(to, from)| *to = from);
    }

    /// Whether a received tag is its beginning, in constant time except for the length.
    ///
    /// # Errors
    ///
    /// [`Error::Authentication`] if it is not.
    #[inline]
    pub(crate) fn compare(&self, came: &[u8]) -> Result<(), Error> {
        if self.matches(came).into() { Ok(()) } else { Err(Error::Authentication) }
    }

    /// Whether a received tag is its beginning, in constant time except for the length.
    #[inline]
    pub(crate) fn matches(&self, came: &[u8]) -> Choice {
        self.0.get(..came.len()).unwrap_or_default().ct_eq(came)
    }
}

impl Drop for Code {
    #[inline]
    fn drop(&mut self) {
        wipe::memory(&mut self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Case {
        key: &'static [u8],
        data: &'static [u8],
        sha1: &'static str,
        sha256: &'static str,
        sha384: &'static str,
    }

    /// RFC 2202, section 3, and RFC 4231, section 4: cases 1 to 4. Longer keys do not occur here.
    const CASES: &[Case] = &[
        Case {
            key: &[0x0b; 20],
            data: b"Hi There",
            sha1: "b617318655057264e28bc0b6fb378c8ef146be00",
            sha256: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            sha384: "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59c\
                faea9ea9076ede7f4af152e8b2fa9cb6",
        },
        Case {
            key: b"Jefe",
            data: b"what do ya want for nothing?",
            sha1: "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
            sha256: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            sha384: "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e\
                8e2240ca5e69e2c78b3239ecfab21649",
        },
        Case {
            key: &[0xaa; 20],
            data: &[0xdd; 50],
            sha1: "125d7342b9ac11cd91a39af48aa17b4f63f175d3",
            sha256: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
            sha384: "88062608d3e6ad8a0aa2ace014c8a86f0aa635d947ac9febe83ef4e55966144b\
                2a5ab39dc13814b94e3ab6e101a34f27",
        },
        Case {
            key: &[
                1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
                24, 25,
            ],
            data: &[0xcd; 50],
            sha1: "4c9007f4026250c6bc8414f9bf50c86c2d7235da",
            sha256: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
            sha384: "3e8a69b7783c25851933ab6290af6ca77a9981480850009cc5577c6e1f573b4e\
                6801dd23c4a7d679ccf8a386c674cffb",
        },
    ];

    fn code<H: Hash<BLOCK>, const BLOCK: usize>(case: &Case) -> String {
        let mut key = Key::<H, BLOCK>::empty();
        key.set(case.key);
        let mut message = key.begin();
        message.update(case.data);
        let made = key.finish(message);
        made.0[..H::OUTPUT].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn codes_are_those_of_the_standards() {
        for case in CASES {
            assert_eq!(code::<Sha1, 64>(case), case.sha1);
            assert_eq!(code::<Sha256, 64>(case), case.sha256);
            assert_eq!(code::<Sha384, 128>(case), case.sha384);
        }
    }
}
