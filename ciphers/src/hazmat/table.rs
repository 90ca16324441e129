//! The table of raw ciphers, with one row for each kernel. All code that differs between kernels is
//! made from these rows.

use inout::InOutBuf;
use lanecrypt_kernels::chacha::{self, ChaCha, Form};
use lanecrypt_kernels::{Isa, Seek};

/// Calls the macro `$make` with `$arguments` and the rows: in each section first those of
/// `kernels`, then those of the caller. What follows the sections passes through.
///
/// - `blocks`: the [primitives](crate::Primitive) of a block cipher; its variants in CBC, counter
///   mode and ECB; its kernel, its kernel for the forward direction, its stream core.
/// - `streams`: the primitive and the [mode](crate::Mode) of a stream that numbers its blocks; its
///   variant; its stream core.
macro_rules! with_rows {
    ($make:ident! $arguments:tt
     blocks { $($blocks:tt)* } streams { $($streams:tt)* } $($more:tt)*) => {
        $make! { $arguments
            blocks {
                [Aes128] Aes128Cbc Aes128Ctr Aes128Ecb:
                    kernels::aes::Aes<128>,
                    kernels::aes::AesForward<128>,
                    kernels::aes::AesCtr<128>;
                [Aes192] Aes192Cbc Aes192Ctr Aes192Ecb:
                    kernels::aes::Aes<192>,
                    kernels::aes::AesForward<192>,
                    kernels::aes::AesCtr<192>;
                [Aes256] Aes256Cbc Aes256Ctr Aes256Ecb:
                    kernels::aes::Aes<256>,
                    kernels::aes::AesForward<256>,
                    kernels::aes::AesCtr<256>;
                $($blocks)*
            }
            streams {
                [ChaCha8 Djb] ChaCha8Djb: kernels::chacha::ChaCha<8, kernels::chacha::Counter64>;
                [ChaCha12 Djb] ChaCha12Djb: kernels::chacha::ChaCha<12, kernels::chacha::Counter64>;
                [ChaCha20 Djb] ChaCha20Djb: kernels::chacha::ChaCha<20, kernels::chacha::Counter64>;
                [ChaCha8 Ietf] ChaCha8Ietf: kernels::chacha::ChaCha<8, kernels::chacha::Ietf>;
                [ChaCha12 Ietf] ChaCha12Ietf: kernels::chacha::ChaCha<12, kernels::chacha::Ietf>;
                [ChaCha20 Ietf] ChaCha20Ietf: kernels::chacha::ChaCha<20, kernels::chacha::Ietf>;
                $($streams)*
            }
            $($more)*
        }
    };
}

/// The crate with the types of the rows.
pub(super) use lanecrypt_kernels as kernels;
pub(super) use with_rows;

/// A stream core with a kernel for messages in lanes.
pub(super) trait SideBySide: Seek {
    /// One message of such a kernel.
    type Lane<'a>;

    /// A message whose data begin at `block` of the keystream.
    fn lane<'a>(
        key: &'a Self::Key,
        nonce: &Self::Nonce,
        block: u64,
        data: InOutBuf<'a, 'a, u8>,
    ) -> Self::Lane<'a>;

    /// XORs the keystreams of all messages.
    fn xor_lanes(isa: Isa, lanes: &mut [Self::Lane<'_>]);
}

impl<const ROUNDS: usize, F: Form> SideBySide for ChaCha<ROUNDS, F> {
    type Lane<'a> = chacha::Lane<'a>;

    #[inline(always)]
    fn lane<'a>(
        key: &'a chacha::Key,
        nonce: &Self::Nonce,
        block: u64,
        data: InOutBuf<'a, 'a, u8>,
    ) -> chacha::Lane<'a> {
        chacha::Lane::new::<F>(key, nonce, block, data)
    }

    #[inline(always)]
    fn xor_lanes(isa: Isa, lanes: &mut [chacha::Lane<'_>]) {
        chacha::xor_lanes::<ROUNDS>(isa, lanes);
    }
}
