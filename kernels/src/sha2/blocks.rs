//! Blocks of a message that is given in parts, and its padding (FIPS 180-4, 5.1).

/// What is left of a message.
#[derive(Clone, Copy)]
pub(super) struct Rest<'a> {
    part: &'a [u8],
    parts: &'a [&'a [u8]],
    /// The bytes of the blocks so far. No computer absorbs 2^61 bytes.
    absorbed: u64,
    progress: Progress,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// There may be more bytes.
    Message,
    /// All bytes and the bit after them were in a block; their number was not.
    Padding,
    Done,
}

impl<'a> Rest<'a> {
    /// A message that follows `absorbed` bytes, which are whole blocks.
    pub(super) const fn new(parts: &'a [&'a [u8]], absorbed: u64) -> Self {
        Self { part: &[], parts, absorbed, progress: Progress::Message }
    }

    /// Whether there are no more blocks.
    pub(super) fn is_done(&self) -> bool {
        self.progress == Progress::Done
    }

    /// The next block: in the message, or else in `room`.
    #[inline]
    pub(super) fn block<'b, const N: usize>(&mut self, room: &'b mut [u8; N]) -> &'b [u8; N]
    where
        'a: 'b,
    {
        if let Some((block, rest)) = self.part.split_first_chunk() {
            self.part = rest;
            self.absorbed = self.absorbed.wrapping_add(N as u64);
            return block;
        }
        self.collect(room)
    }

    fn collect<'b, const N: usize>(&mut self, room: &'b mut [u8; N]) -> &'b [u8; N]
    where
        'a: 'b,
    {
        // What follows the message, if it ends here.
        *room = [0; N];
        let mut filled = 0;
        while self.progress == Progress::Message {
            let count = self.part.len().min(N - filled);
            let (bytes, rest) = self.part.split_at(count);
            room[filled..filled + count].copy_from_slice(bytes);
            (self.part, filled) = (rest, filled + count);
            if filled == N {
                self.absorbed = self.absorbed.wrapping_add(N as u64);
                return room;
            }
            match self.parts {
                [part, parts @ ..] => (self.part, self.parts) = (part, parts),
                [] => self.progress = Progress::Padding,
            }
            if filled == 0 && self.part.len() >= N {
                return self.block(room);
            }
            if self.progress == Progress::Padding {
                self.absorbed = self.absorbed.wrapping_add(filled as u64);
                room[filled] = 0x80;
                filled += 1;
            }
        }
        // The number of bits takes an eighth of a block.
        if filled <= N - N / 8 {
            if let Some(bits) = room.last_chunk_mut() {
                *bits = (self.absorbed << 3).to_be_bytes();
            }
            self.progress = Progress::Done;
        }
        room
    }
}
