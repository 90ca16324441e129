//! The replay window. A packet carries the last 16 bits of its index; the rest is estimated from
//! earlier packets. No index is accepted twice. RFC 3711, sections 3.3.1 and 3.3.2.

use crate::rtp::Dropped;

/// An RTP packet index has 48 bits: the rollover counter and the sequence number.
const END: u64 = 1 << 48;
/// How far a packet may be behind the highest index; RFC 3711 requires at least 64.
const SPAN: u64 = 128;

/// The used indices of a stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    /// The highest index.
    highest: Option<u64>,
    /// Bit `n` is set if the index `n` below the highest has been used.
    seen: u128,
}

impl Window {
    /// The index of the packet with this sequence number: the one closest to the highest index.
    pub(crate) fn guess(&self, sequence: u16) -> Result<u64, Dropped> {
        const HALF: u16 = 0x8000;
        let Some(highest) = self.highest else { return Ok(u64::from(sequence)) };
        let (rollovers, last) = (highest >> 16, (highest & 0xffff) as u16);
        let rollovers = if last < HALF && sequence.saturating_sub(last) > HALF {
            // The sequence number is from before the first packet.
            rollovers.checked_sub(1).ok_or(Dropped::Replayed)?
        } else if last >= HALF && last - HALF > sequence {
            rollovers + 1
        } else {
            rollovers
        };
        let index = rollovers << 16 | u64::from(sequence);
        if index < END { Ok(index) } else { Err(Dropped::Exhausted) }
    }

    /// Whether this index has not been used and is not too old to tell.
    pub(crate) fn is_new(&self, index: u64) -> bool {
        let Some(highest) = self.highest else { return true };
        match highest.checked_sub(index) {
            None => true,
            Some(behind) => behind < SPAN && self.seen >> behind & 1 == 0,
        }
    }

    /// Marks an index as used.
    ///
    /// # Errors
    ///
    /// [`Dropped::Replayed`] if the index [is not new](Self::is_new); nothing changes then.
    pub(crate) fn mark(&mut self, index: u64) -> Result<(), Dropped> {
        if !self.is_new(index) {
            return Err(Dropped::Replayed);
        }
        let highest = self.highest.unwrap_or(index);
        if index > highest {
            let ahead = index - highest;
            self.seen = if ahead < SPAN { self.seen << ahead } else { 0 };
        }
        let highest = highest.max(index);
        self.highest = Some(highest);
        self.seen |= 1 << (highest - index);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(index: u64) -> Window {
        let mut window = Window::default();
        window.mark(index).expect("the first");
        window
    }

    #[test]
    fn guesses() {
        assert_eq!(Window::default().guess(0xfff0), Ok(0xfff0));
        for (highest, sequence, index) in [
            (0x0000_0010, 0x0011, Ok(0x0000_0011)),
            (0x0000_fff0, 0x0003, Ok(0x0001_0003)),
            (0x0001_0003, 0xfff0, Ok(0x0000_fff0)),
            (0x0001_0003, 0x8003, Ok(0x0001_8003)),
            (0x0001_0003, 0x8004, Ok(0x0000_8004)),
            (0x0001_9000, 0x1000, Ok(0x0001_1000)),
            (0x0001_9000, 0x0fff, Ok(0x0002_0fff)),
            (0x0000_0003, 0xfff0, Err(Dropped::Replayed)),
            (0xffff_ffff_fff0, 0x0001, Err(Dropped::Exhausted)),
        ] {
            assert_eq!(at(highest).guess(sequence), index, "{highest:x} {sequence:x}");
        }
    }

    #[test]
    fn a_long_stream_with_loss_and_disorder_keeps_its_indices() {
        let mut window = at(0xff00);
        let mut index = 0xff00_u64;
        for step in 1..100_000_u64 {
            index += 1 + step * step % 7;
            for index in [index, index - 1] {
                let sequence = (index & 0xffff) as u16;
                assert_eq!(window.guess(sequence), Ok(index));
                if window.is_new(index) {
                    window.mark(index).expect("new");
                }
                assert_eq!(window.mark(index), Err(Dropped::Replayed));
            }
        }
    }

    #[test]
    fn the_window_is_128_wide() {
        let mut window = at(1000);
        assert_eq!(window.mark(1000 - SPAN), Err(Dropped::Replayed));
        window.mark(1000 - SPAN + 1).expect("just new enough");
        assert_eq!(window.mark(1000 - SPAN + 1), Err(Dropped::Replayed));
        window.mark(1001).expect("ahead");
        assert_eq!(window.mark(1001 - SPAN), Err(Dropped::Replayed));
        window.mark(1001 + SPAN).expect("far ahead");
        assert!(!window.is_new(1001), "before the window");
        for index in 1002..1001 + SPAN {
            window.mark(index).expect("between");
        }
    }
}
