//! Every entry point that takes a secret, at every length at which kernels change their ways.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use core::hint::black_box;

use inout::InOutBuf;
use lanecrypt_kernels::aegis::{self, Aegis128L, Aegis256};
use lanecrypt_kernels::aes::{self, Aes, AesCtr};
use lanecrypt_kernels::chacha::{self, ChaCha, Counter64, Form, Ietf, Key};
use lanecrypt_kernels::chacha20poly1305::{self, ChaCha20Poly1305, XChaCha20Poly1305};
use lanecrypt_kernels::gcm::{self, AesGcm};
use lanecrypt_kernels::gcm_siv::{self, AesGcmSiv};
use lanecrypt_kernels::ghash;
use lanecrypt_kernels::poly1305::{self, Poly1305};
use lanecrypt_kernels::siv::{self, AesSiv};
use lanecrypt_kernels::xts::{self, AesXts};
use lanecrypt_kernels::{
    Aead, BlockCipher, BlockEncrypt, Ctr, Incremental, Isa, Level, Resume, Seek, StreamCore,
};
use lanecrypt_kernels_legacy::des::{self, Des, TripleDes, TripleDesKey};
use lanecrypt_kernels_legacy::salsa::{self, Salsa};
use lanecrypt_kernels_legacy::serpent::{self, Serpent};

use crate::ciphers;
use crate::lanes;
use crate::montgomery;
use crate::secrets::{Secrets, unseen};
use crate::{public_key, sha2};

/// One algorithm.
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    /// The levels that have code of their own for it.
    pub(crate) levels: &'static [Level],
    /// Runs all of it.
    pub(crate) run: fn(Isa, &mut Secrets),
}

/// The levels at which openings are checked whose verdict is one branch on the difference of two
/// tags. Memcheck counts verdicts. The trace of x86-64, which checks higher levels, compares flags
/// and cannot tell verdicts from leaks; their kernels are checked there by themselves. That of
/// AArch64 compares addresses, which are those of equal verdicts.
const WITH_VERDICT: &[Level] = &[
    Level::Portable,
    Level::Ssse3,
    Level::AesNi,
    Level::Avx2,
    Level::Neon,
    Level::ArmAes,
    Level::ArmSha3,
];

