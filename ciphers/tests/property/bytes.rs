//! What the fuzz targets and their tests take from an input.

/// Bytes of an input, which continues with zeros.
pub(crate) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn new(input: &'a [u8]) -> Self {
        Self(input)
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// Below 65,536.
    pub(crate) fn length(&mut self) -> usize {
        usize::from(u16::from_le_bytes([self.byte(), self.byte()]))
    }

    pub(crate) fn take(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.byte()).collect()
    }

    pub(crate) fn choice<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[usize::from(self.byte()) % of.len()]
    }

    /// So many bytes: what is left of the input, again and again.
    pub(crate) fn repeated(&mut self, len: usize) -> Vec<u8> {
        let rest = self.take(self.0.len().clamp(1, len.max(1)));
        rest.into_iter().cycle().take(len).collect()
    }
}
