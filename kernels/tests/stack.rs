//! How deep kernels reach into the stack: not below what `wipe::DEPTH` says, and those of old
//! ciphers that take more, not below their own `DEPTH`.
#![cfg(target_arch = "x86_64")]

use lanecrypt_kernels::aegis::{Aegis128L, Aegis256};
use lanecrypt_kernels::aes::{Aes, AesCtr, AesForward};
use lanecrypt_kernels::chacha::{self, ChaCha, Ietf};
use lanecrypt_kernels::chacha20poly1305::{self, ChaCha20Poly1305, XChaCha20Poly1305};
use lanecrypt_kernels::gcm::AesGcm;
use lanecrypt_kernels::gcm_siv::AesGcmSiv;
use lanecrypt_kernels::lanes::Lane;
use lanecrypt_kernels::siv::{self, AesSiv};
use lanecrypt_kernels::xts::AesXts;
use lanecrypt_kernels::{
    Aead, AeadLanes, BlockCipher, BlockEncrypt, Incremental, Isa, StreamCore, wipe,
};
use lanecrypt_kernels_legacy::DEPTH;
use lanecrypt_kernels_legacy::arc4::Arc4;
use lanecrypt_kernels_legacy::des::{Des, TripleDes};
use lanecrypt_kernels_legacy::hc128::Hc128;
use lanecrypt_kernels_legacy::salsa::{self, Salsa};
use lanecrypt_kernels_legacy::serpent::Serpent;
use lanecrypt_testing::depth::depth;
use lanecrypt_testing::levels;

/// What the layers above the kernels may use of the depth, in bytes: most of it for lists of a
/// batch's messages. The engine's tests measure both together.
const ABOVE: usize = 16 << 10;

#[test]
fn no_kernel_reaches_below_the_depth_that_is_wiped() {
    let mut deepest = (0, String::new());
    for isa in levels() {
        let level = isa.level();
        let mut note = |name: &str, depth: usize| {
            assert!(depth + ABOVE <= wipe::DEPTH, "{name} at {level}: {depth} bytes");
            deepest = deepest.clone().max((depth, format!("{name} at {level}")));
        };
        note("aes-128", both_ways::<Aes<128>, 16>(isa, &[1; 16]));
        note("aes-256", both_ways::<Aes<256>, 16>(isa, &[1; 32]));
        note("aes-256 forward", forward::<AesForward<256>, 16>(isa, &[1; 32]));
        note("aes-192-ctr", stream::<AesCtr<192>>(isa, &[1; 24], &[2; 16]));
        note("aegis-128l", aead::<Aegis128L, 16, 16>(isa));
        note("aegis-256", aead::<Aegis256, 32, 32>(isa));
        note("aegis-128l in lanes", lanes_of_aegis(isa));
        note("aes-128-gcm", aead::<AesGcm<128>, 16, 12>(isa));
        note("aes-256-gcm", aead::<AesGcm<256>, 32, 12>(isa));
        note("aes-128-gcm-siv", aead::<AesGcmSiv<128>, 16, 12>(isa));
        note("aes-256-gcm-siv", aead::<AesGcmSiv<256>, 32, 12>(isa));
        note("aes-256-gcm-siv in lanes", lanes_of_gcm_siv(isa));
        note("aes-siv-256", aead::<AesSiv<128>, 32, 16>(isa));
        note("aes-siv-512", aead::<AesSiv<256>, 64, 16>(isa));
        note("aes-siv in lanes", lanes_of_siv(isa));
        note("aes-256-xts", sectors(isa));
        note("serpent", both_ways::<Serpent, 16>(isa, &(&[1; 32]).into()));
        note("chacha20", stream::<ChaCha<20, Ietf>>(isa, &(&[1; 32]).into(), &[2; 12]));
        note("chacha20-poly1305", aead::<ChaCha20Poly1305, 32, 12>(isa));
        note("xchacha20-poly1305", aead::<XChaCha20Poly1305, 32, 24>(isa));
        note("aes-128 in lanes", chains(isa, &[1; 16], &AES, Aes::<128>::cbc_encrypt_lanes));
        note("aes-192 in lanes", chains(isa, &[1; 24], &AES, Aes::<192>::cbc_encrypt_lanes));
        note("aes-256 in lanes", chains(isa, &[1; 32], &AES, Aes::<256>::cbc_encrypt_lanes));
        let lanes = AesForward::<256>::cbc_encrypt_lanes;
        note("aes-256 forward in lanes", chains(isa, &[1; 32], &AES, lanes));
        let key = (&[1; 32]).into();
        note("serpent in lanes", chains(isa, &key, &SERPENT, Serpent::cbc_encrypt_lanes));
        note("chacha20 in lanes", lanes_of_chacha(isa));
        note("header masks of chacha20", header_masks_of_chacha(isa));
        note("salsa20 in lanes", lanes_of_salsa(isa));
        note("chacha20-poly1305 in lanes", lanes_of_chacha20poly1305(isa));
        #[cfg(feature = "montgomery")]
        note("powers", powers(isa));
        note("salsa20", stream::<Salsa<20>>(isa, &(&[1; 32]).into(), &[2; 8]));
        let mut note = |name: &str, depth: usize| {
            assert!(depth + ABOVE <= DEPTH, "{name} at {level}: {depth} bytes");
            deepest = deepest.clone().max((depth, format!("{name} at {level}")));
        };
        note("des", both_ways::<Des, 8>(isa, &[1; 8]));
        note("3des", both_ways::<TripleDes, 8>(isa, &(&[1; 24]).into()));
        note("des in lanes", chains(isa, &[1; 8], &DES, Des::cbc_encrypt_lanes));
        let key = (&[1; 24]).into();
        note("3des in lanes", chains(isa, &key, &DES, TripleDes::cbc_encrypt_lanes));
        note("arc4", stream::<Arc4>(isa, &(&[1; 32]).into(), &()));
        note("hc128", stream::<Hc128>(isa, &[1; 16], &[2; 16]));
    }
    println!("deepest: {} of {DEPTH} bytes, {}", deepest.0, deepest.1);
    // A test that sees nothing would pass too.
    assert!(deepest.0 > 100, "{deepest:?}");
}

