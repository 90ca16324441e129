//! The traits of the crate `cipher`: the same bytes as the crates of RustCrypto.

use cipher::block_padding::{NoPadding, Pkcs7};
use cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, KeyInit, KeyIvInit,
    StreamCipher, StreamCipherSeek,
};
use lanecrypt_ciphers::rustcrypto as ours;
use lanecrypt_testing::numbers::Numbers;

/// One block cipher of ours against one of theirs: blocks, and CBC of the crate `cbc` over both.
macro_rules! same_blocks {
    ($test:ident, $ours:ty, $theirs:ty, key $key:literal, block $block:literal) => {
        #[test]
        fn $test() {
            let mut numbers = Numbers(1);
            for blocks in (0..70).chain([100, 128, 200]) {
                let (key, iv) = (numbers.bytes($key), numbers.bytes($block));
                let data = numbers.bytes(blocks * $block);
                let ours = <$ours>::new_from_slice(&key).expect("a good length");
                let theirs = <$theirs>::new_from_slice(&key).expect("a good length");
                let mut expected = data.as_chunks::<$block>().0.to_vec();
                for block in &mut expected {
                    theirs.encrypt_block(block.into());
                }
                let mut out = data.as_chunks::<$block>().0.to_vec();
                for block in &mut out {
                    ours.encrypt_block(block.into());
                }
                assert_eq!(out, expected, "one by one");
                ours.decrypt_blocks(cipher::Array::cast_slice_from_core_mut(&mut out));
                assert_eq!(out.as_flattened(), data, "all at once");
                ours.encrypt_blocks(cipher::Array::cast_slice_from_core_mut(&mut out));
                assert_eq!(out, expected, "all at once");
                let mut apart = vec![[0; $block]; blocks];
                let from = cipher::Array::cast_slice_from_core(&out);
                let to = cipher::Array::cast_slice_from_core_mut(&mut apart);
                ours.decrypt_blocks_b2b(from, to).expect("equal lengths");
                assert_eq!(apart.as_flattened(), data, "apart");

                let new = "good lengths";
                let ours = cbc::Encryptor::<$ours>::new_from_slices(&key, &iv).expect(new);
                let theirs = cbc::Encryptor::<$theirs>::new_from_slices(&key, &iv).expect(new);
                let sealed = ours.encrypt_padded_vec::<Pkcs7>(&data);
                assert_eq!(sealed, theirs.encrypt_padded_vec::<Pkcs7>(&data), "cbc");
                let ours = cbc::Decryptor::<$ours>::new_from_slices(&key, &iv).expect(new);
                let opened = ours.decrypt_padded_vec::<Pkcs7>(&sealed).expect("padding");
                assert_eq!(opened, data, "cbc");
                let ours = cbc::Decryptor::<$ours>::new_from_slices(&key, &iv).expect(new);
                let theirs = cbc::Decryptor::<$theirs>::new_from_slices(&key, &iv).expect(new);
                let mut opened = data.clone();
                let opened = ours.decrypt_padded::<NoPadding>(&mut opened).expect("whole blocks");
                let mut same = data.clone();
                let same = theirs.decrypt_padded::<NoPadding>(&mut same).expect("whole blocks");
                assert_eq!(opened, same, "cbc of anything");
            }
        }
    };
}

same_blocks!(aes_128, ours::Aes128, aes::Aes128, key 16, block 16);
same_blocks!(aes_192, ours::Aes192, aes::Aes192, key 24, block 16);
same_blocks!(aes_256, ours::Aes256, aes::Aes256, key 32, block 16);
same_blocks!(serpent_256, ours::Serpent256, serpent::Serpent, key 32, block 16);
same_blocks!(des_alone, ours::Des, des::Des, key 8, block 8);
same_blocks!(des_two_keys, ours::TdesEde2, des::TdesEde2, key 16, block 8);
same_blocks!(des_three_keys, ours::TdesEde3, des::TdesEde3, key 24, block 8);

