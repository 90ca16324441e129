//! The data of a message, until a kernel takes them.

use lanecrypt_ciphers::{Error, InOutBuf};

/// The data of a message: a slice in place, or from one slice to another of the same length.
///
/// Plain slices, so that a request may go to another thread.
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
    /// The input, if it is not in `to`.
    from: Option<&'a [u8]>,
    to: &'a mut [u8],
}

impl<'a> Data<'a> {
    /// Bytes of the output.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.to.len()
    }

    /// Whether there are none.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.to.is_empty()
    }

    /// The input, if it is not in the output, and the output.
    #[inline]
    pub(crate) fn parts(self) -> (Option<&'a [u8]>, &'a mut [u8]) {
        (self.from, self.to)
    }

    /// What [`parts`](Self::parts) took apart.
    #[inline]
    pub(crate) fn of_parts(from: Option<&'a [u8]>, to: &'a mut [u8]) -> Self {
        Self { from, to }
    }

    /// The output.
    #[inline]
    pub(crate) fn out(&mut self) -> &mut [u8] {
        self.to
    }

    /// What kernels take.
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
