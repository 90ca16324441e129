//! What is left in memory of a cipher, or of a message in pieces, that was dropped: no secret.

use core::mem::MaybeUninit;
use core::ptr;

use lanecrypt_ciphers::hazmat::burn_stack;
use lanecrypt_ciphers::{Algorithm, Cipher, Isa, Mode, typed, typed_ciphers};
use lanecrypt_testing::aeads::whole;

/// Of a code the key comes first, and what is expanded of it is another thing: the key of the
/// cipher is at the end.
const KEY: [u8; 80] =
    *b"of eighty bytes of a secret key the last ones are thirty-two bytes of secret key";

/// The bytes of a value in place, before and after it is dropped there.
fn bytes_around_drop<T>(value: T) -> [Vec<u8>; 2] {
    let mut place = Box::new(MaybeUninit::<T>::zeroed());
    let pointer = place.as_mut_ptr();
    // SAFETY: the place is aligned, large enough and holds nothing yet.
    unsafe { pointer.write(value) };
    let bytes = || {
        let first = pointer.cast::<u8>().cast_const();
        // Volatile, for the compiler knows that nobody may look at what has been dropped.
        // SAFETY: the address is within the box; what padding is between the fields came with them.
        let byte = |i| unsafe { ptr::read_volatile(first.wrapping_add(i)) };
        (0..size_of::<T>()).map(byte).collect::<Vec<u8>>()
    };
    let before = bytes();
    // SAFETY: the place holds a value, which is not used again.
    unsafe { ptr::drop_in_place(pointer) };
    [before, bytes()]
}

/// Bytes that are equal in a run so long are no accident.
fn holds(bytes: &[u8], secret: &[u8]) -> bool {
    secret.windows(8).any(|part| bytes.windows(8).any(|window| window == part))
}

fn nonzero(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte != 0).count()
}

fn key(algorithm: Algorithm) -> &'static [u8] {
    &KEY[KEY.len() - algorithm.key_lengths().longest()..]
}

/// Not inlined, so that the stack it uses has been burned by its caller: a value that is moved
/// takes along what lay between its fields.
#[inline(never)]
fn around_a_cipher(algorithm: Algorithm) -> [Vec<u8>; 2] {
    bytes_around_drop(Cipher::new(algorithm, key(algorithm)).expect("a good key"))
}

/// The same of the type that has this algorithm only, if there is one.
fn around_typed(algorithm: Algorithm) -> Option<[Vec<u8>; 2]> {
    macro_rules! around {
        ($name:ident) => {{
            use lanecrypt_ciphers::typed::$name;

            #[inline(never)]
            fn around_a_cipher(key: &[u8; $name::KEY_LENGTH]) -> [Vec<u8>; 2] {
                bytes_around_drop($name::new(key))
            }
            burn_stack();
            around_a_cipher(key(algorithm).try_into().expect("its length"))
        }};
    }
    macro_rules! by_type {
        ($($name:ident)+) => {
            match algorithm {
                $(typed::$name::ALGORITHM => Some(around!($name)),)+
                _ => None,
            }
        };
    }
    typed_ciphers!(by_type!)
}

/// The same of a message under the type, if it has messages in pieces.
fn around_a_typed_message(algorithm: Algorithm) -> Option<[Vec<u8>; 2]> {
    macro_rules! around {
        ($name:ident) => {{
            use lanecrypt_ciphers::typed::$name;

            #[inline(never)]
            fn around_a_message(cipher: &$name) -> [Vec<u8>; 2] {
                let mut sealer = cipher.sealer(&[7; $name::NONCE_LENGTH]).expect("a good nonce");
                sealer.associate(b"associated").expect("short enough");
                sealer.encrypt(&mut [9; 29][..]).expect("short enough");
                bytes_around_drop(sealer)
            }
            let cipher = $name::boxed(key(algorithm).try_into().expect("its length"));
            burn_stack();
            around_a_message(&cipher)
        }};
    }
    macro_rules! by_type {
        ($($name:ident)+) => {
            match algorithm {
                $(typed::$name::ALGORITHM => Some(around!($name)),)+
                _ => None,
            }
        };
    }
    typed_ciphers!(by_type!)
}

/// Not inlined, as [`around_a_cipher`].
#[inline(never)]
fn around_a_message(cipher: &Cipher) -> [Vec<u8>; 2] {
    let algorithm = cipher.algorithm();
    let nonce = &[7; 32][..algorithm.nonce_length()];
    let mut sealer = cipher.sealer(nonce).expect("a good nonce");
    sealer.associate(b"associated").expect("short enough");
    sealer.encrypt(&mut [9; 29][..whole(algorithm, 29)]).expect("short enough");
    bytes_around_drop(sealer)
}

pub(crate) fn a_dropped_cipher_leaves_no_key() {
    for &algorithm in Algorithm::ALL.iter().filter(|row| row.is_aead()) {
        burn_stack();
        is_wiped(algorithm, around_a_cipher(algorithm));
        let typed = around_typed(algorithm);
        assert_eq!(typed.is_some(), algorithm.mac().is_none(), "{algorithm}");
        typed.into_iter().for_each(|place| is_wiped(algorithm, place));
    }
}

fn is_wiped(algorithm: Algorithm, [before, after]: [Vec<u8>; 2]) {
    // Kernels without AES instructions may keep the key in another form. ChaCha20 keeps it in
    // words.
    let words = algorithm.mode() == Mode::Poly1305 && cfg!(target_endian = "little");
    let visible = words || Isa::detect().has_aes();
    assert!(!visible || holds(&before, key(algorithm)), "{algorithm}: looked for in vain");
    assert!(nonzero(&before) >= nonzero(&after) + 16, "{algorithm}: nothing to wipe");
    assert!(!holds(&after, key(algorithm)), "{algorithm}");
    // The limits, the algorithm and the instruction set remain.
    assert!(nonzero(&after) < 50, "{algorithm}: {} of {}", nonzero(&after), nonzero(&before));
}

pub(crate) fn a_dropped_message_leaves_no_state() {
    for &algorithm in Algorithm::ALL.iter().filter(|row| row.has_pieces()) {
        let cipher = Cipher::new(algorithm, key(algorithm)).expect("a good key");
        burn_stack();
        has_no_state(algorithm, around_a_message(&cipher));
        let typed = around_a_typed_message(algorithm);
        assert_eq!(typed.is_some(), algorithm.mac().is_none(), "{algorithm}");
        typed.into_iter().for_each(|place| has_no_state(algorithm, place));
    }
}

fn has_no_state(algorithm: Algorithm, [before, after]: [Vec<u8>; 2]) {
    assert!(!holds(&after, key(algorithm)), "{algorithm}");
    // References and counts of bytes remain.
    assert!(nonzero(&after) < 50, "{algorithm}: {} of {}", nonzero(&after), nonzero(&before));
    assert!(nonzero(&after) + 20 < nonzero(&before), "{algorithm}: {}", nonzero(&after));
}
