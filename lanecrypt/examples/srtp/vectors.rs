//! The examples of RFC 3711, appendix B.3, and of RFC 7714, sections 16 and 17. One vector is from
//! libsrtp, because neither RFC derives keys with a salt of 12 bytes.

use lanecrypt::{Algorithm, Engine, hazmat};

use crate::batch::{self, Packet};
use crate::hex::hex;
use crate::keys::{Material, Profile, derive};
use crate::rtcp::Control;
use crate::rtp::Dropped;
use crate::stream::{Stream, iv};

/// Section 16: the key and the salt, "Quid pro quo". AES-128 uses the first half of the key.
fn material(profile: Profile) -> Material {
    let mut key = [0; 32];
    for (byte, number) in key.iter_mut().zip(0..) {
        *byte = number;
    }
    Material::new(profile, key, *b"Quid pro quo")
}

/// RFC 3711, B.3.
#[test]
fn key_derivation() {
    let key = hex("E1F97A0D3E018BE0D64FA32C06DE4139");
    let salt = hex("0EC675AD498AFEEBB6960B3AABE6").try_into().expect("14 bytes");
    let key = hazmat::RawCipher::new(Algorithm::AES_128_CTR, &key).expect("a key");
    for (label, expected) in [
        (0, "C61E7A93744F39EE10734AFE3FF7A087"),
        (1, "CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4"),
        (2, "30CBBC08863D8C85D49DB34A9AE1"),
    ] {
        let expected = hex(expected);
        // The old content does not matter.
        let mut derived = vec![0xff; expected.len()];
        derive(&key, &salt, label, &mut derived).expect("derived");
        assert_eq!(derived, expected);
    }
}

/// RFC 7714, 16: both profiles, single packets and a batch.
#[test]
fn rtp() {
    let plain = hex("
        8040f17b8041f8d35501a0b247616c6c696120657374206f6d6e697320646976
        69736120696e207061727465732074726573");
    let engine = Engine::new();
    for (profile, protected) in [
        (
            Profile::AeadAes128Gcm,
            "8040f17b8041f8d35501a0b2f24de3a3fb34de6cacba861c9d7e4bcabe633bd5
             0d294e6f42a5f47a51c7d19b36de3adf8833899d7f27beb16a9152cf765ee439
             0cce",
        ),
        (
            Profile::AeadAes256Gcm,
            "8040f17b8041f8d35501a0b232b1de78a822fe12ef9f78fa332e33aab1801238
             9a58e2f3b50b2a0276ffae0f1ba63799b87b7aa3db36dfffd6b0f9bb7878d7a7
             6c13",
        ),
    ] {
        let material = material(profile);
        let stream = || Stream::new(&engine, &material, 0x5501_a0b2).expect("a stream");
        let protected = hex(protected);
        let buffer = [&plain[..], &[0; 16]].concat();

        let mut packet = buffer.clone();
        stream().protect(&mut packet).expect("protected");
        assert_eq!(packet, protected);
        stream().unprotect(&mut packet).expect("opened");
        assert_eq!(packet[..plain.len()], plain);

        let mut packets = [buffer.clone(), buffer];
        let mut streams = [stream(), stream()];
        let mut at = 0..;
        let mut number = || at.next().expect("endless");
        let mut batch = packets.each_mut().map(|bytes| Packet::new(number(), bytes));
        batch::protect(&mut engine.batch_buffer(8), &mut streams, &mut batch);
        assert!(batch.iter().all(|packet| packet.outcome.is_ok() && packet.bytes == protected));
        let mut streams = [stream(), stream()];
        batch::unprotect(&mut engine.batch_buffer(8), &mut streams, &mut batch);
        for packet in batch {
            assert_eq!(packet.outcome, Ok(()));
            assert_eq!(packet.bytes[..plain.len()], plain);
        }
    }
}

/// RFC 7714, 16: the IV.
#[test]
fn initialization_vector() {
    let made = iv(b"Quid pro quo", 0x5501_a0b2, 0xf17b);
    assert_eq!(made[..], hex("51753c6580c2726f20718414"));
}

/// RFC 7714, 17: with encryption, and with a tag only.
#[test]
fn rtcp() {
    let plain = hex("
        81c8000d4d6172734e5450314e545032525450200000042a0000e9304c756e61
        deadbeefdeadbeefdeadbeefdeadbeefdeadbeef");
    let engine = Engine::new();
    let control =
        |profile| Control::new(&engine, &material(profile), 0x5d4).expect("a control stream");
    for (profile, protected) in [
        (
            Profile::AeadAes128Gcm,
            "81c8000d4d61727363e94885dcdab67ca727d7662f6b7e997ff5c0f76c06f32d
             c676a5f1730d6fda4ce09b4686303ded0bb9275bc84aa45896cf4d2fc5abf872
             45d9eade800005d4",
        ),
        (
            Profile::AeadAes256Gcm,
            "81c8000d4d617273d50ae4d1f5ce5d304ba297e47d470c282c3ece5dbffe0a50
             a2eaa5c1110555be8415f658c61de0476f1b6fad1d1eb30c4446839f57ff6f6c
             b26ac3be800005d4",
        ),
    ] {
        let mut packet = [&plain[..], &[0; 20]].concat();
        control(profile).protect(&mut packet).expect("protected");
        assert_eq!(packet, hex(protected));
        let mut receiver = control(profile);
        receiver.unprotect(&mut packet).expect("opened");
        assert_eq!(packet[..plain.len()], plain);
        assert_eq!(receiver.unprotect(&mut hex(protected)), Err(Dropped::Replayed));
    }

    let tag_only = [&plain[..], &hex("841dd9683dd78ec92ae58790125f62b3000005d4")].concat();
    let mut packet = tag_only.clone();
    control(Profile::AeadAes128Gcm).unprotect(&mut packet).expect("authentic");
    assert_eq!(packet, tag_only);
    packet[20] ^= 1;
    let dropped = control(Profile::AeadAes128Gcm).unprotect(&mut packet);
    assert!(matches!(dropped, Err(Dropped::Refused(_))));
}

/// From master key to packet: libsrtp's test of AES-128-GCM.
#[test]
fn from_a_master_key() {
    let engine = Engine::new();
    let key: Vec<u8> = (0x00..0x10).collect();
    let salt = core::array::from_fn(|at| (0xa0..).nth(at).expect("endless"));
    let profile = Profile::AeadAes128Gcm;

    let mut packet = hex("800f1234decafbadcafebabeabababababababababababababababab");
    packet.resize(packet.len() + 16, 0);
    let rtp = Material::rtp(profile, &key, &salt).expect("keys");
    let mut stream = Stream::new(&engine, &rtp, 0xcafe_babe).expect("a stream");
    stream.protect(&mut packet).expect("protected");
    let expected = "
        800f1234decafbadcafebabec5002ede04cfdd2eb91159e0880aa06ed2976826
        f796b201df3131a127e8a392";
    assert_eq!(packet, hex(expected));

    let mut packet = hex("81c8000bcafebabeabababababababababababababababab");
    packet.resize(packet.len() + 20, 0);
    let rtcp = Material::rtcp(profile, &key, &salt).expect("keys");
    Control::new(&engine, &rtcp, 1).expect("a stream").protect(&mut packet).expect("protected");
    let expected = "
        81c8000bcafebabec98b8b5df0392a55852b6c21ac8e7025c52c6fbea2b3b446
        ea31123ba88ce61e80000001";
    assert_eq!(packet, hex(expected));
}