/// Moduli of each number of registers, alone, by twos and in lanes.
#[cfg(feature = "montgomery")]
fn powers(isa: Isa) -> usize {
    use lanecrypt_kernels::montgomery::{Modulus, Power, Workspace, powers};
    let (base, exponent, mut outs) = ([3; 128], [5; 1], [[0; 128]; 8]);
    let mut workspace = Workspace::new();
    depth(&mut || {
        for limbs in [4, 8, 16, 24, 32, 48, 64, 128] {
            let modulus = Modulus::new(isa, &[u64::MAX; 128][..limbs]).expect("odd and long");
            for count in [1, 2, 8] {
                let mut jobs: Vec<_> = outs[..count]
                    .iter_mut()
                    .map(|out| Power {
                        modulus: &modulus,
                        base: &base[..limbs],
                        exponent: &exponent,
                        factor: Some(&base[..limbs]),
                        out: &mut out[..limbs],
                    })
                    .collect();
                powers(&mut jobs, &mut workspace);
            }
        }
    })
}

/// Lengths that reach each width and what is left of it.
const BLOCKS: [usize; 9] = [1, 2, 3, 7, 15, 31, 63, 127, 700];

fn forward<C: BlockEncrypt<N>, const N: usize>(isa: Isa, key: &C::Key) -> usize {
    let mut data = [[3; N]; 700];
    depth(&mut || {
        let cipher = C::new(isa, key);
        let mut chain = [4; N];
        for len in BLOCKS {
            let blocks = &mut data[..len];
            cipher.encrypt((&mut *blocks).into());
            cipher.cbc_encrypt(&mut chain, (&mut *blocks).into());
            let bytes = blocks.as_flattened_mut();
            let len = bytes.len() - 1;
            cipher.ctr(&mut chain, (&mut bytes[..len]).into());
            cipher.ctr_keystream(&mut chain, &mut bytes[..len]);
        }
    })
}

fn both_ways<C: BlockCipher<N>, const N: usize>(isa: Isa, key: &C::Key) -> usize {
    let mut data = [[3; N]; 700];
    let backward = depth(&mut || {
        let cipher = C::new(isa, key);
        let mut chain = [4; N];
        for len in BLOCKS {
            cipher.decrypt((&mut data[..len]).into());
            cipher.cbc_decrypt(&mut chain, (&mut data[..len]).into());
        }
    });
    backward.max(forward::<C, N>(isa, key))
}