/// One stream of ours against one of theirs: any cut, any position.
macro_rules! same_stream {
    ($test:ident, $ours:ty, $theirs:ty, key $key:literal, iv $iv:literal) => {
        #[test]
        fn $test() {
            let mut numbers = Numbers(2);
            let (key, iv) = (numbers.bytes($key), numbers.bytes($iv));
            let mut ours = <$ours>::new_from_slices(&key, &iv).expect("good lengths");
            let mut theirs = <$theirs>::new_from_slices(&key, &iv).expect("good lengths");
            for _ in 0..200 {
                let mut data = numbers.bytes(0);
                data.resize(numbers.below(400), 0x33);
                let mut expected = data.clone();
                assert_eq!(ours.current_pos::<u64>(), theirs.current_pos::<u64>());
                ours.apply_keystream(&mut data);
                theirs.apply_keystream(&mut expected);
                assert_eq!(data, expected);
                if numbers.below(3) == 0 {
                    let to = numbers.below(1 << 30);
                    ours.seek(to);
                    theirs.seek(to);
                    assert_eq!(ours.current_pos::<u64>(), to as u64);
                }
                ours.write_keystream(&mut data);
                theirs.write_keystream(&mut expected);
                assert_eq!(data, expected);
            }
        }
    };
}

same_stream!(aes_128_ctr, ours::Aes128Ctr, ctr::Ctr128BE<aes::Aes128>, key 16, iv 16);
same_stream!(aes_192_ctr, ours::Aes192Ctr, ctr::Ctr128BE<aes::Aes192>, key 24, iv 16);
same_stream!(aes_256_ctr, ours::Aes256Ctr, ctr::Ctr128BE<aes::Aes256>, key 32, iv 16);
same_stream!(chacha8, ours::ChaCha8, chacha20::ChaCha8, key 32, iv 12);
same_stream!(chacha12, ours::ChaCha12, chacha20::ChaCha12, key 32, iv 12);
same_stream!(chacha20_of_rfc_8439, ours::ChaCha20, chacha20::ChaCha20, key 32, iv 12);
same_stream!(chacha20_legacy, ours::ChaCha20Legacy, chacha20::ChaCha20Legacy, key 32, iv 8);
same_stream!(salsa8, ours::Salsa8, salsa20::Salsa8, key 32, iv 8);
same_stream!(salsa12, ours::Salsa12, salsa20::Salsa12, key 32, iv 8);
same_stream!(salsa20_whole, ours::Salsa20, salsa20::Salsa20, key 32, iv 8);

/// The crate `ctr` over our block ciphers.
#[test]
fn counter_mode_over_our_blocks() {
    let (key, iv, mut data) = ([1; 16], [0xff; 16], [7; 1000]);
    let mut over = ctr::Ctr128BE::<ours::Aes128>::new(&key.into(), &iv.into());
    over.apply_keystream(&mut data);
    ours::Aes128Ctr::new(&key.into(), &iv.into()).apply_keystream(&mut data);
    assert_eq!(data, [7; 1000]);
}

#[test]
fn the_end_is_refused() {
    let mut stream = ours::ChaCha20::new(&[1; 32].into(), &[2; 12].into());
    let end = 1_u64 << 38;
    stream.seek(end - 10);
    let mut data = [5; 11];
    assert!(stream.try_apply_keystream(&mut data).is_err());
    assert!(stream.try_write_keystream(&mut data).is_err());
    assert_eq!(data, [5; 11]);
    assert_eq!(stream.current_pos::<u64>(), end - 10);
    assert!(stream.try_apply_keystream(&mut data[..10]).is_ok());
    assert_eq!(stream.current_pos::<u64>(), end);
    assert!(stream.check_remaining(1).is_err());
    assert!(stream.try_seek(end + 1).is_err());
    assert!(stream.try_seek(u128::from(u64::MAX) + 1).is_err());
}

/// Streams that go beyond 2^64 bytes have no end there, but no position that 64 bits hold.
#[test]
fn positions_up_to_the_last_are_told_or_refused() {
    let mut stream = ours::Aes128Ctr::new(&[1; 16].into(), &[2; 16].into());
    for offset in [u64::MAX - 31, u64::MAX - 19, u64::MAX - 15] {
        stream.seek(offset);
        assert_eq!(stream.current_pos::<u64>(), offset);
    }
    stream.seek(u64::MAX);
    assert!(stream.try_current_pos::<u64>().is_err());
}

#[test]
fn debug_output_hides_keys() {
    let aes = ours::Aes128::new(&[77; 16].into());
    let stream = ours::ChaCha20::new(&[77; 32].into(), &[77; 12].into());
    assert_eq!(format!("{aes:?} {stream:?}"), "Aes128 { .. } ChaCha20 { .. }");
}
