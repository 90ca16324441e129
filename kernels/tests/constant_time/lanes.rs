//! Messages side by side, each with a key of its own, in batches that reach every form of the
//! kernels, and lanes that end, are refilled and close up. Lengths are public.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use inout::InOutBuf;
use lanecrypt_kernels::aegis::{Aegis128L, Aegis256};
use lanecrypt_kernels::aes::Aes;
use lanecrypt_kernels::chacha::{self, Counter64, Ietf};
use lanecrypt_kernels::chacha20poly1305::{
    ChaCha20Poly1305, XChaCha20Poly1305, open_lanes, seal_lanes,
};
use lanecrypt_kernels::gcm_siv::AesGcmSiv;
use lanecrypt_kernels::lanes::Lane;
use lanecrypt_kernels::siv::{self, AesSiv};
use lanecrypt_kernels::{Aead, AeadLanes, BlockEncrypt, Isa};
use lanecrypt_kernels_legacy::des::{Des, TripleDes, TripleDesKey};
use lanecrypt_kernels_legacy::salsa;
use lanecrypt_kernels_legacy::serpent::{self, Serpent};

use crate::secrets::{Secrets, unseen};

macro_rules! key_size {
    ($name:ident, $bits:literal) => {
        /// Up to four registers of up to four lanes; a run that lanes without message end; and
        /// messages of which some go by themselves.
        pub(crate) fn $name(isa: Isa, secrets: &mut Secrets) {
            let key = |secrets: &mut Secrets| Aes::<$bits>::new(isa, &secrets.bytes());
            for (count, blocks) in [(2, 22), (3, 23), (4, 9), (8, 10), (9, 8), (12, 8), (16, 8)] {
                chains(&vec![blocks; count], secrets, key, Aes::<$bits>::cbc_encrypt_lanes);
            }
            let some: Vec<_> = (0..20).map(|at| 7 * at % 12).collect();
            for lens in [&[130; 5][..], &some] {
                chains(lens, secrets, key, Aes::<$bits>::cbc_encrypt_lanes);
            }
        }
    };
}

key_size!(aes128, 128);
key_size!(aes192, 192);
key_size!(aes256, 256);

/// One to two groups of each width; the keys of few lanes and of many are changed.
pub(crate) fn serpent(isa: Isa, secrets: &mut Secrets) {
    let key =
        |secrets: &mut Secrets| Serpent::new(isa, &serpent::Key::from(&secrets.bytes::<32>()));
    let some: Vec<_> = (0..40).map(|at| 7 * at % 11).collect();
    for lens in [&[1; 2][..], &[5; 2], &[2; 4], &[2; 8], &[3; 16], &[2; 32], &some] {
        chains(lens, secrets, key, Serpent::cbc_encrypt_lanes);
    }
}

pub(crate) fn des(isa: Isa, secrets: &mut Secrets) {
    let key = |secrets: &mut Secrets| Des::new(isa, &secrets.bytes());
    for lens in together(isa) {
        chains(&lens, secrets, key, Des::cbc_encrypt_lanes);
    }
}

pub(crate) fn triple_des(isa: Isa, secrets: &mut Secrets) {
    let key =
        |secrets: &mut Secrets| TripleDes::new(isa, &TripleDesKey::from(&secrets.bytes::<24>()));
    for lens in &together(isa)[1..] {
        chains(lens, secrets, key, TripleDes::cbc_encrypt_lanes);
    }
}

/// Batches of DES of which nothing is left that goes by tables and is not constant time: always
/// enough messages are on their way, and the last ones end together.
fn together(isa: Isa) -> Vec<Vec<usize>> {
    use lanecrypt_kernels::Level;

    if isa.has_512_bit_registers() {
        // Three lanes get other keys; then 64 do.
        let changed = [&[12; 61][..], &[5; 3], &[7; 3]].concat();
        vec![vec![17; 5], vec![10; 133], changed]
    } else if isa.has(Level::Avx2) {
        vec![vec![3; 28], vec![5; 64], vec![2; 296]]
    } else {
        vec![vec![3; 28], vec![5; 64 + 28]]
    }
}

