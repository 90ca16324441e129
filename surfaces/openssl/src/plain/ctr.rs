//! AES-CTR: the whole block counts, as a number of 128 bits.

use inout::InOutBuf;
use lanecrypt_kernels::aes::AesForward;
use lanecrypt_kernels::{BlockEncrypt, Isa};

use super::{BLOCK, Mode, PlainContext};
use crate::cipher::{Functions, Request, functions};
use crate::info::{CTR, Info};

/// The number of `num` and the place in the block of keystream are one.
macro_rules! key_size {
    ($bits:literal, $functions:ident) => {
        // SAFETY: arrays of numbers that are wiped on drop.
        unsafe impl Mode for AesForward<$bits> {
            const INFO: Info = Info::plain(CTR, $bits / 8);
            const RESTORES_IV: bool = false;

            #[inline]
            fn empty(isa: Isa) -> Self {
                BlockEncrypt::empty(isa)
            }

            fn set_key(&mut self, key: &[u8]) {
                if let Ok(key) = key.try_into() {
                    BlockEncrypt::set_key(self, key);
                }
            }

            fn crypt(context: &mut PlainContext<Self>, data: InOutBuf<'_, '_, u8>) -> bool {
                let PlainContext { cipher, iv, block, number, .. } = context;
                keystream(cipher, iv, block, number, data);
                true
            }

            fn update(context: &mut PlainContext<Self>, request: Request) -> Option<usize> {
                if request.length == 0 {
                    return Some(0);
                }
                let data = request.data()?;
                Self::crypt(context, data).then_some(request.length)
            }

            fn finish(context: &mut PlainContext<Self>, _: *mut u8, _: usize) -> Option<usize> {
                context.has_key.then_some(0)
            }
        }

        pub(crate) static $functions: Functions = functions::<PlainContext<AesForward<$bits>>>();
    };
}

key_size!(128, AES_128);
key_size!(192, AES_192);
key_size!(256, AES_256);

/// XORs the keystream into `data`: the rest of a block, whole blocks, and the front of a block.
#[inline]
fn keystream<C: BlockEncrypt<BLOCK>>(
    cipher: &C,
    counter: &mut [u8; BLOCK],
    block: &mut [u8; BLOCK],
    used: &mut u32,
    data: InOutBuf<'_, '_, u8>,
) {
    let mut data = data;
    let at = *used as usize % BLOCK;
    if at > 0 {
        let length = data.len().min(BLOCK - at);
        let (mut front, rest) = data.split_at(length);
        front.xor_in2out(&block[at..at + length]);
        data = rest;
        *used = (*used + u32::from(length.to_le_bytes()[0])) % 16;
    }
    let whole = data.len() / BLOCK * BLOCK;
    let (whole, mut rest) = data.split_at(whole);
    if !whole.is_empty() {
        cipher.ctr(counter, whole);
    }
    if !rest.is_empty() {
        cipher.ctr_keystream(counter, block);
        rest.xor_in2out(&block[..rest.len()]);
        *used = u32::from(rest.len().to_le_bytes()[0]);
    }
}
