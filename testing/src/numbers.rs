//! Numbers to choose cases by, and how many cases to run.

use core::fmt::Debug;
use core::ops::Mul;
use core::str::FromStr;

/// Numbers that look random and are the same in every run (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators": SplitMix64). The seed is the field.
pub struct Numbers(pub u64);

impl Numbers {
    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.number() % bound as u64).expect("below a usize")
    }

    /// So many bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.number().to_le_bytes()[0]).collect()
    }

    /// So many bytes, as the type says.
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        self.bytes(N).try_into().expect("so many")
    }
}

/// The bytes that these digits stand for; white space between them is left out.
pub fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<_> =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16).expect("hex")).collect();
    digits.chunks(2).map(|d| u8::try_from(d[0] << 4 | d[1]).expect("8 bits")).collect()
}

/// How many random cases to run: `usual`, or as many as `LANECRYPT_CASES` says, but at most twenty
/// times as many as usual. Cases of different tests differ widely in what they cost.
pub fn cases<N: FromStr<Err: Debug> + Ord + Copy + From<u8> + Mul<Output = N>>(usual: N) -> N {
    match std::env::var("LANECRYPT_CASES") {
        Ok(n) => {
            let wanted: N = n.parse().expect("LANECRYPT_CASES is a number");
            wanted.min(N::from(20) * usual)
        }
        Err(_) => usual,
    }
}
