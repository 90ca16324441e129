//! What the set-up of keys leaves in memory and registers, for somebody who reads all of the
//! process: nothing, neither words of the key or of what it was expanded to, nor any byte that
//! depends on it. Ciphers that were made on the heap are looked for after they are dropped.

use core::arch::asm;
use core::hint::black_box;

use lanecrypt_ciphers::{
    Aes128Gcm, Aes128GcmSiv, Aes192Gcm, Aes256Gcm, Aes256GcmSiv, AesSiv256, AesSiv512, Algorithm,
    ChaCha20Poly1305, Cipher, DeterministicAesSiv, Isa, KeyError, Mac, XChaCha20Poly1305, hazmat,
};
use lanecrypt_testing::keeper::Keeper;
use lanecrypt_testing::levels;
use lanecrypt_testing::residue::{Leak, Residue, Secrets, bytes_of, leaks};

#[global_allocator]
static ALLOCATOR: Keeper = Keeper;

/// Two keys for every length; no byte of the one is that of the other in the same place.
const KEYS: [[u8; 80]; 2] = [
    *b"eighty bytes of a secret key, of which nearly all of the ciphers need only a few",
    *b"ANOTHER*KEY*OF*THE*SAME*LENGTH*THAT*NOBODY*IS*TO*KNOW*AND*READ*BY*NONE*IT*ENDS*.",
];

pub(crate) fn a_cipher_on_the_heap_leaves_nothing() {
    nothing_is_left(|keyed, key| Residue::of(|| keyed.make_and_drop(key)));
}

pub(crate) fn another_key_leaves_nothing_but_itself() {
    nothing_is_left(|keyed, key| {
        let mut place = keyed.place();
        Residue::of(|| place.set_key(key))
    });
}

pub(crate) fn a_cipher_by_value_leaves_nothing_below_its_caller() {
    nothing_is_left(|keyed, key| keyed.by_value(key));
}

/// Types with one algorithm: on the heap, by value, and with another key.
pub(crate) fn types_with_one_algorithm_leave_nothing() {
    macro_rules! nothing_is_left {
        ($($name:ident)+) => {$(
            for isa in levels() {
                let keyed = Keyed { isa, algorithm: $name::ALGORITHM };
                let (secrets, level) = (keyed.secrets(), isa.level());
                let boxed = |bytes: &[u8]| {
                    let key: &[u8; $name::KEY_LENGTH] = bytes.try_into().expect("its length");
                    Residue::of(|| drop(black_box($name::boxed_with_isa(isa, key))))
                };
                assert_eq!(leaks(&secrets, keyed.keys(), boxed), [], "boxed at {level}");
                let by_value = |bytes: &[u8]| {
                    let key: &[u8; $name::KEY_LENGTH] = bytes.try_into().expect("its length");
                    below(|| drop(black_box($name::with_isa(isa, key))))
                };
                assert_eq!(leaks(&secrets, keyed.keys(), by_value), [], "by value at {level}");
                let again = |bytes: &[u8]| {
                    let key: &[u8; $name::KEY_LENGTH] = bytes.try_into().expect("its length");
                    let mut place = $name::boxed_with_isa(isa, &[0x80; $name::KEY_LENGTH]);
                    Residue::of(|| place.set_key(key))
                };
                assert_eq!(leaks(&secrets, keyed.keys(), again), [], "again at {level}");
            }
        )+};
    }
    nothing_is_left!(
        Aes128Gcm Aes192Gcm Aes256Gcm ChaCha20Poly1305 XChaCha20Poly1305
        Aes128GcmSiv Aes256GcmSiv AesSiv256 AesSiv512
    );
}

