//! AES-CBC in lanes: whatever the batch, the same as one message after the other.

use inout::InOutBuf;
use lanecrypt_kernels::aes::{Aes, AesForward};
use lanecrypt_kernels::lanes::Lane;
use lanecrypt_kernels::{BlockEncrypt, Isa};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};

/// Blocks around each buffer that must stay as they are.
const GUARD: usize = 4;
/// What is in them.
const PAINT: [u8; 16] = [0x5a; 16];

/// A message with blocks around it.
#[derive(Clone)]
struct Message {
    key: usize,
    iv: [u8; 16],
    text: Vec<[u8; 16]>,
    /// Whether it is encrypted in place.
    in_place: bool,
}

impl Message {
    fn new(numbers: &mut Numbers, keys: usize, blocks: usize) -> Self {
        let text = (0..blocks).map(|_| numbers.array()).collect();
        let (key, iv) = (numbers.below(keys), numbers.array());
        Self { key, iv, text, in_place: numbers.below(2) == 0 }
    }

    /// Where the ciphertext goes: over the text, or over something else.
    fn buffer(&self) -> Vec<[u8; 16]> {
        let mut buffer = vec![PAINT; self.text.len() + 2 * GUARD];
        if self.in_place {
            buffer[GUARD..][..self.text.len()].copy_from_slice(&self.text);
        }
        buffer
    }

    fn blocks<'a>(&'a self, buffer: &'a mut [[u8; 16]]) -> InOutBuf<'a, 'a, [u8; 16]> {
        let output = &mut buffer[GUARD..][..self.text.len()];
        if self.in_place {
            output.into()
        } else {
            InOutBuf::new(&self.text, output).expect("as long")
        }
    }
}

