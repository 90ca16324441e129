//! Messages of a batch, each between bytes that must not change.

use inout::InOutBuf;

use lanecrypt_testing::numbers::Numbers;

const GUARD: usize = 64;
const PAINT: u8 = 0x5a;

/// Where a message lies between bytes that must not change, and where it comes from if that is
/// another place.
pub(crate) struct Place {
    pub(crate) bytes: Vec<u8>,
    from: usize,
    apart: Option<Vec<u8>>,
}

impl Place {
    pub(crate) fn new(numbers: &mut Numbers, text: &[u8]) -> Self {
        let from = GUARD + numbers.below(64);
        let mut bytes = vec![PAINT; from + text.len() + GUARD];
        let apart = (numbers.below(2) == 0).then(|| text.to_vec());
        if apart.is_none() {
            bytes[from..from + text.len()].copy_from_slice(text);
        }
        Self { bytes, from, apart }
    }

    pub(crate) fn data(&mut self) -> InOutBuf<'_, '_, u8> {
        let end = self.bytes.len() - GUARD;
        let out = &mut self.bytes[self.from..end];
        match &self.apart {
            Some(text) => InOutBuf::new(text, out).expect("equal lengths"),
            None => out.into(),
        }
    }

    fn holds(&self, expected: &[u8]) -> bool {
        let (front, rest) = self.bytes.split_at(self.from);
        let (inside, back) = rest.split_at(rest.len() - GUARD);
        inside == expected && front.iter().chain(back).all(|&byte| byte == PAINT)
    }
}

/// The first message that is not as it should be.
pub(crate) fn wrong(places: &[Place], expected: &[Vec<u8>]) -> Option<usize> {
    assert_eq!(places.len(), expected.len());
    places.iter().zip(expected).position(|(place, expected)| !place.holds(expected))
}

/// Lengths of a batch: alike, short, or anything up to 4 KiB.
pub(crate) fn lengths(numbers: &mut Numbers) -> Vec<usize> {
    let count = 1 + numbers.below(70);
    let widest = [17, 65, 130, 300, 700, 1100, 4097][numbers.below(7)];
    let alike = (numbers.below(3) == 0).then(|| numbers.below(widest));
    (0..count).map(|_| alike.unwrap_or_else(|| numbers.below(widest))).collect()
}
