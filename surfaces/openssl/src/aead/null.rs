//! A cipher that does nothing, behind the same calls as AES-GCM: what OpenSSL's work and ours
//! around a message cost.

use inout::InOutBuf;
use lanecrypt_kernels::Isa;

use super::gcm::{get, gettable, set, settable};
use super::{AeadContext, NONCE, Sealing, Start, TAG};
use crate::abi::DescribedContext;
use crate::cipher::{Functions, functions};
use crate::info::{GCM, Info};
use crate::params::{ParamsOut, Settings};

/// Nothing, with a key of 16 bytes.
pub(crate) struct Null;

// SAFETY: nothing.
unsafe impl Sealing for Null {
    const INFO: Info = Info::aead(GCM, 16);
    const GETTABLE: DescribedContext = gettable;
    const SETTABLE: DescribedContext = settable;
    const LONGEST: u64 = u64::MAX;
    const TELLS_TAG_LENGTH: bool = true;

    type PartialState = ();

    fn empty(_: Isa) -> Self {
        Self
    }

    fn empty_state(_: Isa) {}

    fn set_key(&mut self, _: &[u8]) {}

    fn start(&self, _: &[u8]) -> Start {
        Start::Nonce([0; NONCE])
    }

    #[inline(never)]
    fn first<const SEAL: bool>(
        &self,
        (): &mut (),
        _: &[u8; NONCE],
        _: &[u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> [u8; TAG] {
        core::hint::black_box(data.len());
        [0; TAG]
    }

    fn first_from<const SEAL: bool>(
        &self,
        (): &mut (),
        _: &Start,
        _: &[u8],
        _: InOutBuf<'_, '_, u8>,
    ) -> [u8; TAG] {
        [0; TAG]
    }

    fn begin(&self, (): &mut (), _: &Start) {}

    fn associate(&self, (): &mut (), _: &[u8]) {}

    fn next<const SEAL: bool>(&self, (): &mut (), _: InOutBuf<'_, '_, u8>) {}

    fn tag(&self, (): &()) -> [u8; TAG] {
        [0; TAG]
    }

    fn vector_set(_: &mut AeadContext<Self>) {}

    fn vector_unasked(_: &mut AeadContext<Self>) -> bool {
        false
    }

    #[inline]
    fn get(context: &mut AeadContext<Self>, params_out: ParamsOut<'_>) -> bool {
        get(context, params_out)
    }

    #[inline]
    fn set(context: &mut AeadContext<Self>, settings: Settings<'_>) -> bool {
        set(context, settings)
    }

    fn tls_record(_: &mut AeadContext<Self>, _: InOutBuf<'_, '_, u8>) -> Option<usize> {
        None
    }

    fn record_length(_: Option<usize>, _: usize) -> Option<usize> {
        None
    }
}

pub(crate) static FUNCTIONS: Functions = functions::<AeadContext<Null>>();
