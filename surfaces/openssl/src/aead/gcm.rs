//! AES-GCM.
//!
//! Vectors of other lengths than 12 bytes, vectors that are made by counting as TLS 1.2 and OpenSSH
//! do it, and random ones are as in OpenSSL's default provider.

use core::ffi::c_void;

use inout::InOutBuf;
use lanecrypt_kernels::gcm::{AesGcm, PartialState};
use lanecrypt_kernels::{Aead, Isa, Resume, equal, wipe};
use lanecrypt_random as random;

use super::{AeadContext, NONCE, Sealing, Start, State, TAG, by_kernel};
use crate::abi::{Context, DescribedContext, Param, described};
use crate::cipher::{Functions, functions};
use crate::info::{GCM, Info};
use crate::params::{ParamOut, ParamsOut, Setting, Settings};

/// The part of a vector that a record of TLS 1.2 carries, and the part that it does not.
const EXPLICIT: usize = 8;
const IMPLICIT: usize = 4;

macro_rules! key_size {
    ($bits:literal, $functions:ident) => {
        // SAFETY: arrays of numbers that are wiped on drop.
        unsafe impl Sealing for AesGcm<$bits> {
            const INFO: Info = Info::aead(GCM, $bits / 8);
            const GETTABLE: DescribedContext = gettable;
            const SETTABLE: DescribedContext = settable;
            const LONGEST: u64 = <Self as Aead>::LONGEST;
            const TELLS_TAG_LENGTH: bool = true;

            type PartialState = PartialState;

            #[inline]
            fn empty(isa: Isa) -> Self {
                <Self as Aead>::empty(isa)
            }

            #[inline]
            fn empty_state(_: Isa) -> PartialState {
                PartialState::after(&[0; 16], &[0; TAG], 0, 0)
            }

            fn start(&self, iv: &[u8]) -> Start {
                Start::Hashed(self.counter_block(iv))
            }

            fn first_from<const SEAL: bool>(
                &self,
                partial: &mut PartialState,
                start: &Start,
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
            ) -> [u8; TAG] {
                let first = match start {
                    Start::Nonce(nonce) => return self.first::<SEAL>(partial, nonce, aad, data),
                    Start::Hashed(first) => first,
                };
                let lengths = [aad.len() as u64, data.len() as u64];
                let tag = if SEAL {
                    self.seal_from(first, aad, data)
                } else {
                    self.open_from(first, aad, data)
                };
                *partial = PartialState::after(first, &tag, lengths[0], lengths[1]);
                tag
            }

            fn begin(&self, partial: &mut PartialState, start: &Start) {
                *partial = match start {
                    Start::Nonce(nonce) => Resume::empty_state(self, nonce),
                    Start::Hashed(first) => self.empty_state_from(first),
                };
            }

            by_kernel!();

            #[inline]
            fn vector_set(_: &mut AeadContext<Self>) {}

            fn vector_unasked(context: &mut AeadContext<Self>) -> bool {
                context.encrypts && random_vector(context)
            }

            #[inline]
            fn get(context: &mut AeadContext<Self>, params_out: ParamsOut<'_>) -> bool {
                get(context, params_out)
            }

            #[inline]
            fn set(context: &mut AeadContext<Self>, settings: Settings<'_>) -> bool {
                set(context, settings)
            }

            fn tls_record(
                context: &mut AeadContext<Self>,
                data: InOutBuf<'_, '_, u8>,
            ) -> Option<usize> {
                tls_record(context, data)
            }

            fn record_length(written: Option<usize>, length: usize) -> Option<usize> {
                written.map(|_| length)
            }
        }

        pub(crate) static $functions: Functions = functions::<AeadContext<AesGcm<$bits>>>();
    };
}

key_size!(128, AES_128);
key_size!(192, AES_192);
key_size!(256, AES_256);

