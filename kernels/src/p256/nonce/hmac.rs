//! HMAC-SHA-256 with keys of 32 bytes.

use crate::{Isa, wipe};

/// `out[lane]` = HMAC(`keys[lane]`, the parts of the lane), for these lanes.
pub(super) fn hmac<'a>(
    _isa: Isa,
    lanes: &[usize],
    keys: &[[u8; 32]; 8],
    parts: impl Fn(usize) -> &'a [&'a [u8]],
    out: &mut [[u8; 32]; 8],
) {
    for &lane in lanes {
        let mut pads = [[0x36; 64], [0x5c; 64]];
        for pad in &mut pads {
            for (byte, key) in pad.iter_mut().zip(&keys[lane]) {
                *byte ^= key;
            }
        }
        let mut inner = Hash::new();
        inner.update(&pads[0]);
        for part in parts(lane) {
            inner.update(part);
        }
        let inner = inner.finish();
        let mut outer = Hash::new();
        outer.update(&pads[1]);
        outer.update(&inner);
        out[lane] = outer.finish();
        wipe::words(pads.as_flattened_mut());
    }
}

struct Hash {
    state: [u32; 8],
    block: [u8; 64],
    length: usize,
}

impl Hash {
    fn new() -> Self {
        let state = [
            0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a,
            0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
        ];
        Self { state, block: [0; 64], length: 0 }
    }

    fn update(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.block[self.length % 64] = byte;
            self.length += 1;
            if self.length % 64 == 0 {
                self.compress();
            }
        }
    }

    fn finish(mut self) -> [u8; 32] {
        let bits = 8 * self.length as u64;
        self.update(&[0x80]);
        while self.length % 64 != 56 {
            self.update(&[0]);
        }
        self.update(&bits.to_be_bytes());
        let mut out = [0; 32];
        for (bytes, word) in out.as_chunks_mut().0.iter_mut().zip(self.state) {
            *bytes = word.to_be_bytes();
        }
        wipe::words(&mut self.state);
        wipe::words(&mut self.block);
        out
    }

    fn compress(&mut self) {
        let mut w = [0; 64];
        for (word, bytes) in w.iter_mut().zip(self.block.as_chunks().0) {
            *word = u32::from_be_bytes(*bytes);
        }
        for i in 16..64 {
            let (a, b) = (w[i - 15], w[i - 2]);
            let one = a.rotate_right(7) ^ a.rotate_right(18) ^ a >> 3;
            let two = b.rotate_right(17) ^ b.rotate_right(19) ^ b >> 10;
            w[i] = w[i - 16].wrapping_add(one).wrapping_add(w[i - 7]).wrapping_add(two);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = self.state;
        for i in 0..64 {
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let t1 = h.wrapping_add(s1).wrapping_add(g ^ e & (f ^ g));
            let t1 = t1.wrapping_add(ROUNDS[i]).wrapping_add(w[i]);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let t2 = s0.wrapping_add(a & b | c & (a | b));
            (h, g, f, e, d, c, b, a) =
                (g, f, e, d.wrapping_add(t1), c, b, a, t1.wrapping_add(t2));
        }
        for (word, add) in self.state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *word = word.wrapping_add(add);
        }
    }
}

const ROUNDS: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];
