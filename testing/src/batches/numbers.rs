//! Sources of numbers for random batches.

/// A source of numbers: a generator, or the input of a fuzz target.
pub trait Numbers {
    /// The next number.
    fn number(&mut self) -> u64;

    /// A number below `limit`, which is not 0.
    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.number() % limit as u64).expect("below a usize")
    }

    /// True once in `times` calls on average.
    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of several.
    fn choice<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len())]
    }

    /// `len` bytes, which depend on one number only.
    fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut random = Random(self.number());
        let mut bytes = Vec::with_capacity(len + 8);
        while bytes.len() < len {
            bytes.extend(random.number().to_le_bytes());
        }
        bytes.truncate(len);
        bytes
    }
}

/// Numbers that look random and are the same in every run (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators": SplitMix64). The seed is the field.
pub struct Random(pub u64);

impl Numbers for Random {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}