#[rustfmt::skip]
pub(crate) const ALL: &[Kernel] = &[
    Kernel { name: "chacha8-djb", levels: chacha::KERNELS, run: chacha::<8, Counter64> },
    Kernel { name: "chacha12-djb", levels: chacha::KERNELS, run: chacha::<12, Counter64> },
    Kernel { name: "chacha20-djb", levels: chacha::KERNELS, run: chacha::<20, Counter64> },
    Kernel { name: "chacha8-ietf", levels: chacha::KERNELS, run: chacha::<8, Ietf> },
    Kernel { name: "chacha12-ietf", levels: chacha::KERNELS, run: chacha::<12, Ietf> },
    Kernel { name: "chacha20-ietf", levels: chacha::KERNELS, run: chacha::<20, Ietf> },
    Kernel { name: "chacha20-front", levels: chacha::KERNELS, run: chacha_front },
    Kernel { name: "salsa20/8", levels: salsa::KERNELS, run: salsa::<8> },
    Kernel { name: "salsa20/12", levels: salsa::KERNELS, run: salsa::<12> },
    Kernel { name: "salsa20/20", levels: salsa::KERNELS, run: salsa::<20> },
    Kernel { name: "aes-128", levels: aes::KERNELS, run: aes128 },
    Kernel { name: "aes-192", levels: aes::KERNELS, run: aes192 },
    Kernel { name: "aes-256", levels: aes::KERNELS, run: aes256 },
    Kernel { name: "aegis-128l", levels: aegis::KERNELS, run: aegis::<Aegis128L, 16> },
    Kernel { name: "aegis-256", levels: aegis::KERNELS, run: aegis::<Aegis256, 32> },
    Kernel { name: "aegis-128l-lanes", levels: aes::KERNELS, run: lanes::aegis128l },
    Kernel { name: "aegis-256-lanes", levels: aes::KERNELS, run: lanes::aegis256 },
    Kernel { name: "ghash", levels: ghash::KERNELS, run: ghash },
    Kernel { name: "aes-128-gcm", levels: gcm::KERNELS, run: gcm128 },
    Kernel { name: "aes-192-gcm", levels: gcm::KERNELS, run: gcm192 },
    Kernel { name: "aes-256-gcm", levels: gcm::KERNELS, run: gcm256 },
    Kernel { name: "aes-128-gcm-siv", levels: gcm_siv::KERNELS, run: gcm_siv128 },
    Kernel { name: "aes-256-gcm-siv", levels: gcm_siv::KERNELS, run: gcm_siv256 },
    Kernel { name: "aes-128-gcm-siv-lanes", levels: aes::KERNELS, run: lanes::gcm_siv128 },
    Kernel { name: "aes-256-gcm-siv-lanes", levels: aes::KERNELS, run: lanes::gcm_siv256 },
    Kernel { name: "poly1305", levels: poly1305::KERNELS, run: poly1305 },
    Kernel { name: "chacha20-poly1305", levels: chacha20poly1305::KERNELS, run: chacha20poly1305 },
    Kernel { name: "xchacha20-poly1305", levels: chacha20poly1305::KERNELS, run: xchacha20poly1305 },
    Kernel { name: "aes-siv-256", levels: siv::KERNELS, run: siv128 },
    Kernel { name: "aes-siv-384", levels: siv::KERNELS, run: siv192 },
    Kernel { name: "aes-siv-512", levels: siv::KERNELS, run: siv256 },
    Kernel { name: "aes-siv-lanes", levels: aes::KERNELS, run: lanes::siv },
    Kernel { name: "aes-128-xts", levels: xts::KERNELS, run: xts128 },
    Kernel { name: "aes-256-xts", levels: xts::KERNELS, run: xts256 },
    Kernel { name: "serpent", levels: serpent::KERNELS, run: serpent },
    Kernel { name: "aes-128-lanes", levels: aes::KERNELS, run: lanes::aes128 },
    Kernel { name: "aes-192-lanes", levels: aes::KERNELS, run: lanes::aes192 },
    Kernel { name: "aes-256-lanes", levels: aes::KERNELS, run: lanes::aes256 },
    Kernel { name: "serpent-lanes", levels: serpent::KERNELS, run: lanes::serpent },
    Kernel { name: "chacha20-fronts", levels: chacha::KERNELS, run: lanes::chacha20_fronts },
    Kernel { name: "chacha20-lanes", levels: chacha::KERNELS, run: lanes::chacha20 },
    Kernel { name: "salsa20-lanes", levels: salsa::KERNELS, run: lanes::salsa20 },
    Kernel {
        name: "chacha20-poly1305-lanes",
        levels: chacha20poly1305::KERNELS,
        run: lanes::chacha20poly1305,
    },
    Kernel { name: "tls-cbc-sha1", levels: aes::KERNELS, run: ciphers::tls_sha1 },
    Kernel { name: "tls-cbc-sha256", levels: aes::KERNELS, run: ciphers::tls_sha256 },
    Kernel { name: "tls-cbc-sha384", levels: aes::KERNELS, run: ciphers::tls_sha384 },
    Kernel { name: "cbc+hmac-sha256", levels: aes::KERNELS, run: ciphers::cbc_sha256 },
    Kernel { name: "cbc+hmac-lanes", levels: aes::KERNELS, run: ciphers::cbc_lanes },
    Kernel { name: "cbc+hmac-sha384", levels: aes::KERNELS, run: ciphers::cbc_sha384 },
    Kernel { name: "ctr+hmac-sha1", levels: aes::KERNELS, run: ciphers::ctr_sha1 },
    Kernel { name: "gcm-siv-opening", levels: WITH_VERDICT, run: ciphers::gcm_siv },
    Kernel { name: "gcm-siv-lanes-opening", levels: WITH_VERDICT, run: ciphers::gcm_siv_lanes },
    Kernel { name: "siv-opening", levels: WITH_VERDICT, run: ciphers::siv },
    Kernel { name: "siv-many", levels: WITH_VERDICT, run: ciphers::siv_many },
    Kernel { name: "powers", levels: montgomery::LEVELS, run: montgomery::single },
    Kernel { name: "powers-lanes", levels: montgomery::LEVELS, run: montgomery::lanes },
    Kernel { name: "modular", levels: montgomery::LEVELS, run: montgomery::around },
    Kernel { name: "sha2", levels: sha2::LEVELS, run: sha2::hashes },
    Kernel { name: "hmac-sha256", levels: sha2::LEVELS, run: sha2::keyed },
    Kernel { name: "x25519", levels: public_key::LEVELS, run: public_key::x25519 },
    Kernel { name: "ed25519", levels: public_key::LEVELS, run: public_key::ed25519 },
    Kernel { name: "p256", levels: public_key::LEVELS, run: public_key::p256 },
    Kernel { name: "mlkem-encapsulate", levels: public_key::LEVELS, run: public_key::encapsulate },
    Kernel { name: "mlkem-decapsulate", levels: public_key::LEVELS, run: public_key::decapsulate },
    Kernel { name: "des-sliced", levels: des::KERNELS, run: des },
    Kernel { name: "3des-sliced", levels: des::KERNELS, run: triple_des },
    Kernel { name: "des-lanes", levels: des::KERNELS, run: lanes::des },
    Kernel { name: "3des-lanes", levels: des::KERNELS, run: lanes::triple_des },
];

