//! GHASH: a known answer, and every instruction set against the definition.

use lanecrypt_kernels::Isa;
use lanecrypt_kernels::ghash::Key;
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};

/// Multiplication in the field, bit by bit (NIST SP 800-38D, section 6.3, algorithm 1).
fn multiply(x: u128, y: u128) -> u128 {
    let r = 0xe1 << 120;
    let (mut z, mut v) = (0, y);
    for i in 0..128 {
        if x >> (127 - i) & 1 == 1 {
            z ^= v;
        }
        v = if v & 1 == 0 { v >> 1 } else { v >> 1 ^ r };
    }
    z
}

/// The hash (section 6.4, algorithm 2), from any state on.
fn absorb(h: &[u8; 16], state: &[u8; 16], blocks: &[[u8; 16]]) -> [u8; 16] {
    let h = u128::from_be_bytes(*h);
    let step = |y, block: &[u8; 16]| multiply(y ^ u128::from_be_bytes(*block), h);
    blocks.iter().fold(u128::from_be_bytes(*state), step).to_be_bytes()
}

fn random_blocks(numbers: &mut Numbers, count: usize) -> Vec<[u8; 16]> {
    (0..count).map(|_| numbers.array()).collect()
}

/// D. McGrew and J. Viega, "The Galois/Counter Mode of Operation", appendix B, test case 2.
#[test]
fn published() {
    let block = |text| hex(text).try_into().expect("16 bytes");
    let h = block("66e94bd4ef8a2c3b884cfa59ca342b2e");
    let blocks =
        ["0388dace60b6a392f328c2b971b2fe78", "00000000000000000000000000000080"].map(block);
    for isa in levels() {
        let mut state = [0; 16];
        Key::new(isa, &h).absorb(&mut state, &blocks);
        assert_eq!(state, block("f38cbb1ad69223dcc3457ae5b6b0f885"), "{isa:?}");
    }
}

#[test]
fn every_number_of_blocks() {
    let mut numbers = Numbers(1);
    let h = numbers.array();
    let blocks = random_blocks(&mut numbers, 70);
    let first = numbers.array();
    for count in 0..=blocks.len() {
        let expected = absorb(&h, &first, &blocks[..count]);
        for isa in levels() {
            let mut state = first;
            Key::new(isa, &h).absorb(&mut state, &blocks[..count]);
            assert_eq!(state, expected, "{count} blocks, {isa:?}");
        }
    }
}

/// Each single bit of a key times each single bit of a block: no place of a product is missed.
#[test]
fn every_pair_of_bits() {
    let unit = |i: u32| (1_u128 << i).to_be_bytes();
    for isa in levels() {
        for i in 0..128 {
            let key = Key::new(isa, &unit(i));
            for j in 0..128 {
                let mut state = [0; 16];
                key.absorb(&mut state, &[unit(j)]);
                assert_eq!(state, absorb(&unit(i), &[0; 16], &[unit(j)]), "{i}, {j}, {isa:?}");
            }
        }
    }
}

/// Blocks of ones give the most that the holes of the portable kernel must take.
#[test]
fn ones_and_zeros() {
    for h in [[0; 16], [0xff; 16], [0x11; 16]] {
        for byte in [0, 0xff, 0x11, 0x88] {
            let blocks = [[byte; 16]; 37];
            let expected = absorb(&h, &[byte; 16], &blocks);
            for isa in levels() {
                let mut state = [byte; 16];
                Key::new(isa, &h).absorb(&mut state, &blocks);
                assert_eq!(state, expected, "{:x}, {byte:x}, {isa:?}", h[0]);
            }
        }
    }
}

/// Random keys, states and blocks, cut into two calls, by a key set in the place of another.
#[test]
fn random() {
    let mut numbers = Numbers(2);
    let mut keys: Vec<_> = levels().map(|isa| Key::new(isa, &[7; 16])).collect();
    for _ in 0..cases(300) {
        let (h, first) = (numbers.array(), numbers.array());
        let count = numbers.below(100);
        let blocks = random_blocks(&mut numbers, count);
        let cut = numbers.below(count + 1);
        let expected = absorb(&h, &first, &blocks);
        for key in &mut keys {
            key.set(&h);
            let mut state = first;
            key.absorb(&mut state, &blocks[..cut]);
            key.absorb(&mut state, &blocks[cut..]);
            assert_eq!(state, expected, "{count} blocks cut at {cut}, {key:?}");
        }
    }
}

#[test]
fn debug_tells_no_secret() {
    let shown = format!("{:?}", Key::new(Isa::PORTABLE, &[0xab; 16]));
    assert_eq!(shown, "Key { isa: Isa(Portable), .. }");
}
