//! AES-CBC: with padding (PKCS #7), without, and in records of TLS.

use core::ptr;
use core::slice;

use inout::InOutBuf;
use lanecrypt_kernels::aes::Aes;
use lanecrypt_kernels::{BlockCipher, BlockEncrypt, Isa, into_blocks, wipe};

use super::{BLOCK, Mode, PlainContext, padding, record};
use crate::cipher::{Functions, Request, functions};
use crate::info::{CBC, Info};

/// Blocks that are decrypted from a copy.
const FEW: usize = 8;

macro_rules! key_size {
    ($bits:literal, $functions:ident) => {
        // SAFETY: arrays of numbers that are wiped on drop.
        unsafe impl Mode for Aes<$bits> {
            const INFO: Info = Info { block: 16, ..Info::plain(CBC, $bits / 8) };
            const RESTORES_IV: bool = true;

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
                blocks(context, data)
            }

            #[inline]
            fn update(context: &mut PlainContext<Self>, request: Request) -> Option<usize> {
                if is_plain(context, request) {
                    return blocks(context, request.data()?).then_some(request.length);
                }
                if context.tls_version > 0 {
                    return tls_record(context, request);
                }
                update(context, request)
            }

            fn finish(
                context: &mut PlainContext<Self>,
                out: *mut u8,
                room: usize,
            ) -> Option<usize> {
                finish(context, out, room)
            }
        }

        pub(crate) static $functions: Functions = functions::<PlainContext<Aes<$bits>>>();
    };
}

key_size!(128, AES_128);
key_size!(192, AES_192);
key_size!(256, AES_256);

/// Whole blocks; anything else is refused.
#[inline]
fn blocks<C: Mode + BlockCipher<BLOCK>>(
    context: &mut PlainContext<C>,
    data: InOutBuf<'_, '_, u8>,
) -> bool {
    let (blocks, rest) = into_blocks::<BLOCK>(data);
    if !rest.is_empty() {
        return false;
    }
    if context.encrypts {
        context.cipher.cbc_encrypt(&mut context.iv, blocks);
    } else {
        context.cipher.cbc_decrypt(&mut context.iv, blocks);
    }
    true
}

/// Whether the request is whole blocks, and neither is anything waiting nor has to wait.
#[inline]
fn is_plain<C: Mode>(context: &PlainContext<C>, request: Request) -> bool {
    request.length.is_multiple_of(BLOCK)
        && context.filled == 0
        && context.tls_version == 0
        && !keeps(context)
        && !request.input.is_null()
}

/// The block that has come in pieces.
fn waiting_block<C: Mode + BlockCipher<BLOCK>>(context: &mut PlainContext<C>) {
    let mut block = context.block;
    blocks(context, (&mut block[..]).into());
    context.block = block;
    context.filled = 0;
}

/// Takes any number of bytes, and writes the blocks that are whole. When padding is to be removed,
/// the last block waits for what follows.
#[inline(never)]
fn update<C: Mode + BlockCipher<BLOCK>>(
    context: &mut PlainContext<C>,
    request: Request,
) -> Option<usize> {
    if request.input.is_null() {
        return (request.length == 0).then_some(0);
    }
    let is_short = request.length.is_multiple_of(BLOCK) && request.length <= FEW * BLOCK;
    if is_short && context.filled == BLOCK && keeps(context) {
        return few_blocks(context, request);
    }
    if context.filled == 0 || !request.overlaps() {
        return in_order(context, request);
    }
    // Output begins before the input that is still to be read, and would be written over it.
    let mut copy = request.bytes()?.to_vec();
    let done = in_order(context, Request { input: copy.as_ptr(), ..request });
    wipe::memory(&mut copy);
    done
}

/// Whether the last block is kept until more follows: it may have the padding that is taken off.
#[inline]
fn keeps<C: Mode>(context: &PlainContext<C>) -> bool {
    !context.encrypts && context.pads
}

/// [`update`] for a few blocks of ciphertext after one that waits: all but the last are decrypted
/// in one call, from a copy.
fn few_blocks<C: Mode + BlockCipher<BLOCK>>(
    context: &mut PlainContext<C>,
    request: Request,
) -> Option<usize> {
    let mut ciphertext = [[0; BLOCK]; FEW];
    let mut last = context.block;
    let blocks = request.bytes()?.as_chunks().0;
    for (place, block) in ciphertext.iter_mut().zip(blocks) {
        *place = last;
        last = *block;
    }
    let ciphertext = ciphertext.get(..blocks.len())?;
    if request.room < request.length || request.out.is_null() {
        return None;
    }
    // SAFETY: there is room for as many blocks, and the input is not used any more.
    let out = unsafe { slice::from_raw_parts_mut(request.out.cast(), ciphertext.len()) };
    context.cipher.cbc_decrypt(&mut context.iv, InOutBuf::new(ciphertext, out).ok()?);
    context.block = last;
    Some(request.length)
}

