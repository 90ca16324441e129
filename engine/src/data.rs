//! The data of a message.

use lanecrypt_ciphers::{Error, InOutBuf};

/// The data of a message: one slice in place, or an input and an output slice of the same length.
///
/// It consists of plain slices, so that a request may be sent to another thread.
///
/// ```
/// use lanecrypt_engine::Data;
///
/// let (from, mut to) = ([1; 4], [0; 4]);
/// let in_place = Data::from(&mut to[..]);
/// # drop(in_place);
/// let apart = Data::from((&from[..], &mut to[..]));
/// assert_eq!(apart.len(), 4);
/// ```
#[derive(Debug)]
pub struct Data<'a> {
    /// The input, unless it is in `to`.
    from: Option<&'a [u8]>,
    to: &'a mut [u8],
}

impl<'a> Data<'a> {
    /// The length of the output in bytes.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.to.len()
    }

    /// Whether the output is empty.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.to.is_empty()
    }

    /// The input, unless it is in the output, and the output.
    #[inline]
    pub(crate) fn parts(self) -> (Option<&'a [u8]>, &'a mut [u8]) {
        (self.from, self.to)
    }

    /// Builds data from its [`parts`](Self::parts).
    #[inline]
    pub(crate) fn of_parts(from: Option<&'a [u8]>, to: &'a mut [u8]) -> Self {
        Self { from, to }
    }

    /// The output.
    #[inline]
    pub(crate) fn out(&mut self) -> &mut [u8] {
        self.to
    }

    /// The buffer that kernels take.
    ///
    /// # Errors
    ///
    /// [`Error::OutputLength`] if there are two slices of different lengths.
    #[inline]
    pub fn in_out(&mut self) -> Result<InOutBuf<'_, '_, u8>, Error> {
        match self.from {
            None => Ok(InOutBuf::from(&mut *self.to)),
            Some(from) => InOutBuf::new(from, self.to).map_err(|_| Error::OutputLength),
        }
    }
}

impl<'a> From<&'a mut [u8]> for Data<'a> {
    #[inline]
    fn from(to: &'a mut [u8]) -> Self {
        Self { from: None, to }
    }
}

impl<'a, const N: usize> From<&'a mut [u8; N]> for Data<'a> {
    #[inline]
    fn from(to: &'a mut [u8; N]) -> Self {
        Self { from: None, to }
    }
}

impl<'a> From<(&'a [u8], &'a mut [u8])> for Data<'a> {
    /// From the first slice to the second.
    #[inline]
    fn from((from, to): (&'a [u8], &'a mut [u8])) -> Self {
        Self { from: Some(from), to }
    }
}