/// A random vector; shorter ones than usual would repeat too soon.
fn random_vector<C: Sealing>(context: &mut AeadContext<C>) -> bool {
    let length = context.iv_length;
    let Some(iv) = context.iv.get_mut(..length).filter(|_| length >= NONCE) else { return false };
    if random::try_fill(iv).is_err() {
        return false;
    }
    context.begin_with(State::Vector);
    true
}

pub(super) unsafe extern "C" fn gettable(_: Context, _: *mut c_void) -> *const Param {
    described!(
        c"keylen" size, c"ivlen" size, c"taglen" size, c"iv" octets, c"updated-iv" octets,
        c"tag" octets, c"tlsaadpad" size, c"tlsivgen" octets,
    )
}

pub(super) unsafe extern "C" fn settable(_: Context, _: *mut c_void) -> *const Param {
    described!(
        c"ivlen" size, c"tag" octets, c"tlsaad" octets, c"tlsivfixed" octets, c"tlsivinv" octets,
    )
}

/// Answers params_out. The two that come with each message are compared first; a table of all names
/// would jump to a place that the processor seldom foresees.
#[inline]
pub(super) fn get<C: Sealing>(context: &mut AeadContext<C>, params_out: ParamsOut<'_>) -> bool {
    let mut params_out = params_out;
    params_out.all(|mut param_out| {
        let name = param_out.name();
        if name.is(c"ivlen") {
            param_out.size(context.iv_length)
        } else if name.is(c"tag") {
            // A param_out for the length has no place.
            let length = if param_out.has_place_for_octets() { param_out.room() } else { TAG };
            context.tag(length).is_some_and(|tag| param_out.octets(tag))
        } else {
            get_other(context, &mut param_out)
        }
    })
}

#[inline(never)]
fn get_other<C: Sealing>(context: &mut AeadContext<C>, param_out: &mut ParamOut<'_>) -> bool {
    let name = param_out.name();
    if name.is(c"keylen") {
        param_out.size(C::INFO.key)
    } else if name.is(c"taglen") {
        param_out.size(if context.tag_length == 0 { TAG } else { context.tag_length })
    } else if name.is(c"iv") || name.is(c"updated-iv") {
        let there = context.state != State::NoVector
            || !context.tls && context.encrypts && random_vector(context);
        let iv = context.iv.get(..context.iv_length).filter(|_| there);
        iv.is_some_and(|iv| param_out.octets_or_pointer(iv))
    } else if name.is(c"tlsaadpad") {
        param_out.size(context.tls_padding)
    } else if name.is(c"tlsivgen") {
        param_out.place().is_some_and(|place| next_vector(context, place))
    } else {
        true
    }
}

#[inline]
pub(super) fn set<C: Sealing>(context: &mut AeadContext<C>, settings: Settings<'_>) -> bool {
    let mut settings = settings;
    settings.all(|setting| {
        if setting.name().is(c"tag") {
            setting.octets().is_some_and(|tag| context.set_tag(tag))
        } else {
            set_other(context, &setting)
        }
    })
}

#[inline(never)]
fn set_other<C: Sealing>(context: &mut AeadContext<C>, setting: &Setting<'_>) -> bool {
    let name = setting.name();
    if name.is(c"ivlen") {
        setting.size().is_some_and(|length| set_iv_length(context, length))
    } else if name.is(c"tlsaad") {
        setting.octets().is_some_and(|aad| context.announce(aad, EXPLICIT))
    } else if name.is(c"tlsivfixed") {
        match setting.octets_of_any_length(context.iv_length) {
            Some(iv) => set_whole_vector(context, iv),
            None => setting.octets().is_some_and(|iv| set_fixed_part(context, iv)),
        }
    } else if name.is(c"tlsivinv") {
        setting.octets().is_some_and(|iv| set_counted_part(context, iv))
    } else {
        true
    }
}

fn set_iv_length<C: Sealing>(context: &mut AeadContext<C>, length: usize) -> bool {
    if !C::IV_LENGTHS.contains(&length) {
        return false;
    }
    if context.iv_length != length {
        // A vector that has been set does not have that length.
        if context.state != State::NoVector {
            context.begin_with(State::Finished);
        }
        context.iv_length = length;
    }
    true
}