/// [`update`] for input that output does not run into.
fn in_order<C: Mode + BlockCipher<BLOCK>>(
    context: &mut PlainContext<C>,
    request: Request,
) -> Option<usize> {
    let Request { mut out, mut room, mut input, mut length } = request;
    let keeps = keeps(context);
    let mut written = 0;
    if context.filled > 0 {
        let taken = length.min(BLOCK - context.filled);
        let front = Request { length: taken, ..request }.bytes()?;
        context.block.get_mut(context.filled..context.filled + taken)?.copy_from_slice(front);
        context.filled += taken;
        (input, length) = (input.wrapping_add(taken), length - taken);
        if context.filled == BLOCK && (length > 0 || !keeps) {
            if room < BLOCK || out.is_null() {
                return None;
            }
            waiting_block(context);
            // SAFETY: there is room for a block.
            unsafe { out.cast::<[u8; BLOCK]>().write_unaligned(context.block) };
            (out, room, written) = (out.wrapping_add(BLOCK), room - BLOCK, BLOCK);
        }
    }
    if length == 0 {
        return Some(written);
    }
    let mut whole = length / BLOCK * BLOCK;
    if keeps && whole == length {
        whole -= BLOCK;
    }
    // Read before it may be written over.
    let (rest, left) = (input.wrapping_add(whole), length - whole);
    let mut kept = [0; BLOCK];
    kept.get_mut(..left)?
        .copy_from_slice(Request { input: rest, length: left, ..request }.bytes()?);
    if whole > 0 {
        let data = Request { out, room, input, length: whole }.data()?;
        blocks(context, data);
        written += whole;
    }
    (context.block, context.filled) = (kept, left);
    Some(written)
}

/// The end: pads, or checks and removes padding.
fn finish<C: Mode + BlockCipher<BLOCK>>(
    context: &mut PlainContext<C>,
    out: *mut u8,
    room: usize,
) -> Option<usize> {
    if !context.has_key || context.tls_version > 0 {
        return None;
    }
    let filled = context.filled;
    let mut length = BLOCK;
    if context.encrypts {
        if context.pads {
            padding::pad(&mut context.block, filled);
        } else if filled == 0 {
            return Some(0);
        } else if filled != BLOCK {
            return None;
        }
        if room < BLOCK || out.is_null() {
            return None;
        }
        waiting_block(context);
    } else {
        if filled != BLOCK {
            return (filled == 0 && !context.pads).then_some(0);
        }
        waiting_block(context);
        if context.pads {
            length = padding::padded(&context.block)?;
        }
        if room < length || out.is_null() {
            return None;
        }
    }
    // SAFETY: there is room for so many bytes, and they are not the context's.
    unsafe { ptr::copy_nonoverlapping(context.block.as_ptr(), out, length) };
    Some(length)
}

/// A record of TLS in place: content and code are padded and encrypted, or decrypted, and padding
/// and code taken off.
#[inline(never)]
fn tls_record<C: Mode + BlockCipher<BLOCK>>(
    context: &mut PlainContext<C>,
    request: Request,
) -> Option<usize> {
    let Request { out, room, input, length } = request;
    if input.is_null() || !ptr::eq(input, out) || room < length || !context.pads {
        return None;
    }
    if context.encrypts {
        let whole = length / BLOCK * BLOCK + BLOCK;
        if room < whole {
            return None;
        }
        // SAFETY: there is room for the padding too.
        let padding =
            unsafe { slice::from_raw_parts_mut(out.wrapping_add(length), whole - length) };
        record::pad(padding, context.tls_version);
        let data = Request { length: whole, ..request }.data()?;
        return blocks(context, data).then_some(whole);
    }
    if !blocks(context, request.data()?) {
        return None;
    }
    context.has_code = false;
    // SAFETY: the record, which nothing else refers to.
    let record = unsafe { slice::from_raw_parts_mut(out, length) };
    let code = context.code.get_mut(..context.tls_code)?;
    let content = record::open(context.tls_version, record, code)?;
    context.has_code = !code.is_empty();
    Some(content)
}