/// Ends of blocks, of registers and of the widths of all kernels, and next to them.
const LENGTHS: [usize; 17] =
    [0, 1, 16, 17, 63, 64, 65, 129, 192, 257, 320, 384, 448, 513, 1024, 1111, 1600];

/// Requests that reach past the end of the counter's lower part, in each form of a kernel.
const CROSSING: [usize; 3] = [449, 640, 1111];

/// Nonces of both forms; they are hidden too, for ChaCha takes them as it takes the key.
trait Nonce: Form {
    fn hidden(secrets: &mut Secrets) -> Self::Nonce;
}

impl Nonce for Counter64 {
    fn hidden(secrets: &mut Secrets) -> [u8; 8] {
        secrets.bytes()
    }
}

impl Nonce for Ietf {
    fn hidden(secrets: &mut Secrets) -> [u8; 12] {
        secrets.bytes()
    }
}

fn chacha<const ROUNDS: usize, F: Nonce>(isa: Isa, secrets: &mut Secrets) {
    counted(secrets, |key, secrets| ChaCha::<ROUNDS, F>::new(isa, key, &F::hidden(secrets)));
}

/// Both sizes of key; the last row is hidden, too.
fn chacha_front(isa: Isa, secrets: &mut Secrets) {
    let long = Key::from(&secrets.bytes::<32>());
    let short = Key::from(&secrets.bytes::<16>());
    for key in [&long, &short] {
        let mut front = chacha::front(isa, key, &secrets.bytes()).to_le_bytes();
        secrets.reveal(&mut front);
    }
}

fn salsa<const ROUNDS: usize>(isa: Isa, secrets: &mut Secrets) {
    counted(secrets, |key, secrets| Salsa::<ROUNDS>::new(isa, key, &secrets.bytes()));
}

/// Both sizes of key; the second time the lower word of the counter runs over in the middle.
fn counted<C: Seek>(secrets: &mut Secrets, open: impl Fn(&Key, &mut Secrets) -> C) {
    let long = Key::from(&secrets.bytes::<32>());
    let short = Key::from(&secrets.bytes::<16>());
    for (key, first, lengths) in [(short, 0, &LENGTHS[..]), (long, (1 << 32) - 7, &CROSSING)] {
        let mut core = open(&key, secrets);
        streams(&mut core, first, lengths, secrets);
    }
}

/// Blocks in a request: at and next to the widths of all kernels.
const BLOCKS: [usize; 16] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40];

/// Blocks in a request whose kernel takes one after the other.
const SERIAL: [usize; 4] = [0, 1, 2, 5];

macro_rules! key_size {
    ($name:ident, $bits:literal) => {
        fn $name(isa: Isa, secrets: &mut Secrets) {
            let key = secrets.bytes();
            let cipher = Aes::<$bits>::new(isa, &key);
            both_ways(&cipher, &BLOCKS, secrets);
            chains(&cipher, &SERIAL, secrets);
            drop(cipher);
            // From a counter whose lower half runs over in the middle; counters are public. The
            // last is long enough for the kernels that share work among blocks.
            let crossing = (u128::from(u64::MAX) - 25).to_be_bytes();
            for (nonce, lengths) in
                [([0; 16], &LENGTHS[..]), (crossing, &CROSSING), ([7; 16], &[16 * 1024 + 1500])]
            {
                let mut core = AesCtr::<$bits>::new(isa, &key, &nonce);
                streams(&mut core, 0, lengths, secrets);
            }
            let mut core = Ctr::<Aes<$bits>, 16>::new(isa, &key, &crossing);
            streams(&mut core, 0, &CROSSING, secrets);
        }
    };
}