/// On the heap, by value, with another key and with a context.
pub(crate) fn deterministic_encryption_leaves_nothing() {
    for (isa, length) in levels().flat_map(|isa| [32, 48, 64].map(|length| (isa, length))) {
        let keys = KEYS.each_ref().map(|key| &key[..length]);
        let boxed = |key: &[u8]| DeterministicAesSiv::boxed_with_isa(isa, key).expect("a good key");
        let with_context = |key: &[u8]| {
            let mut place = boxed(key);
            place.set_context(&[b"table"]).expect("one string");
            place
        };
        let mut secrets = Secrets::default();
        secrets.add(keys, <[u8]>::to_vec);
        secrets.add(keys, |key| bytes_of(&*boxed(key)));
        secrets.add(keys, |key| bytes_of(&*with_context(key)));
        let place = format!("{length} bytes at {}", isa.level());

        let on_the_heap =
            leaks(&secrets, keys, |key| Residue::of(|| drop(black_box(with_context(key)))));
        assert_eq!(on_the_heap, [], "boxed, {place}");
        let by_value = leaks(&secrets, keys, |key| {
            below(|| drop(black_box(DeterministicAesSiv::with_isa(isa, key))))
        });
        assert_eq!(by_value, [], "by value, {place}");
        let again = leaks(&secrets, keys, |key| {
            let mut place = boxed(&[0x80; 64][..length]);
            Residue::of(|| place.set_key(key).expect("a good key"))
        });
        assert_eq!(again, [], "again, {place}");
        let context = leaks(&secrets, keys, |key| {
            let mut place = boxed(key);
            Residue::of(|| place.set_context(&[b"table"]).expect("one string"))
        });
        assert_eq!(context, [], "the context, {place}");
    }
}

/// Keys of records of TLS are only made by value.
pub(crate) fn keys_of_records_leave_nothing_below_their_caller() {
    for (isa, code) in
        levels().flat_map(|isa| [Mac::HmacSha1, Mac::HmacSha384].map(|code| (isa, code)))
    {
        let keys = KEYS.each_ref().map(|key| &key[..16 + code.output_length()]);
        let make = |keys: &[u8]| {
            let (key, mac) = keys.split_at(16);
            hazmat::TlsCbc::with_isa(isa, Algorithm::AES_128_CBC, key, code, mac)
        };
        let mut secrets = Secrets::default();
        secrets.add(keys, <[u8]>::to_vec);
        secrets.add(keys, |keys| bytes_of(&make(keys).expect("good keys")));
        let leaks = leaks(&secrets, keys, |keys| below(|| drop(black_box(make(keys)))));
        assert_eq!(leaks, [], "{code:?} at {}", isa.level());
    }
}

/// What the tests above must not find is found where it is left on purpose.
pub(crate) fn what_is_left_is_found() {
    let keyed = Keyed { isa: Isa::of_processor(), algorithm: Algorithm::AES_128_GCM };
    let found = |call: fn(&[u8]) -> Residue| leaks(&keyed.secrets(), keyed.keys(), call);
    let in_place =
        |leaks: &[Leak], sort, place| leaks.iter().any(|leak| (leak.0, leak.1) == (sort, place));

    let moved = found(|key| {
        let cipher = || Cipher::with_isa(Isa::of_processor(), Algorithm::AES_128_GCM, key);
        Residue::of(|| drop(black_box(Box::new(black_box(cipher())))))
    });
    assert!(in_place(&moved, "words", "the stack"), "{moved:?}");
    let freed = found(|key| Residue::of(|| drop(black_box(key.to_vec()))));
    assert!(in_place(&freed, "words", "freed memory"), "{freed:?}");
    assert!(in_place(&freed, "bytes", "freed memory"), "{freed:?}");
    let in_vectors = found(|key| {
        Residue::of(|| {
            // SAFETY: the key has 16 bytes, and the register is named.
            unsafe { asm!("movdqu xmm7, [{}]", in(reg) key.as_ptr(), out("xmm7") _) }
        })
    });
    assert!(in_place(&in_vectors, "words", "vector registers"), "{in_vectors:?}");
    let in_general = found(|key| {
        Residue::of(|| {
            // SAFETY: the key has 16 bytes, and the register is named.
            unsafe { asm!("mov r10, [{}]", in(reg) key.as_ptr(), out("r10") _) }
        })
    });
    assert!(in_place(&in_general, "words", "general purpose registers"), "{in_general:?}");
}

