//! Buffers with guards on both sides.

/// The number of guard bytes on each side of a buffer.
const GUARD: usize = 64;
/// The value of the guard bytes.
const PAINT: u8 = 0xa7;

/// A buffer at a chosen distance from a 64-byte boundary, between two guards.
pub struct Place {
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

impl Place {
    /// A copy of `bytes`, `offset` bytes after a 64-byte boundary.
    pub fn new(bytes: &[u8], offset: usize) -> Self {
        let offset = offset % 64;
        let mut memory = vec![PAINT; bytes.len() + 2 * GUARD + 128];
        let start = GUARD + memory[GUARD..].as_ptr().align_offset(64) + offset;
        memory[start..start + bytes.len()].copy_from_slice(bytes);
        Self { memory, start, len: bytes.len() }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.len]
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.len]
    }

    /// Whether both guards are unchanged.
    pub fn is_guarded(&self) -> bool {
        let after = self.start + self.len;
        let guards = self.memory[..self.start].iter().chain(&self.memory[after..]);
        guards.into_iter().all(|&byte| byte == PAINT)
    }

    /// Changes the nearest guard byte after the buffer, or before it, as a faulty kernel would.
    pub fn spill(&mut self, before: bool) {
        let at = if before { self.start - 1 } else { self.start + self.len };
        self.memory[at] ^= 1;
    }
}