key_size!(aes128, 128);
key_size!(aes192, 192);
key_size!(aes256, 256);

/// All numbers of blocks up to past the widths of all kernels, and a long run.
fn ghash(isa: Isa, secrets: &mut Secrets) {
    let mut key = ghash::Key::new(isa, &secrets.bytes());
    key.set(&secrets.bytes());
    let mut data = [[0; 16]; 100];
    for count in (0..38).chain([100]) {
        secrets.fill(data.as_flattened_mut());
        let mut state = secrets.bytes();
        key.absorb(&mut state, &data[..count]);
        secrets.reveal(&mut state);
    }
}

/// Data and associated data of a message: at and next to where the kernels of GCM change their
/// ways.
const MESSAGES: [(usize, usize); 24] = [
    (0, 8),
    (1, 0),
    (16, 1),
    (17, 4),
    (32, 5),
    (33, 8),
    (48, 12),
    (49, 13),
    (64, 8),
    (96, 15),
    (97, 16),
    (112, 17),
    (128, 20),
    (160, 32),
    (161, 33),
    (224, 48),
    (225, 70),
    (256, 8),
    (288, 3),
    (289, 8),
    (513, 8),
    (576, 13),
    (1111, 400),
    (1600, 0),
];

macro_rules! gcm {
    ($name:ident, $bits:literal) => {
        fn $name(isa: Isa, secrets: &mut Secrets) {
            let mut gcm = AesGcm::<$bits>::new(isa, &secrets.bytes());
            gcm.set_key(&secrets.bytes());
            let (mut data, mut out, mut aad) = ([0; 1600], [0; 1600], [0; 400]);
            for (length, associated) in MESSAGES {
                let (data, out) = (&mut data[..length], &mut out[..length]);
                let aad = &mut aad[..associated];
                secrets.fill(data);
                secrets.fill(aad);
                secrets.reveal(&mut gcm.seal(&[7; 12], aad, (&mut *data).into()));
                let apart = InOutBuf::new(data, out).expect("as long");
                secrets.reveal(&mut gcm.open(&[8; 12], aad, apart, &[9; 16]));
                secrets.reveal(out);
            }
            secrets.reveal(&mut gcm.counter_block(&[9; 30]));
            // Counters are public, and this one wraps.
            let first = (u128::from(u32::MAX) - 20).to_be_bytes();
            secrets.fill(&mut data);
            let mut tag = gcm.seal_from(&first, &aad, (&mut data[..]).into());
            secrets.reveal(&mut tag);
            let mut message = gcm.begin(&[10; 12]).expect("a nonce");
            for length in [5, 16, 30] {
                message.associate(&gcm, &aad[..length]);
            }
            for length in [3, 20, 100, 1111] {
                message.encrypt(&gcm, (&mut data[..length]).into());
                message.decrypt(&gcm, (&mut out[..length]).into());
            }
            secrets.reveal(&mut message.tag(&gcm));
            resumed(&gcm, secrets);
        }
    };
}

/// Messages that go on after a call that took them as whole ones, both ways.
fn resumed<const NONCE: usize>(cipher: &impl Resume<Nonce = [u8; NONCE]>, secrets: &mut Secrets) {
    let (mut data, mut aad) = ([0; 1600], [0; 400]);
    for (length, associated) in MESSAGES {
        let (data, aad) = (&mut data[..length], &mut aad[..associated]);
        secrets.fill(data);
        secrets.fill(aad);
        let mut begun = cipher.empty_state(&[11; NONCE]);
        cipher.associate_more(&mut begun, aad);
        secrets.reveal(&mut cipher.seal_resumable(
            &mut begun,
            &[11; NONCE],
            aad,
            (&mut *data).into(),
        ));
        for more in [length / 3, length] {
            cipher.seal_more(&mut begun, (&mut data[..more]).into());
        }
        secrets.reveal(&mut cipher.tag_of(&begun));
        secrets.reveal(&mut cipher.open_resumable(
            &mut begun,
            &[12; NONCE],
            aad,
            (&mut *data).into(),
        ));
        for more in [length / 3, length] {
            cipher.open_more(&mut begun, (&mut data[..more]).into());
        }
        secrets.reveal(&mut cipher.tag_of(&begun));
    }
}