fn stream<C: StreamCore>(isa: Isa, key: &C::Key, nonce: &C::Nonce) -> usize {
    let mut data = vec![3; 700 * 16 + 5];
    // A stream that a caller keeps lies in the caller's frame.
    let mut core = None;
    let work = depth(&mut || {
        let core = core.get_or_insert_with(|| C::new(isa, key, nonce));
        for len in BLOCKS.map(|blocks| 16 * blocks + 5) {
            core.keystream(&mut data[..len]);
            core.xor((&mut data[..len]).into());
        }
    });
    drop(core);
    work
}

fn aead<C, const KEY: usize, const NONCE: usize>(isa: Isa) -> usize
where
    C: Aead<Key = [u8; KEY], Nonce = [u8; NONCE]>,
{
    let mut data = vec![3; 700 * 16 + 5];
    depth(&mut || {
        let (cipher, nonce) = (C::new(isa, &[1; KEY]), [2; NONCE]);
        for len in BLOCKS.map(|blocks| 16 * blocks + 5) {
            let (aad, data) = ([4; 500], &mut data[..len]);
            let sealed = cipher.seal(&nonce, &aad, (&mut *data).into());
            assert_eq!(cipher.open(&nonce, &aad, (&mut *data).into(), &sealed), sealed);
            if let Some(mut message) = cipher.begin(&nonce) {
                message.associate(&cipher, &aad);
                message.encrypt(&cipher, data.into());
                assert_eq!(message.tag(&cipher), sealed);
            }
        }
    })
}

fn lanes_of_siv(isa: Isa) -> usize {
    let cipher = AesSiv::<256>::new(isa, &[1; 64]);
    let (mut data, mut tags) = (vec![[3; 1500]; 70], [[0; 16]; 70]);
    let mut deepest = 0;
    for len in LENGTHS {
        // Made here, for lanes lie in the caller's frame.
        let places = data.iter_mut().zip(&mut tags);
        let more = [Some(&[4; 30][..]), Some(&[5; 16][..])];
        let mut lanes: Vec<_> = places
            .map(|(data, v)| siv::Lane::new(cipher.strings(), more, (&mut data[..len]).into(), v))
            .collect();
        deepest = deepest.max(depth(&mut || {
            cipher.seal_lanes(&mut lanes);
            cipher.open_lanes(&mut lanes);
        }));
    }
    deepest
}

fn lanes_of_gcm_siv(isa: Isa) -> usize {
    let cipher = AesGcmSiv::<256>::new(isa, &[1; 32]);
    let mut data = vec![[3; 1500]; 17];
    let mut tags = [[0; 16]; 17];
    let mut deepest = 0;
    for len in [0, 32, 300, 1500] {
        for count in [1, 3, 7, 16, 17] {
            for run in [AesGcmSiv::<256>::seal_lanes, AesGcmSiv::<256>::open_lanes] {
                let places = data.iter_mut().zip(&mut tags).take(count);
                let mut lanes: Vec<_> = places
                    .map(|(data, tag)| {
                        let data = (&mut data[..len]).into();
                        cipher.lane(&[2; 12], &[4; 30], data, tag)
                    })
                    .collect();
                deepest = deepest.max(depth(&mut || run(&mut lanes)));
            }
        }
    }
    deepest
}

fn lanes_of_aegis(isa: Isa) -> usize {
    let cipher = Aegis128L::new(isa, &[1; 16]);
    let (mut data, mut tags) = (vec![[3; 1500]; 70], [[0; 16]; 70]);
    let mut deepest = 0;
    for run in [Aegis128L::seal_lanes, Aegis128L::open_lanes] {
        let places = data.iter_mut().zip(&mut tags).enumerate();
        let mut lanes: Vec<_> = places
            .map(|(at, (data, tag))| {
                let data = (&mut data[..1500 - at * 37 % 1500]).into();
                cipher.lane(&[2; 16], &[4; 30], data, tag)
            })
            .collect();
        deepest = deepest.max(depth(&mut || run(&mut lanes)));
    }
    deepest
}

/// Numbers of messages side by side: at least one for each form of the kernels.
const AES: [usize; 6] = [1, 3, 5, 8, 16, 40];
const SERPENT: [usize; 6] = [1, 2, 5, 9, 17, 40];
const DES: [usize; 4] = [1, 4, 64, 300];