/// A batch of messages of so many blocks, in place and apart.
fn chains<C: BlockEncrypt<N>, const N: usize>(
    lens: &[usize],
    secrets: &mut Secrets,
    key: impl Fn(&mut Secrets) -> C,
    run: impl Fn(&mut [Lane<'_, C, N>]),
) {
    let keys: Vec<_> = lens.iter().map(|_| key(secrets)).collect();
    let ivs: Vec<[u8; N]> = lens.iter().map(|_| secrets.bytes()).collect();
    let zeros = || -> Vec<_> { lens.iter().map(|&len| vec![[0; N]; len]).collect() };
    let (mut data, mut out) = unseen(|| (zeros(), zeros()));
    data.iter_mut().for_each(|data| secrets.fill(data.as_flattened_mut()));
    let mut lanes = Vec::with_capacity(lens.len());
    for ((key, iv), data) in keys.iter().zip(&ivs).zip(&mut data) {
        lanes.push(Lane { key, iv, blocks: (&mut data[..]).into() });
    }
    run(&mut lanes);
    let mut lanes = Vec::with_capacity(lens.len());
    for ((key, iv), (data, out)) in keys.iter().zip(&ivs).zip(data.iter().zip(&mut out)) {
        lanes.push(Lane { key, iv, blocks: InOutBuf::new(data, out).expect("as long") });
    }
    run(&mut lanes);
    out.iter_mut().for_each(|out| secrets.reveal(out.as_flattened_mut()));
}

pub(crate) fn chacha20(isa: Isa, secrets: &mut Secrets) {
    streams(secrets, |keys, messages, secrets| {
        let mut lanes = Vec::with_capacity(keys.len());
        for (at, (key, data)) in keys.iter().zip(messages).enumerate() {
            lanes.push(if at % 3 == 0 {
                chacha::Lane::new::<Counter64>(key, &secrets.bytes(), CROSSING, data)
            } else {
                chacha::Lane::new::<Ietf>(key, &secrets.bytes(), 1, data)
            });
        }
        chacha::xor_lanes::<20>(isa, &mut lanes);
    });
}

/// The last rows are hidden, too.
pub(crate) fn chacha20_fronts(isa: Isa, secrets: &mut Secrets) {
    let keys: [chacha::Key; 16] = core::array::from_fn(|_| (&secrets.bytes::<32>()).into());
    let lasts: [[u8; 16]; 16] = core::array::from_fn(|_| secrets.bytes());
    let blocks: [_; 16] = core::array::from_fn(|at| (&keys[at], &lasts[at]));
    for count in [5, 16] {
        let mut masks = [[0; 8]; 16];
        chacha::header_masks(isa, &blocks[..count], &mut masks);
        secrets.reveal(masks[..count].as_flattened_mut());
    }
}

pub(crate) fn salsa20(isa: Isa, secrets: &mut Secrets) {
    streams(secrets, |keys, messages, secrets| {
        let mut lanes = Vec::with_capacity(keys.len());
        for (at, (key, data)) in keys.iter().zip(messages).enumerate() {
            let block = if at % 3 == 0 { CROSSING } else { 1 };
            lanes.push(salsa::Lane::new(key, &secrets.bytes(), block, data));
        }
        salsa::xor_lanes::<20>(isa, &mut lanes);
    });
}

/// A counter, which is public, whose lower word runs over.
const CROSSING: u64 = u32::MAX as u64 - 1;

/// Few messages and many of one block; messages of several, of which some go by themselves.
fn streams(
    secrets: &mut Secrets,
    run: impl Fn(&[chacha::Key], Vec<InOutBuf<'_, '_, u8>>, &mut Secrets),
) {
    let some: Vec<_> = (0..21).map(|at| 137 * at % 650).collect();
    for lens in [&[30, 64, 5, 17][..], &[64; 16], &[15; 17], &some] {
        let keys: Vec<_> = lens.iter().map(|_| chacha::Key::from(&secrets.bytes::<32>())).collect();
        let mut data = unseen(|| -> Vec<_> { lens.iter().map(|&len| vec![0; len]).collect() });
        data.iter_mut().for_each(|data| secrets.fill(data));
        run(&keys, data.iter_mut().map(|data| (&mut data[..]).into()).collect(), secrets);
        data.iter_mut().for_each(|data| secrets.reveal(data));
    }
}

/// Messages without data, of one block and of several, with associated data and without, some of
/// which go by themselves, and some with nonces of 192 bits; messages that fill whole passes; both
/// ways.
pub(crate) fn chacha20poly1305(isa: Isa, secrets: &mut Secrets) {
    let some: Vec<_> = (0..21).map(|at| 137 * at % 400).collect();
    for (lens, most_aad) in [
        (&[30, 64, 0, 17][..], 79),
        (&[64; 16], 79),
        (&[200; 8], 79),
        (&some, 79),
        (&[512; 16], 64),
        (&[1500; 16], 64),
    ] {
        // Keys that are extended are made in the same way for long messages.
        let ways = [(true, 0), (false, 0), (true, 4), (false, 4)];
        for &(seal, extended) in if lens[0] < 500 { &ways[..] } else { &ways[..2] } {
            let keys: Vec<[u8; 32]> = lens.iter().map(|_| secrets.bytes()).collect();
            let ciphers: Vec<_> = keys.iter().map(|key| ChaCha20Poly1305::new(isa, key)).collect();
            let others: Vec<_> = keys.iter().map(|key| XChaCha20Poly1305::new(isa, key)).collect();
            let mut tags = vec![[0; 16]; lens.len()];
            let mut data = unseen(|| -> Vec<_> { lens.iter().map(|&len| vec![0; len]).collect() });
            let mut aads: Vec<_> =
                (0..lens.len()).map(|at| vec![0; 13 * at % (most_aad + 1)]).collect();
            aads.iter_mut().chain(&mut data).for_each(|bytes| secrets.fill(bytes));
            let mut lanes = Vec::with_capacity(lens.len());
            for (at, ((aad, data), tag)) in aads.iter().zip(&mut data).zip(&mut tags).enumerate() {
                let data = (&mut data[..]).into();
                lanes.push(if at % 5 < extended {
                    let nonce = secrets.bytes();
                    others[at].lane(&nonce, aad, data, tag)
                } else {
                    ciphers[at].lane(&secrets.bytes(), aad, data, tag)
                });
            }
            if seal {
                seal_lanes(&mut lanes);
            } else {
                open_lanes(&mut lanes);
            }
            drop(lanes);
            data.iter_mut().for_each(|data| secrets.reveal(data));
            secrets.reveal(tags.as_flattened_mut());
        }
    }
}

/// Batches of each number of registers, with messages that end early, and one that goes by itself;
/// both ways.
macro_rules! gcm_siv {
    ($name:ident, $bits:literal) => {
        pub(crate) fn $name(isa: Isa, secrets: &mut Secrets) {
            let some: Vec<_> = (0..21).map(|at| 37 * at % 100).collect();
            for lens in [&[32; 3][..], &[17, 64, 0, 5, 33], &[32; 16], &[1100, 20, 20], &some] {
                for (seal, has_aad) in [(true, true), (false, true), (true, false), (false, false)]
                {
                    let ciphers: Vec<_> = lens
                        .iter()
                        .map(|_| AesGcmSiv::<$bits>::new(isa, &secrets.bytes()))
                        .collect();
                    let mut tags = vec![[9; 16]; lens.len()];
                    let mut data =
                        unseen(|| -> Vec<_> { lens.iter().map(|&len| vec![0; len]).collect() });
                    let mut aads: Vec<_> = (0..lens.len())
                        .map(|at| vec![0; if has_aad { 13 * at % 40 } else { 0 }])
                        .collect();
                    aads.iter_mut().chain(&mut data).for_each(|bytes| secrets.fill(bytes));
                    let mut lanes = Vec::with_capacity(lens.len());
                    for (cipher, ((aad, data), tag)) in
                        ciphers.iter().zip(aads.iter().zip(&mut data).zip(&mut tags))
                    {
                        let data = (&mut data[..]).into();
                        lanes.push(cipher.lane(&[7; 12], aad, data, tag));
                    }
                    if seal {
                        AesGcmSiv::<$bits>::seal_lanes(&mut lanes);
                    } else {
                        AesGcmSiv::<$bits>::open_lanes(&mut lanes);
                    }
                    drop(lanes);
                    data.iter_mut().for_each(|data| secrets.reveal(data));
                    secrets.reveal(tags.as_flattened_mut());
                }
            }
        }
    };
}

gcm_siv!(gcm_siv128, 128);
gcm_siv!(gcm_siv256, 256);

/// Batches of each number of messages of a register, alike and of different lengths, both ways.
macro_rules! aegis {
    ($name:ident, $cipher:ty) => {
        pub(crate) fn $name(isa: Isa, secrets: &mut Secrets) {
            let some: Vec<_> = (0..21).map(|at| 37 * at % 100).collect();
            for lens in [&[32; 3][..], &[17, 64, 0, 5, 33], &[40; 16], &[1100, 20], &some] {
                for (seal, has_aad) in [(true, true), (false, true), (true, false), (false, false)]
                {
                    let ciphers: Vec<_> =
                        lens.iter().map(|_| <$cipher>::new(isa, &secrets.bytes())).collect();
                    let mut tags = vec![[0; 16]; lens.len()];
                    let mut data =
                        unseen(|| -> Vec<_> { lens.iter().map(|&len| vec![0; len]).collect() });
                    let mut aads: Vec<_> = (0..lens.len())
                        .map(|at| vec![0; if has_aad { 13 * at % 40 } else { 0 }])
                        .collect();
                    aads.iter_mut().chain(&mut data).for_each(|bytes| secrets.fill(bytes));
                    let mut lanes = Vec::with_capacity(lens.len());
                    for (cipher, ((aad, data), tag)) in
                        ciphers.iter().zip(aads.iter().zip(&mut data).zip(&mut tags))
                    {
                        let data = (&mut data[..]).into();
                        lanes.push(cipher.lane(&secrets.bytes(), aad, data, tag));
                    }
                    if seal {
                        <$cipher>::seal_lanes(&mut lanes);
                    } else {
                        <$cipher>::open_lanes(&mut lanes);
                    }
                    drop(lanes);
                    data.iter_mut().for_each(|data| secrets.reveal(data));
                    secrets.reveal(tags.as_flattened_mut());
                }
            }
        }
    };
}

aegis!(aegis128l, Aegis128L);
aegis!(aegis256, Aegis256);

/// Messages under one key: few, of one block and of several, with strings and without, both ways.
pub(crate) fn siv(isa: Isa, secrets: &mut Secrets) {
    let some: Vec<_> = (0..40).map(|at| 137 * at % 250).collect();
    let mixed = [0, 1, 15, 16, 17, 63, 64];
    for lens in [&[30, 64, 5][..], &[32; 33], &[16; 7], &[48; 7], &mixed, &[200; 8], &some] {
        for (seal, has_strings) in [(true, false), (false, false), (true, true), (false, true)] {
            let siv = AesSiv::<128>::new(isa, &secrets.bytes());
            let mut tags = vec![[0; 16]; lens.len()];
            secrets.fill(tags.as_flattened_mut());
            let mut data = unseen(|| -> Vec<_> { lens.iter().map(|&len| vec![0; len]).collect() });
            let mut strings =
                unseen(|| -> Vec<_> { lens.iter().map(|&n| vec![0; n / 3]).collect() });
            strings.iter_mut().chain(&mut data).for_each(|bytes| secrets.fill(bytes));
            let mut lanes = Vec::with_capacity(lens.len());
            for ((string, data), v) in strings.iter().zip(&mut data).zip(&mut tags) {
                let more = [has_strings.then_some(&string[..]), None];
                lanes.push(siv::Lane::new(siv.strings(), more, (&mut data[..]).into(), v));
            }
            if seal {
                siv.seal_lanes(&mut lanes);
            } else {
                siv.open_lanes(&mut lanes);
            }
            drop(lanes);
            data.iter_mut().for_each(|data| secrets.reveal(data));
            secrets.reveal(tags.as_flattened_mut());
        }
    }
}