fn aegis<C, const N: usize>(isa: Isa, secrets: &mut Secrets)
where
    C: Aead<Key = [u8; N], Nonce = [u8; N]>,
{
    let mut cipher = C::new(isa, &secrets.bytes());
    cipher.set_key(&secrets.bytes());
    let (mut data, mut out, mut aad) = ([0; 1600], [0; 1600], [0; 400]);
    for (length, associated) in MESSAGES {
        let (data, out) = (&mut data[..length], &mut out[..length]);
        let aad = &mut aad[..associated];
        secrets.fill(data);
        secrets.fill(aad);
        let nonces = [secrets.bytes(), secrets.bytes()];
        secrets.reveal(&mut cipher.seal(&nonces[0], aad, (&mut *data).into()));
        let apart = InOutBuf::new(data, out).expect("as long");
        secrets.reveal(&mut cipher.open(&nonces[1], aad, apart, &[9; 16]));
        secrets.reveal(out);
    }
    let mut message = cipher.begin(&secrets.bytes::<N>()).expect("a nonce");
    for length in [5, 16, 30, 64] {
        message.associate(&cipher, &aad[..length]);
    }
    for length in [3, 20, 100, 1111] {
        message.encrypt(&cipher, (&mut data[..length]).into());
        message.decrypt(&cipher, (&mut out[..length]).into());
    }
    secrets.reveal(&mut message.tag(&cipher));
}

/// The tag that came is public, as the nonce is; the tag that is made is not before it is sent.
macro_rules! gcm_siv {
    ($name:ident, $bits:literal) => {
        fn $name(isa: Isa, secrets: &mut Secrets) {
            let mut siv = AesGcmSiv::<$bits>::new(isa, &secrets.bytes());
            siv.set_key(&secrets.bytes());
            let (mut data, mut out, mut aad) = ([0; 1600], [0; 1600], [0; 400]);
            for (length, associated) in MESSAGES {
                let (data, out) = (&mut data[..length], &mut out[..length]);
                let aad = &mut aad[..associated];
                secrets.fill(data);
                secrets.fill(aad);
                secrets.reveal(&mut siv.seal(&[7; 12], aad, (&mut *data).into()));
                let apart = InOutBuf::new(data, out).expect("as long");
                secrets.reveal(&mut siv.open(&[8; 12], aad, apart, &[9; 16]));
                secrets.reveal(out);
            }
        }
    };
}

gcm_siv!(gcm_siv128, 128);
gcm_siv!(gcm_siv256, 256);

gcm!(gcm128, 128);
gcm!(gcm192, 192);
gcm!(gcm256, 256);

/// Whole messages, and the parts of an AEAD's.
fn poly1305(isa: Isa, secrets: &mut Secrets) {
    let mut buffer = [0; 1600];
    for len in LENGTHS {
        secrets.fill(&mut buffer);
        let mut poly = Poly1305::new(isa, &secrets.bytes());
        poly.absorb_padded(&buffer[..len / 3]);
        poly.absorb_padded(&buffer[..len]);
        poly.absorb_last(&buffer[..len]);
        secrets.reveal(&mut black_box(poly.tag()));
    }
}

fn chacha20poly1305(isa: Isa, secrets: &mut Secrets) {
    let key = secrets.bytes();
    let cipher = ChaCha20Poly1305::new(isa, &key);
    sealed(&cipher, secrets);
    resumed(&cipher, secrets);
}

fn xchacha20poly1305(isa: Isa, secrets: &mut Secrets) {
    let key = secrets.bytes();
    sealed(&XChaCha20Poly1305::new(isa, &key), secrets);
}