/// Chains side by side. In each of so many of them messages of 21 blocks, and one that is longer,
/// so that forms for fewer follow; and of so few blocks that none is worth a lane.
fn chains<C: BlockEncrypt<N>, const N: usize>(
    isa: Isa,
    key: &C::Key,
    counts: &[usize],
    run: fn(&mut [Lane<'_, C, N>]),
) -> usize {
    let mut data = vec![[[3; N]; 40]; *counts.iter().max().expect("there are counts")];
    depth(&mut || {
        let cipher = C::new(isa, key);
        for &count in counts {
            for blocks in [2, 21] {
                let mut lanes = Vec::with_capacity(count);
                for (at, data) in data[..count].iter_mut().enumerate() {
                    let blocks = if at == count / 2 { 40 } else { blocks };
                    let blocks = (&mut data[..blocks]).into();
                    lanes.push(Lane { key: &cipher, iv: &[4; N], blocks });
                }
                run(&mut lanes);
            }
        }
    })
}

/// Lengths of messages side by side.
const LENGTHS: [usize; 6] = [16, 64, 150, 350, 560, 1500];

fn lanes_of_chacha(isa: Isa) -> usize {
    let key = (&[1; 32]).into();
    let mut data = [[3; 1500]; 17];
    depth(&mut || {
        for len in LENGTHS {
            let mut lanes = data.each_mut().map(|data| {
                chacha::Lane::new::<Ietf>(&key, &[2; 12], 1, (&mut data[..len]).into())
            });
            chacha::xor_lanes::<20>(isa, &mut lanes);
        }
    })
}

fn header_masks_of_chacha(isa: Isa) -> usize {
    let key = (&[1; 32]).into();
    let mut masks = [[0; 8]; 16];
    depth(&mut || {
        for count in [1, 2, 8, 16] {
            chacha::header_masks(isa, &[(&key, &[2; 16]); 16][..count], &mut masks);
        }
    })
}

fn lanes_of_salsa(isa: Isa) -> usize {
    let key = (&[1; 32]).into();
    let mut data = [[3; 1500]; 17];
    depth(&mut || {
        for len in LENGTHS {
            let mut lanes = data
                .each_mut()
                .map(|data| salsa::Lane::new(&key, &[2; 8], 1, (&mut data[..len]).into()));
            salsa::xor_lanes::<20>(isa, &mut lanes);
        }
    })
}

fn lanes_of_chacha20poly1305(isa: Isa) -> usize {
    let cipher = ChaCha20Poly1305::new(isa, &[1; 32]);
    let extended = XChaCha20Poly1305::new(isa, &[1; 32]);
    let mut data = vec![[3; 9000]; 17];
    let mut tags = [[0; 16]; 17];
    let mut deepest = 0;
    // Those of up to 2048 bytes go side by side at the highest level.
    for len in LENGTHS.into_iter().chain([512, 1500, 2048, 9000]) {
        for run in [chacha20poly1305::seal_lanes, chacha20poly1305::open_lanes] {
            for is_extended in [false, true] {
                // Made here, for lanes lie in the caller's frame.
                let places = data.iter_mut().zip(&mut tags);
                let mut lanes: Vec<_> = places
                    .map(|(data, tag)| {
                        let data = (&mut data[..len]).into();
                        if is_extended {
                            let nonce = &[2; 24];
                            extended.lane(nonce, &[4; 30], data, tag)
                        } else {
                            cipher.lane(&[2; 12], &[4; 30], data, tag)
                        }
                    })
                    .collect();
                deepest = deepest.max(depth(&mut || run(&mut lanes)));
            }
        }
    }
    deepest
}

fn sectors(isa: Isa) -> usize {
    let mut data = vec![3; 700 * 16 + 5];
    depth(&mut || {
        let xts = AesXts::<256>::new(isa, &[1; 64]);
        for len in BLOCKS.map(|blocks| 16 * blocks + 5) {
            let data = &mut data[..len];
            xts.encrypt(&[2; 16], (&mut *data).into());
            xts.decrypt(&[2; 16], (&mut *data).into());
            xts.encrypt_sectors(4, len, (&mut *data).into());
            xts.decrypt_sectors(4, len, data.into());
        }
    })
}
