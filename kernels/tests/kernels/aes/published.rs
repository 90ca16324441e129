//! Published values, at every level.

use lanecrypt_kernels::aes::{Aes, AesCtr};
use lanecrypt_kernels::{BlockCipher, BlockEncrypt, StreamCore};

use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::hex;

fn array<const N: usize>(text: &str) -> [u8; N] {
    hex(text).try_into().expect("so many digits")
}

#[test]
fn fips_197_appendix_c() {
    let input = array::<16>("00112233445566778899aabbccddeeff");
    macro_rules! run {
        ($bits:literal, $expected:literal) => {
            for isa in levels() {
                let mut bytes = 0..;
                let key = [0; $bits / 8].map(|_: u8| bytes.next().expect("endless"));
                let mut blocks = [input; 3];
                let aes = Aes::<$bits>::new(isa, &key);
                aes.encrypt(blocks.as_mut_slice().into());
                assert_eq!(blocks, [array($expected); 3], "AES-{} at {}", $bits, isa.level());
                aes.decrypt(blocks.as_mut_slice().into());
                assert_eq!(blocks, [input; 3], "AES-{} at {}", $bits, isa.level());
            }
        };
    }
    run!(128, "69c4e0d86a7b0430d8cdb78070b4c55a");
    run!(192, "dda97ca4864cdfe06eaf70a0ec0d7191");
    run!(256, "8ea2b7ca516745bfeafc49904b496089");
}

/// SP 800-38A, appendix F: the plaintext of all its examples.
const PLAINTEXT: &str = "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
    30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710";

#[test]
fn sp_800_38a_appendix_f() {
    macro_rules! run {
        ($bits:literal, $key:literal, $ecb:literal, $cbc:literal, $ctr:literal) => {
            for isa in levels() {
                let aes = Aes::<$bits>::new(isa, &array($key));
                let text = array::<64>(PLAINTEXT);
                let (blocks, _) = text.as_chunks::<16>();
                let context = format!("AES-{} at {}", $bits, isa.level());

                let mut data = blocks.to_vec();
                aes.encrypt(data.as_mut_slice().into());
                assert_eq!(data.as_flattened(), hex($ecb), "ECB, {context}");
                aes.decrypt(data.as_mut_slice().into());
                assert_eq!(data, blocks, "ECB, {context}");

                let iv = array("000102030405060708090a0b0c0d0e0f");
                let mut chain = iv;
                aes.cbc_encrypt(&mut chain, data.as_mut_slice().into());
                assert_eq!(data.as_flattened(), hex($cbc), "CBC, {context}");
                assert_eq!(chain, data[3], "CBC, {context}");
                let (mut back, last) = (iv, data[3]);
                aes.cbc_decrypt(&mut back, data.as_mut_slice().into());
                assert_eq!(data, blocks, "CBC, {context}");
                assert_eq!(back, last, "CBC, {context}");

                let mut counter = array("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
                let mut core = AesCtr::<$bits>::new(isa, &array($key), &counter);
                let mut data = text;
                core.xor(data.as_mut_slice().into());
                assert_eq!(data[..], hex($ctr), "CTR, {context}");
                let mut data = text;
                aes.ctr(&mut counter, data.as_mut_slice().into());
                assert_eq!(data[..], hex($ctr), "CTR, {context}");
                assert_eq!(counter, array("f0f1f2f3f4f5f6f7f8f9fafbfcfdff03"), "CTR, {context}");
            }
        };
    }
    run!(
        128,
        "2b7e151628aed2a6abf7158809cf4f3c",
        "3ad77bb40d7a3660a89ecaf32466ef97 f5d3d58503b9699de785895a96fdbaaf
         43b1cd7f598ece23881b00e3ed030688 7b0c785e27e8ad3f8223207104725dd4",
        "7649abac8119b246cee98e9b12e9197d 5086cb9b507219ee95db113a917678b2
         73bed6b8e3c1743b7116e69e22229516 3ff1caa1681fac09120eca307586e1a7",
        "874d6191b620e3261bef6864990db6ce 9806f66b7970fdff8617187bb9fffdff
         5ae4df3edbd5d35e5b4f09020db03eab 1e031dda2fbe03d1792170a0f3009cee"
    );
    run!(
        192,
        "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
        "bd334f1d6e45f25ff712a214571fa5cc 974104846d0ad3ad7734ecb3ecee4eef
         ef7afd2270e2e60adce0ba2face6444e 9a4b41ba738d6c72fb16691603c18e0e",
        "4f021db243bc633d7178183a9fa071e8 b4d9ada9ad7dedf4e5e738763f69145a
         571b242012fb7ae07fa9baac3df102e0 08b0e27988598881d920a9e64f5615cd",
        "1abc932417521ca24f2b0459fe7e6e0b 090339ec0aa6faefd5ccc2c6f4ce8e94
         1e36b26bd1ebc670d1bd1d665620abf7 4f78a7f6d29809585a97daec58c6b050"
    );
    run!(
        256,
        "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
        "f3eed1bdb5d2a03c064b5a7e3db181f8 591ccb10d410ed26dc5ba74a31362870
         b6ed21b99ca6f4f9f153e7b1beafed1d 23304b7a39f9f3ff067d8d8f9e24ecc7",
        "f58c4c04d6e5f1ba779eabfb5f7bfbd6 9cfc4e967edb808d679f777bc6702c7d
         39f23369a9d9bacfa530e26304231461 b2eb05e2c39be9fcda6c19078c6a9d1b",
        "601ec313775789a5b7a7f504bbf3d228 f443e3ca4d62b59aca84e990cacaf5c5
         2b0930daa23de94ce87017ba2d84988d dfc9c58db67aada613c2dd08457941a6"
    );
}