/// Whole messages and messages in pieces, both ways, in place and apart; associated data are hidden
/// too.
fn sealed<const NONCE: usize>(cipher: &impl Aead<Nonce = [u8; NONCE]>, secrets: &mut Secrets) {
    let (mut data, mut out) = unseen(|| (vec![0; 8205], vec![0; 8205]));
    // The last is long enough to be hashed between the rounds.
    for len in LENGTHS.into_iter().chain([8205]) {
        let (data, out) = (&mut data[..len], &mut out[..len]);
        secrets.fill(data);
        let (nonce, aad) = (secrets.bytes(), &secrets.bytes::<400>()[..len.min(1600) / 4]);
        let mut tags = [
            cipher.seal(&nonce, aad, (&mut *data).into()),
            cipher.open(&nonce, aad, (&mut *data).into(), &[9; 16]),
            cipher.seal(&nonce, aad, InOutBuf::new(data, out).expect("as long")),
            cipher.open(&nonce, aad, InOutBuf::new(data, out).expect("as long"), &[9; 16]),
        ];
        for seal in [true, false] {
            let mut message = cipher.begin(&nonce).expect("a nonce");
            message.associate(&cipher, aad);
            let (front, back) = data.split_at_mut(len / 3);
            for piece in [front, back] {
                if seal {
                    message.encrypt(&cipher, piece.into());
                } else {
                    message.decrypt(&cipher, piece.into());
                }
            }
            secrets.reveal(&mut black_box(message.tag(&cipher)));
        }
        secrets.reveal(tags.as_flattened_mut());
        secrets.reveal(black_box(out));
    }
}

macro_rules! siv {
    ($name:ident, $bits:literal) => {
        /// Messages and strings at and next to the widths of all kernels, in place and apart. The
        /// first counter block is hidden too: it is made of secrets.
        fn $name(isa: Isa, secrets: &mut Secrets) {
            let mut siv = AesSiv::<$bits>::new(isa, &secrets.bytes());
            siv.set_key(&secrets.bytes());
            let (mut data, mut out, mut string) = ([0; 1600], [0; 1600], [0; 1600]);
            for length in LENGTHS.into_iter().chain([8, 15, 24, 32, 33, 47, 48, 49, 66]) {
                let (data, out) = (&mut data[..length], &mut out[..length]);
                secrets.fill(data);
                secrets.fill(&mut string);
                let mut strings = siv.strings().clone();
                siv.associate(&mut strings, &[&string[..length], &string[..17]]);
                let mut v = siv.seal_after(&strings, &[], (&mut *data).into());
                secrets.reveal(&mut v);
                let apart = InOutBuf::new(data, out).expect("as long");
                let mut v = siv.open_after(&strings, &[&string[..9]], &secrets.bytes(), apart);
                secrets.reveal(&mut v);
                secrets.reveal(out);
                let mut v = siv.seal(&secrets.bytes(), &string[..length], (&mut *data).into());
                secrets.reveal(&mut v);
                secrets.reveal(data);
            }
        }
    };
}

siv!(siv128, 128);
siv!(siv192, 192);
siv!(siv256, 256);

macro_rules! xts {
    ($name:ident, $bits:literal) => {
        /// Data units with stealing and without, at and next to the widths of all kernels, in place
        /// and apart, and sectors. Tweaks are hidden too.
        fn $name(isa: Isa, secrets: &mut Secrets) {
            let mut xts = AesXts::<$bits>::new(isa, &secrets.bytes());
            xts.set_key(&secrets.bytes());
            let (mut data, mut out) = ([0; 1600], [0; 1600]);
            for length in LENGTHS.into_iter().filter(|&length| length >= xts::SHORTEST) {
                let (data, out) = (&mut data[..length], &mut out[..length]);
                secrets.fill(data);
                xts.encrypt(&secrets.bytes(), (&mut *data).into());
                xts.decrypt(&secrets.bytes(), InOutBuf::new(data, out).expect("as long"));
                secrets.reveal(out);
            }
            for size in [16, 40, 160, 1600] {
                secrets.fill(&mut data);
                xts.encrypt_sectors(u128::MAX - 7, size, (&mut data[..]).into());
                let apart = InOutBuf::new(&data, &mut out).expect("as long");
                xts.decrypt_sectors(3, size, apart);
                secrets.reveal(&mut out);
            }
        }
    };
}

xts!(xts128, 128);
xts!(xts256, 256);

/// All sizes of key; they differ in nothing but how the key is read.
fn serpent(isa: Isa, secrets: &mut Secrets) {
    let keys = [
        serpent::Key::from(&secrets.bytes::<16>()),
        serpent::Key::from(&secrets.bytes::<24>()),
        serpent::Key::from(&secrets.bytes::<32>()),
    ];
    for key in &keys {
        both_ways(&Serpent::new(isa, key), &[1], secrets);
    }
    let [_, _, key] = keys;
    let cipher = Serpent::new(isa, &key);
    both_ways(&cipher, &[0, 4, 5, 8, 9, 16, 17, 33], secrets);
    chains(&cipher, &[1, 3], secrets);
    // The last word of this counter, which is public, runs over in the middle of the last request.
    let first = (u128::from(u32::MAX) - 25).to_be_bytes();
    let lengths = &[1, 64, 65, 193, 257, 1111];
    streams(&mut Ctr::<Serpent, 16>::new(isa, &key, &first), 0, lengths, secrets);
}

