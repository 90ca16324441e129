//! ECB, CBC decryption and counter mode: requests cut into pieces that the kernels take.
//!
//! Each piece is copied to a buffer, crypted there in groups of 64 blocks, and written out. Kernels
//! therefore know nothing of modes. Unused lanes carry whatever the buffer holds.

use inout::InOutBuf;
use lanecrypt_kernels::Isa;

use super::schedule::KEYS;
use super::{crypt, scalar, smallest};

/// The buffer of requests that are too short for a group.
const FEW: usize = 8;

/// A key, a direction, and a kernel.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) isa: Isa,
    /// One schedule for each DES, in the order of encryption.
    pub(super) keys: &'a [[u64; KEYS]],
    /// Whether this is decryption.
    pub(super) back: bool,
}

impl Request<'_> {
    pub(super) fn ecb(self, blocks: InOutBuf<'_, '_, [u8; 8]>) {
        match blocks.len() {
            len if len < smallest(self.isa) => self.ecb_by::<FEW>(blocks),
            ..65 => self.ecb_by::<64>(blocks),
            _ => self.ecb_by::<512>(blocks),
        }
    }

    pub(super) fn cbc_decrypt(self, iv: &mut [u8; 8], blocks: InOutBuf<'_, '_, [u8; 8]>) {
        match blocks.len() {
            len if len < smallest(self.isa) => self.cbc_decrypt_by::<FEW>(iv, blocks),
            ..65 => self.cbc_decrypt_by::<64>(iv, blocks),
            _ => self.cbc_decrypt_by::<512>(iv, blocks),
        }
    }

    /// Counter mode; `emit` takes each piece of the data and as many bytes of keystream.
    #[inline(always)]
    pub(super) fn ctr<D: Data>(self, counter: &mut [u8; 8], data: D) {
        match data.len().div_ceil(8) {
            len if len < smallest(self.isa) => self.ctr_by::<FEW, D>(counter, data),
            ..65 => self.ctr_by::<64, D>(counter, data),
            _ => self.ctr_by::<512, D>(counter, data),
        }
    }

    fn ecb_by<const MOST: usize>(self, blocks: InOutBuf<'_, '_, [u8; 8]>) {
        let mut blocks = blocks;
        let mut buffer = [[0; 8]; MOST];
        while !blocks.is_empty() {
            let len = blocks.len().min(MOST);
            let (mut part, rest) = blocks.split_at(len);
            buffer[..len].copy_from_slice(part.get_in());
            self.crypt(&mut buffer, len);
            part.get_out().copy_from_slice(&buffer[..len]);
            blocks = rest;
        }
    }

    fn cbc_decrypt_by<const MOST: usize>(
        self,
        iv: &mut [u8; 8],
        blocks: InOutBuf<'_, '_, [u8; 8]>,
    ) {
        let mut blocks = blocks;
        let mut buffer = [[0; 8]; MOST];
        while !blocks.is_empty() {
            let len = blocks.len().min(MOST);
            let (mut part, rest) = blocks.split_at(len);
            let input = part.get_in();
            buffer[..len].copy_from_slice(input);
            self.crypt(&mut buffer, len);
            let (first, others) = buffer.split_at_mut(1);
            add(&mut first[0], iv);
            for (block, before) in others.iter_mut().zip(&input[..len - 1]) {
                add(block, before);
            }
            *iv = input[len - 1];
            part.get_out().copy_from_slice(&buffer[..len]);
            blocks = rest;
        }
    }

    fn ctr_by<const MOST: usize, D: Data>(self, counter: &mut [u8; 8], mut data: D) {
        let mut next = u64::from_be_bytes(*counter);
        let mut buffer = [[0; 8]; MOST];
        while data.len() > 0 {
            let bytes = data.len().min(8 * MOST);
            let len = bytes.div_ceil(8);
            for block in &mut buffer[..len] {
                *block = next.to_be_bytes();
                next = next.wrapping_add(1);
            }
            self.crypt(&mut buffer, len);
            data = data.emit(&mut buffer.as_flattened_mut()[..bytes]);
        }
        *counter = next.to_be_bytes();
    }

    /// Crypts the first `len` blocks of a buffer; of a large one, also as many more as fill whole
    /// groups.
    fn crypt<const MOST: usize>(self, buffer: &mut [[u8; 8]; MOST], len: usize) {
        if MOST == FEW {
            scalar::crypt(self.keys, self.back, &mut buffer[..len]);
        } else {
            let (groups, _) = buffer.as_chunks_mut();
            crypt(self.isa, self.keys, self.back, &mut groups[..len.div_ceil(64)]);
        }
    }
}

/// The destination of keystream.
pub(super) trait Data {
    /// Bytes that are left.
    fn len(&self) -> usize;

    /// Takes keystream, at most as many bytes as are left, and returns how many are left then. May
    /// change the keystream.
    fn emit(self, keystream: &mut [u8]) -> Self;
}

/// Keystream is added to the input.
impl Data for InOutBuf<'_, '_, u8> {
    fn len(&self) -> usize {
        Self::len(self)
    }

    fn emit(self, keystream: &mut [u8]) -> Self {
        let (mut part, rest) = self.split_at(keystream.len());
        for (byte, input) in keystream.iter_mut().zip(part.get_in()) {
            *byte ^= input;
        }
        part.get_out().copy_from_slice(keystream);
        rest
    }
}

/// Keystream is written.
impl Data for &mut [u8] {
    fn len(&self) -> usize {
        <[u8]>::len(self)
    }

    fn emit(self, keystream: &mut [u8]) -> Self {
        let (part, rest) = self.split_at_mut(keystream.len());
        part.copy_from_slice(keystream);
        rest
    }
}

#[inline(always)]
fn add(block: &mut [u8; 8], other: &[u8; 8]) {
    *block = (u64::from_ne_bytes(*block) ^ u64::from_ne_bytes(*other)).to_ne_bytes();
}
