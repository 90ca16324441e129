//! Numbers to choose cases by, and how many cases to run.

/// Marsaglia's xorshift: the same cases in every run.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() >> 33).expect("31 bits") % bound
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next().to_le_bytes()[7]).collect()
    }

    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        self.bytes(N).try_into().expect("so many")
    }
}

pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<_> =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16).expect("hex")).collect();
    digits.chunks(2).map(|d| u8::try_from(d[0] << 4 | d[1]).expect("8 bits")).collect()
}

/// How many random cases to run: so many as the environment says, or `usual`.
pub(crate) fn cases(usual: u64) -> u64 {
    match std::env::var("LANECRYPT_CASES") {
        Ok(n) => n.parse().expect("LANECRYPT_CASES is a number"),
        Err(_) => usual,
    }
}