/// Runs a call for every algorithm at every level.
fn nothing_is_left(call: impl Fn(Keyed, &[u8]) -> Residue) {
    for (isa, algorithm) in levels().flat_map(|isa| algorithms().map(move |row| (isa, row))) {
        let keyed = Keyed { isa, algorithm };
        let secrets = keyed.secrets();
        assert!(secrets.count() >= keyed.keys()[0].len() / 8, "{algorithm}: nothing is looked for");
        let leaks = leaks(&secrets, keyed.keys(), |key| call(keyed, key));
        assert_eq!(leaks, [], "{algorithm} at {}", isa.level());
    }
}

/// Every algorithm that has keyed ciphers.
fn algorithms() -> impl Iterator<Item = Algorithm> {
    let all = Algorithm::ALL.iter().copied();
    all.filter(|algorithm| !["null", "arc4"].contains(&&*algorithm.to_string()))
}

/// A cipher for the kernels of a level.
#[derive(Clone, Copy)]
struct Keyed {
    isa: Isa,
    algorithm: Algorithm,
}

/// What a call leaves below the frame that it is inlined into.
#[inline(always)]
fn below(mut call: impl FnMut()) -> Residue {
    Residue::below(|note| {
        let frame: usize;
        // SAFETY: it reads a register.
        unsafe {
            asm!("mov {}, rsp", out(reg) frame, options(nomem, nostack, preserves_flags));
        };
        note(frame);
        call();
    })
}

/// A cipher of either kind, where it stays.
enum Place {
    Sealing(Box<Cipher>),
    Raw(Box<hazmat::RawCipher>),
}

impl Keyed {
    fn keys(self) -> [&'static [u8]; 2] {
        KEYS.each_ref().map(|key| &key[..self.algorithm.key_lengths().longest()])
    }

    fn make(self, key: &[u8]) -> Result<Place, KeyError> {
        match self.algorithm.is_aead() {
            true => Cipher::boxed_with_isa(self.isa, self.algorithm, key).map(Place::Sealing),
            false => {
                hazmat::RawCipher::boxed_with_isa(self.isa, self.algorithm, key).map(Place::Raw)
            }
        }
    }

    fn make_and_drop(self, key: &[u8]) {
        drop(black_box(self.make(key)));
    }

    fn place(self) -> Place {
        let other: [u8; 80] = core::array::from_fn(|i| 0x80 ^ i.to_le_bytes()[0]);
        self.make(&other[..self.keys()[0].len()]).expect("a good key")
    }

    fn by_value(self, key: &[u8]) -> Residue {
        below(|| match self.algorithm.is_aead() {
            true => drop(black_box(Cipher::with_isa(self.isa, self.algorithm, key))),
            false => drop(black_box(hazmat::RawCipher::with_isa(self.isa, self.algorithm, key))),
        })
    }

    /// The key and what it is expanded to.
    fn secrets(self) -> Secrets {
        let mut secrets = Secrets::default();
        secrets.add(self.keys(), <[u8]>::to_vec);
        secrets.add(self.keys(), |key| match self.make(key).expect("a good key") {
            Place::Sealing(cipher) => bytes_of(&*cipher),
            Place::Raw(cipher) => bytes_of(&*cipher),
        });
        secrets
    }
}

impl Place {
    fn set_key(&mut self, key: &[u8]) {
        let outcome = match self {
            Self::Sealing(cipher) => cipher.set_key(key),
            Self::Raw(cipher) => cipher.set_key(key),
        };
        assert_eq!(outcome, Ok(()));
    }
}
