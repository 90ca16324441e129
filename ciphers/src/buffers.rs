//! What methods take as data.

use inout::InOutBuf;

/// The data of a request: a slice, an array or a `Vec` in place, or an [`InOutBuf`] from one buffer
/// to another.
///
/// ```
/// use lanecrypt_ciphers::hazmat::RawCipher;
/// use lanecrypt_ciphers::{Algorithm, InOutBuf};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let cipher = RawCipher::new(Algorithm::AES_128_CTR, &[7; 16])?;
/// let mut array = [1; 5];
/// cipher.encrypt(&[0; 16], &mut array)?;
///
/// let mut copy = [0; 5];
/// cipher.decrypt(&[0; 16], InOutBuf::new(&array, &mut copy).map_err(|_| "lengths differ")?)?;
/// assert_eq!(copy, [1; 5]);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the data of a request",
    note = "data in place are a `&mut [u8]`, `&mut [u8; N]` or `&mut Vec<u8>`; from one buffer to \
            another they are an `InOutBuf`"
)]
pub trait Buffers<'i, 'o>: sealed::Sealed {
    /// The input and the output, which are the same if the data are in place.
    fn in_out(self) -> InOutBuf<'i, 'o, u8>;
}

mod sealed {
    #[expect(unnameable_types, reason = "the types below are all that there are")]
    pub trait Sealed {}
}

impl sealed::Sealed for InOutBuf<'_, '_, u8> {}

impl<'i, 'o> Buffers<'i, 'o> for InOutBuf<'i, 'o, u8> {
    #[inline(always)]
    fn in_out(self) -> Self {
        self
    }
}

impl sealed::Sealed for &mut [u8] {}

impl<'a> Buffers<'a, 'a> for &'a mut [u8] {
    #[inline(always)]
    fn in_out(self) -> InOutBuf<'a, 'a, u8> {
        self.into()
    }
}

impl<const N: usize> sealed::Sealed for &mut [u8; N] {}

impl<'a, const N: usize> Buffers<'a, 'a> for &'a mut [u8; N] {
    #[inline(always)]
    fn in_out(self) -> InOutBuf<'a, 'a, u8> {
        self.as_mut_slice().into()
    }
}

#[cfg(feature = "std")]
impl sealed::Sealed for &mut Vec<u8> {}

#[cfg(feature = "std")]
impl<'a> Buffers<'a, 'a> for &'a mut Vec<u8> {
    #[inline(always)]
    fn in_out(self) -> InOutBuf<'a, 'a, u8> {
        self.as_mut_slice().into()
    }
}