fn des(isa: Isa, secrets: &mut Secrets) {
    let key = secrets.bytes();
    both_ways(&Des::new(isa, &key), sliced(isa), secrets);
    let lengths: Vec<_> = sliced(isa).iter().map(|blocks| 8 * blocks - 3).collect();
    streams(&mut Ctr::<Des, 8>::new(isa, &key, &[0xff; 8]), 0, &lengths, secrets);
}

/// The same kernels as those of DES, with three keys.
fn triple_des(isa: Isa, secrets: &mut Secrets) {
    let keys =
        [TripleDesKey::from(&secrets.bytes::<16>()), TripleDesKey::from(&secrets.bytes::<24>())];
    for key in &keys {
        both_ways(&TripleDes::new(isa, key), &sliced(isa)[..1], secrets);
    }
    let mut core = Ctr::<TripleDes, 8>::new(isa, &keys[0], &[0xff; 8]);
    streams(&mut core, 0, &[8 * 64 - 3], secrets);
}

/// Blocks in a request that is long enough for a bitsliced kernel of DES. Shorter ones and chains
/// of blocks go through tables, and are not constant time.
fn sliced(isa: Isa) -> &'static [usize] {
    if isa.has_512_bit_registers() { &[8, 64, 130] } else { &[32, 64, 130, 257] }
}

/// Requests of so many blocks: both directions and the decryption of chains, in place and apart.
fn both_ways<const N: usize>(
    cipher: &impl BlockCipher<N>,
    counts: &[usize],
    secrets: &mut Secrets,
) {
    let longest = counts.iter().max().expect("there are counts");
    let (mut data, mut out) = unseen(|| (vec![[0; N]; *longest], vec![[0; N]; *longest]));
    for &blocks in counts {
        let (data, out) = (&mut data[..blocks], &mut out[..blocks]);
        secrets.fill(data.as_flattened_mut());
        cipher.encrypt((&mut *data).into());
        cipher.encrypt(InOutBuf::new(data, out).expect("as long"));
        secrets.reveal(out.as_flattened_mut());
        cipher.decrypt((&mut *data).into());
        cipher.decrypt(InOutBuf::new(data, out).expect("as long"));
        secrets.reveal(out.as_flattened_mut());
        let mut iv = [0; N];
        cipher.cbc_decrypt(&mut iv, (&mut *data).into());
        cipher.cbc_decrypt(&mut iv, InOutBuf::new(data, out).expect("as long"));
        secrets.reveal(out.as_flattened_mut());
    }
}

/// The encryption of chains of so many blocks.
fn chains<const N: usize>(cipher: &impl BlockEncrypt<N>, counts: &[usize], secrets: &mut Secrets) {
    let longest = counts.iter().max().expect("there are counts");
    let (mut data, mut out) = unseen(|| (vec![[0; N]; *longest], vec![[0; N]; *longest]));
    for &blocks in counts {
        let (data, out) = (&mut data[..blocks], &mut out[..blocks]);
        secrets.fill(data.as_flattened_mut());
        let mut iv = [0; N];
        cipher.cbc_encrypt(&mut iv, (&mut *data).into());
        cipher.cbc_encrypt(&mut iv, InOutBuf::new(data, out).expect("as long"));
        secrets.reveal(out.as_flattened_mut());
    }
}

/// Requests of all `lengths` from block `first` on: written, XORed in place, XORed elsewhere.
fn streams(core: &mut impl Seek, first: u64, lengths: &[usize], secrets: &mut Secrets) {
    let longest = lengths.iter().max().expect("there are lengths");
    let (mut data, mut out) = unseen(|| (vec![0; *longest], vec![0; *longest]));
    for &length in lengths {
        let (data, out) = (&mut data[..length], &mut out[..length]);
        core.seek(first);
        core.keystream(out);
        secrets.reveal(out);
        secrets.fill(data);
        core.seek(first);
        core.xor((&mut *data).into());
        core.xor(InOutBuf::new(data, out).expect("as long"));
        secrets.reveal(out);
        black_box(core.remaining());
    }
}
