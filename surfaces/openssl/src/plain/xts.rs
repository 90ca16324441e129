//! AES-XTS: each update is a data unit of its own, under the same tweak until another is set.

use inout::InOutBuf;
use lanecrypt_kernels::Isa;
use lanecrypt_kernels::xts::{AesXts, LONGEST, SHORTEST};
use zeroize::Zeroize as _;

use super::{Mode, PlainContext};
use crate::cipher::{Functions, Request, functions};
use crate::info::{Info, XTS};

macro_rules! key_size {
    ($bits:literal, $functions:ident) => {
        // SAFETY: arrays of numbers that are wiped on drop.
        unsafe impl Mode for AesXts<$bits> {
            const INFO: Info = Info { own_iv: true, ..Info::plain(XTS, $bits / 4) };
            const RESTORES_IV: bool = false;
            const HAS_SETTINGS: bool = false;

            #[inline]
            fn empty(isa: Isa) -> Self {
                AesXts::<$bits>::empty(isa)
            }

            fn set_key(&mut self, key: &[u8]) {
                if let Ok(key) = key.try_into() {
                    AesXts::<$bits>::set_key(self, key);
                }
            }

            fn admits(key: &[u8], encrypts: bool) -> bool {
                !encrypts || halves_differ(key)
            }

            fn crypt(context: &mut PlainContext<Self>, data: InOutBuf<'_, '_, u8>) -> bool {
                if !context.has_iv || !(SHORTEST..=LONGEST).contains(&data.len()) {
                    return false;
                }
                if context.encrypts {
                    context.cipher.encrypt(&context.iv, data);
                } else {
                    context.cipher.decrypt(&context.iv, data);
                }
                true
            }

            fn update(context: &mut PlainContext<Self>, request: Request) -> Option<usize> {
                let data = request.data()?;
                Self::crypt(context, data).then_some(request.length)
            }

            fn finish(_: &mut PlainContext<Self>, _: *mut u8, _: usize) -> Option<usize> {
                Some(0)
            }
        }

        pub(crate) static $functions: Functions = functions::<PlainContext<AesXts<$bits>>>();
    };
}

key_size!(128, AES_128);
key_size!(256, AES_256);

/// Whether the two halves of a key differ, in constant time: the time reveals only the answer.
fn halves_differ(key: &[u8]) -> bool {
    let (front, back) = key.split_at(key.len() / 2);
    let mut sum = front.iter().zip(back).fold(0, |sum, (a, b)| core::hint::black_box(sum | a ^ b));
    let differ = sum != 0;
    sum.zeroize();
    differ
}