trait Lanes: BlockEncrypt<16> {
    fn encrypt_lanes(lanes: &mut [Lane<'_, Self, 16>]);
}

macro_rules! lanes {
    ($($aes:ident<$bits:literal>),*) => {
        $(impl Lanes for $aes<$bits> {
            fn encrypt_lanes(lanes: &mut [Lane<'_, Self, 16>]) {
                Self::cbc_encrypt_lanes(lanes);
            }
        })*
    };
}

lanes!(Aes<128>, Aes<192>, Aes<256>, AesForward<128>, AesForward<192>, AesForward<256>);

/// Where a batch in lanes differs from its messages one by one: in a message, or around it.
fn difference<C: Lanes>(
    keys: &[C],
    messages: &[Message],
    lanes: impl FnOnce(&mut [Lane<'_, C, 16>]),
) -> Option<usize> {
    let mut buffers: Vec<_> = messages.iter().map(Message::buffer).collect();
    let mut batch: Vec<_> = messages
        .iter()
        .zip(&mut buffers)
        .map(|(message, buffer)| Lane {
            key: &keys[message.key],
            iv: &message.iv,
            blocks: message.blocks(buffer),
        })
        .collect();
    lanes(&mut batch);
    messages.iter().zip(buffers).position(|(message, buffer)| {
        let mut expected = vec![PAINT; buffer.len()];
        let output = &mut expected[GUARD..][..message.text.len()];
        let blocks = InOutBuf::new(&message.text, output).expect("as long");
        keys[message.key].cbc_encrypt(&mut message.iv.clone(), blocks);
        buffer != expected
    })
}

/// Keys for `isas`, in turn.
fn keys<C: Lanes<Key = [u8; K]>, const K: usize>(numbers: &mut Numbers, isas: &[Isa]) -> Vec<C> {
    let count = 1 + numbers.below(20);
    (0..count).map(|i| C::new(isas[i % isas.len()], &numbers.array())).collect()
}

/// Lengths in blocks: none, few, many, or mixed, up to 4 KiB.
fn batch(numbers: &mut Numbers, keys: usize) -> Vec<Message> {
    let messages = 1 + numbers.below(70);
    let most = [1, 3, 6, 20, 60, 256][numbers.below(6)];
    let same = (numbers.below(3) == 0).then(|| numbers.below(most + 1));
    (0..messages)
        .map(|_| {
            let blocks = same.unwrap_or_else(|| numbers.below(most + 1));
            Message::new(numbers, keys, blocks)
        })
        .collect()
}

fn random_batches<C: Lanes<Key = [u8; K]>, const K: usize>(seed: u64) {
    let numbers = &mut Numbers(seed);
    for case in 0..cases(25) {
        for isa in levels() {
            let keys = keys::<C, K>(numbers, &[isa]);
            let messages = batch(numbers, keys.len());
            let wrong = difference(&keys, &messages, C::encrypt_lanes);
            assert_eq!(wrong, None, "case {case}, {} messages, {isa:?}", messages.len());
        }
    }
}

/// NIST SP 800-38A, F.2.1, in the middle of a batch; further blocks follow, for it is short.
#[test]
fn published_message_in_each_lane() {
    let key = hex("2b7e151628aed2a6abf7158809cf4f3c").try_into().expect("16 bytes");
    let iv = hex("000102030405060708090a0b0c0d0e0f").try_into().expect("16 bytes");
    let text = hex("6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
        30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710");
    let cipher = hex("7649abac8119b246cee98e9b12e9197d 5086cb9b507219ee95db113a917678b2
        73bed6b8e3c1743b7116e69e22229516 3ff1caa1681fac09120eca307586e1a7");
    for isa in levels() {
        let key = AesForward::<128>::new(isa, &key);
        let other = AesForward::<128>::new(isa, &[3; 16]);
        for lane in 0..16 {
            let mut data = [[[7; 16]; 21]; 16];
            data[lane].as_flattened_mut()[..64].copy_from_slice(&text);
            let mut lanes: Vec<_> = data
                .iter_mut()
                .map(|data| Lane { key: &other, iv: &[5; 16], blocks: (&mut data[..]).into() })
                .collect();
            (lanes[lane].key, lanes[lane].iv) = (&key, &iv);
            AesForward::<128>::cbc_encrypt_lanes(&mut lanes);
            assert_eq!(data[lane].as_flattened()[..64], cipher, "lane {lane}, {isa:?}");
        }
    }
}

#[test]
fn random_batches_are_encrypted_as_one_by_one() {
    random_batches::<Aes<128>, 16>(1);
    random_batches::<Aes<192>, 24>(2);
    random_batches::<Aes<256>, 32>(3);
    random_batches::<AesForward<128>, 16>(4);
    random_batches::<AesForward<192>, 24>(5);
    random_batches::<AesForward<256>, 32>(6);
}

#[test]
fn each_number_of_messages_of_each_length() {
    let numbers = &mut Numbers(7);
    for isa in levels() {
        let keys = keys::<Aes<128>, 16>(numbers, &[isa]);
        for messages in 0..=18 {
            for blocks in [5, 9, 22, 23, 24, 25, 131] {
                let batch: Vec<_> =
                    (0..messages).map(|_| Message::new(numbers, keys.len(), blocks)).collect();
                let wrong = difference(&keys, &batch, Aes::<128>::cbc_encrypt_lanes);
                assert_eq!(wrong, None, "{messages} messages of {blocks} blocks, {isa:?}");
            }
        }
    }
}

#[test]
fn keys_of_different_levels_in_one_batch() {
    let numbers = &mut Numbers(8);
    for case in 0..cases(30) {
        let mut isas: Vec<_> = levels().collect();
        let first = numbers.below(isas.len());
        isas.rotate_left(first);
        let keys = keys::<Aes<256>, 32>(numbers, &isas);
        let messages = batch(numbers, keys.len());
        let wrong = difference(&keys, &messages, Aes::<256>::cbc_encrypt_lanes);
        assert_eq!(wrong, None, "case {case}, {} messages", messages.len());
    }
}

/// What these tests are made of must see lanes that are exchanged, or a block too many.
#[test]
fn planted_faults_are_caught() {
    let numbers = &mut Numbers(9);
    let keys = keys::<Aes<128>, 16>(numbers, &[Isa::of_processor()]);
    let messages: Vec<_> = (0..24)
        .map(|_| Message { in_place: false, ..Message::new(numbers, keys.len(), 30) })
        .collect();
    let swapped = difference(&keys, &messages, |lanes| {
        let (left, right) = lanes.split_at_mut(8);
        core::mem::swap(&mut left[3].iv, &mut right[0].iv);
        Aes::<128>::cbc_encrypt_lanes(lanes);
    });
    assert_eq!(swapped, Some(3));
    let exchanged = difference(&keys, &messages, |lanes| {
        Aes::<128>::cbc_encrypt_lanes(lanes);
        let (left, right) = lanes.split_at_mut(8);
        left[5].blocks.get_out()[29..].swap_with_slice(&mut right[5].blocks.get_out()[29..]);
    });
    assert_eq!(exchanged, Some(5));
    assert_eq!(difference(&keys, &messages, Aes::<128>::cbc_encrypt_lanes), None);
}