/// OpenSSH: vectors are made by counting from this one.
fn set_whole_vector<C: Sealing>(context: &mut AeadContext<C>, iv: &[u8]) -> bool {
    let Some(place) = context.iv.get_mut(..iv.len()) else { return false };
    place.copy_from_slice(iv);
    context.counts_iv = true;
    context.begin_with(State::Vector);
    true
}

/// TLS 1.2: vectors are made by counting from this and random bytes, or come with the records.
fn set_fixed_part<C: Sealing>(context: &mut AeadContext<C>, fixed: &[u8]) -> bool {
    let length = context.iv_length;
    if fixed.len() < IMPLICIT || length < fixed.len() + EXPLICIT {
        return false;
    }
    let Some((front, rest)) =
        context.iv.get_mut(..length).and_then(|iv| iv.split_at_mut_checked(fixed.len()))
    else {
        return false;
    };
    front.copy_from_slice(fixed);
    if context.encrypts && random::try_fill(rest).is_err() {
        return false;
    }
    context.counts_iv = true;
    context.begin_with(State::Vector);
    true
}

/// The next message has the vector that there is; its end is returned, and the one after it is one
/// higher.
fn next_vector<C: Sealing>(context: &mut AeadContext<C>, place: &mut [u8]) -> bool {
    let length = context.iv_length;
    if !context.counts_iv || !context.has_key || length < EXPLICIT {
        return false;
    }
    context.begin_with(State::Vector);
    context.start_from_vector();
    let Some(iv) = context.iv.get_mut(..length) else { return false };
    // A length of nothing, or more than there is, asks for the whole.
    let taken = if place.is_empty() || place.len() > length { length } else { place.len() };
    let end = &iv[length - taken..];
    if let Some(place) = place.get_mut(..taken) {
        place.copy_from_slice(end);
    }
    if let Some(counter) = iv.last_chunk_mut::<EXPLICIT>() {
        *counter = u64::from_be_bytes(*counter).wrapping_add(1).to_be_bytes();
    }
    true
}

/// The next message, to be opened, has a vector with this end.
fn set_counted_part<C: Sealing>(context: &mut AeadContext<C>, end: &[u8]) -> bool {
    let length = context.iv_length;
    if !context.counts_iv || !context.has_key || context.encrypts || end.len() > length {
        return false;
    }
    context.iv[length - end.len()..length].copy_from_slice(end);
    context.begin_with(State::Vector);
    context.start_from_vector();
    true
}

/// A record of TLS 1.2: the explicit part of the vector, the data, the tag.
fn tls_record<C: Sealing>(
    context: &mut AeadContext<C>,
    record: InOutBuf<'_, '_, u8>,
) -> Option<usize> {
    let length = record.len().checked_sub(EXPLICIT + TAG)?;
    let mut record = record;
    // Only in place; otherwise what is written would not be the whole record.
    if record.get_in().as_ptr() != record.get_out().as_ptr() {
        return None;
    }
    let (explicit, rest) = record.into_out().split_at_mut_checked(EXPLICIT)?;
    let (data, tag) = rest.split_at_mut_checked(length)?;
    let started = if context.encrypts {
        next_vector(context, explicit)
    } else {
        set_counted_part(context, explicit)
    };
    context.begin_with(State::Finished);
    if !started {
        return None;
    }
    let (cipher, partial, start) = (&context.cipher, &mut context.partial, &context.start);
    if context.encrypts {
        let made = cipher.first_from::<true>(partial, start, &context.tls_aad, (&mut *data).into());
        tag.copy_from_slice(&made);
        context.made = made;
        context.tag_length = TAG;
        return Some(EXPLICIT + length + TAG);
    }
    let made = cipher.first_from::<false>(partial, start, &context.tls_aad, (&mut *data).into());
    if tag.first_chunk().is_some_and(|tag| equal(tag, &made)) {
        return Some(length);
    }
    wipe::memory(data);
    None
}
