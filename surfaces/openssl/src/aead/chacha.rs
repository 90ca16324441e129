//! ChaCha20-Poly1305.
//!
//! In TLS 1.2 the fixed vector is the one of the initialisation, or comes by `tlsivfixed`; a
//! record's own is made of it and the number of the record (RFC 7905).

use core::ffi::c_void;
use core::ops::RangeInclusive;

use inout::InOutBuf;
use lanecrypt_kernels::chacha20poly1305::{ChaCha20Poly1305, PartialState};
use lanecrypt_kernels::{Aead, Isa, Resume, equal, wipe};

use super::{AeadContext, NONCE, Sealing, Start, State, TAG, by_kernel};
use crate::abi::{Context, DescribedContext, Param, described};
use crate::cipher::{Functions, functions};
use crate::info::{Info, NO_MODE};
use crate::params::{ParamOut, ParamsOut, Setting, Settings};

// SAFETY: arrays of numbers that are wiped on drop.
unsafe impl Sealing for ChaCha20Poly1305 {
    const INFO: Info = Info::aead(NO_MODE, 32);
    const GETTABLE: DescribedContext = gettable;
    const SETTABLE: DescribedContext = settable;
    const LONGEST: u64 = <Self as Aead>::LONGEST;
    const IV_LENGTHS: RangeInclusive<usize> = NONCE..=NONCE;
    const TELLS_TAG_LENGTH: bool = false;

    type PartialState = PartialState;

    #[inline]
    fn empty(isa: Isa) -> Self {
        <Self as Aead>::empty(isa)
    }

    #[inline]
    fn empty_state(isa: Isa) -> PartialState {
        PartialState::empty(isa)
    }

    /// Only 12 bytes are taken.
    fn start(&self, iv: &[u8]) -> Start {
        Start::Nonce(iv.try_into().unwrap_or_default())
    }

    fn first_from<const SEAL: bool>(
        &self,
        partial: &mut PartialState,
        start: &Start,
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> [u8; TAG] {
        self.first::<SEAL>(partial, nonce_of(start), aad, data)
    }

    fn begin(&self, partial: &mut PartialState, start: &Start) {
        *partial = Resume::empty_state(self, nonce_of(start));
    }

    by_kernel!();

    #[inline]
    fn vector_set(context: &mut AeadContext<Self>) {
        if let (Some(iv), NONCE) = (context.iv.first_chunk(), context.iv_length) {
            context.fixed = *iv;
        }
    }

    fn vector_unasked(_: &mut AeadContext<Self>) -> bool {
        false
    }

    /// Answers params_out. Those that come with each message are compared first.
    #[inline]
    fn get(context: &mut AeadContext<Self>, params_out: ParamsOut<'_>) -> bool {
        let mut params_out = params_out;
        params_out.all(|mut param_out| {
            let name = param_out.name();
            if name.is(c"ivlen") {
                param_out.size(context.iv_length)
            } else if name.is(c"tag") {
                let there = param_out.has_place_for_octets();
                context.tag(param_out.room()).is_some_and(|tag| there && param_out.octets(tag))
            } else {
                get_other(context, &mut param_out)
            }
        })
    }

    #[inline]
    fn set(context: &mut AeadContext<Self>, settings: Settings<'_>) -> bool {
        let mut settings = settings;
        settings.all(|setting| {
            if !setting.name().is(c"tag") {
                return set_other(context, &setting);
            }
            match setting.octets_or_length() {
                Some((Some(tag), _)) => context.set_tag(tag),
                Some((None, length @ 1..=TAG)) => {
                    context.tag_length = length;
                    true
                }
                _ => false,
            }
        })
    }

    /// A record of TLS 1.2: the data and the tag. Its vector is the fixed one and the number of the
    /// record.
    fn tls_record(context: &mut AeadContext<Self>, record: InOutBuf<'_, '_, u8>) -> Option<usize> {
        let length = context.tls_payload;
        if record.len() != length + TAG || context.state == State::NoVector {
            return None;
        }
        let mut nonce = context.fixed;
        for (byte, number) in nonce[NONCE - 8..].iter_mut().zip(context.tls_aad) {
            *byte ^= number;
        }
        context.begin_with(State::Finished);
        let (mut data, mut tag) = record.split_at(length);
        let (cipher, partial) = (&context.cipher, &mut context.partial);
        if context.encrypts {
            let made = cipher.first::<true>(partial, &nonce, &context.tls_aad, data.reborrow());
            tag.get_out().copy_from_slice(&made);
            context.made = made;
            return Some(length + TAG);
        }
        let made = cipher.first::<false>(partial, &nonce, &context.tls_aad, data.reborrow());
        if tag.get_in().first_chunk().is_some_and(|tag| equal(tag, &made)) {
            return Some(length);
        }
        wipe::memory(data.get_out());
        None
    }

    fn record_length(written: Option<usize>, _: usize) -> Option<usize> {
        written
    }
}

/// Where a message starts; nothing is hashed here.
fn nonce_of(start: &Start) -> &[u8; NONCE] {
    match start {
        Start::Nonce(nonce) => nonce,
        Start::Hashed(_) => &[0; NONCE],
    }
}

pub(crate) static FUNCTIONS: Functions = functions::<AeadContext<ChaCha20Poly1305>>();

unsafe extern "C" fn gettable(_: Context, _: *mut c_void) -> *const Param {
    described!(c"keylen" size, c"ivlen" size, c"taglen" size, c"tag" octets, c"tlsaadpad" size)
}

unsafe extern "C" fn settable(_: Context, _: *mut c_void) -> *const Param {
    described!(
        c"keylen" size, c"ivlen" size, c"tag" octets, c"tlsaad" octets, c"tlsivfixed" octets,
    )
}

#[inline(never)]
fn get_other(context: &AeadContext<ChaCha20Poly1305>, param_out: &mut ParamOut<'_>) -> bool {
    let name = param_out.name();
    if name.is(c"keylen") {
        param_out.size(32)
    } else if name.is(c"taglen") {
        param_out.size(context.tag_length)
    } else if name.is(c"tlsaadpad") {
        param_out.size(context.tls_padding)
    } else {
        true
    }
}

#[inline(never)]
fn set_other(context: &mut AeadContext<ChaCha20Poly1305>, setting: &Setting<'_>) -> bool {
    let name = setting.name();
    if name.is(c"ivlen") {
        setting.size() == Some(NONCE)
    } else if name.is(c"keylen") {
        setting.size() == Some(32)
    } else if name.is(c"tlsaad") {
        setting.octets().is_some_and(|aad| context.announce(aad, 0))
    } else if name.is(c"tlsivfixed") {
        setting.octets().is_some_and(|iv| iv.len() == NONCE && context.set_iv(iv))
    } else {
        true
    }
}
