//! The numbers of algorithms.

use core::ffi::{CStr, c_char, c_int};

use lanecrypt_engine::Algorithm;

use crate::border::{answer, give, text};
use crate::code::Code;

/// Makes the table and its look-ups from the rows: number, constant, name.
macro_rules! algorithms {
    ($($number:literal $name:ident $text:literal;)+) => {
        /// Every algorithm with its number, its constant's name and its name.
        const ROWS: &[(c_int, Algorithm, &CStr)] = &[$(($number, Algorithm::$name, $text),)+];

        #[cfg(test)]
        pub(crate) const CONSTANTS: &[(c_int, &str)] = &[$(($number, stringify!($name)),)+];

        /// The algorithm with this number.
        pub(crate) fn of_number(number: c_int) -> Result<Algorithm, Code> {
            match number {
                $($number => Ok(Algorithm::$name),)+
                _ => Err(Code::UnknownAlgorithm),
            }
        }
    };
}

algorithms! {
    1 AES_128_GCM c"aes-128-gcm";
    2 AES_192_GCM c"aes-192-gcm";
    3 AES_256_GCM c"aes-256-gcm";
    4 CHACHA20_POLY1305 c"chacha20-poly1305";
    5 XCHACHA20_POLY1305 c"xchacha20-poly1305";
    6 AES_128_GCM_SIV c"aes-128-gcm-siv";
    7 AES_256_GCM_SIV c"aes-256-gcm-siv";
    8 AES_SIV_256 c"aes-siv-256";
    9 AES_SIV_512 c"aes-siv-512";
    32 AES_128_CBC_HMAC_SHA1 c"aes-128-cbc+hmac-sha1";
    33 AES_128_CBC_HMAC_SHA256 c"aes-128-cbc+hmac-sha256";
    34 AES_128_CBC_HMAC_SHA384 c"aes-128-cbc+hmac-sha384";
    35 AES_192_CBC_HMAC_SHA1 c"aes-192-cbc+hmac-sha1";
    36 AES_192_CBC_HMAC_SHA256 c"aes-192-cbc+hmac-sha256";
    37 AES_192_CBC_HMAC_SHA384 c"aes-192-cbc+hmac-sha384";
    38 AES_256_CBC_HMAC_SHA1 c"aes-256-cbc+hmac-sha1";
    39 AES_256_CBC_HMAC_SHA256 c"aes-256-cbc+hmac-sha256";
    40 AES_256_CBC_HMAC_SHA384 c"aes-256-cbc+hmac-sha384";
    41 AES_128_CTR_HMAC_SHA1 c"aes-128-ctr+hmac-sha1";
    42 AES_128_CTR_HMAC_SHA256 c"aes-128-ctr+hmac-sha256";
    43 AES_128_CTR_HMAC_SHA384 c"aes-128-ctr+hmac-sha384";
    44 AES_256_CTR_HMAC_SHA1 c"aes-256-ctr+hmac-sha1";
    45 AES_256_CTR_HMAC_SHA256 c"aes-256-ctr+hmac-sha256";
    46 AES_256_CTR_HMAC_SHA384 c"aes-256-ctr+hmac-sha384";
    64 AES_128_CBC c"aes-128-cbc";
    65 AES_192_CBC c"aes-192-cbc";
    66 AES_256_CBC c"aes-256-cbc";
    67 AES_128_CTR c"aes-128-ctr";
    68 AES_192_CTR c"aes-192-ctr";
    69 AES_256_CTR c"aes-256-ctr";
    70 AES_128_ECB c"aes-128-ecb";
    71 AES_192_ECB c"aes-192-ecb";
    72 AES_256_ECB c"aes-256-ecb";
    73 AES_128_XTS c"aes-128-xts";
    74 AES_256_XTS c"aes-256-xts";
    80 CHACHA8_DJB c"chacha8-djb";
    81 CHACHA12_DJB c"chacha12-djb";
    82 CHACHA20_DJB c"chacha20-djb";
    83 CHACHA8_IETF c"chacha8-ietf";
    84 CHACHA12_IETF c"chacha12-ietf";
    85 CHACHA20_IETF c"chacha20-ietf";
    86 SALSA20_8 c"salsa20/8";
    87 SALSA20_12 c"salsa20/12";
    88 SALSA20_20 c"salsa20/20";
    96 SERPENT_128_CBC c"serpent-128-cbc";
    97 SERPENT_192_CBC c"serpent-192-cbc";
    98 SERPENT_256_CBC c"serpent-256-cbc";
    99 SERPENT_128_CTR c"serpent-128-ctr";
    100 SERPENT_192_CTR c"serpent-192-ctr";
    101 SERPENT_256_CTR c"serpent-256-ctr";
    102 SERPENT_128_ECB c"serpent-128-ecb";
    103 SERPENT_192_ECB c"serpent-192-ecb";
    104 SERPENT_256_ECB c"serpent-256-ecb";
    127 NULL c"null";
}

/// The number of an algorithm; 0 for those of the feature `legacy`, which have none.
pub(crate) fn number(algorithm: Algorithm) -> c_int {
    ROWS.iter().find(|row| row.1 == algorithm).map_or(0, |row| row.0)
}

/// What a caller must know about an algorithm. Lengths are in bytes.
#[repr(C)]
pub(crate) struct Info {
    pub(crate) authenticates: c_int,
    pub(crate) random_nonces: c_int,
    pub(crate) key_len: usize,
    pub(crate) shortest_key_len: usize,
    pub(crate) nonce_len: usize,
    pub(crate) tag_len: usize,
    pub(crate) block_len: usize,
}

/// The number of the algorithm with this name; 0 if there is none.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_algorithm_by_name(name: *const c_char) -> c_int {
    // SAFETY: the caller lends the string for the call.
    let Ok(name) = (unsafe { text(name) }) else { return 0 };
    // SAFETY: the same.
    let name = unsafe { name.read() };
    ROWS.iter().find(|row| row.2.to_bytes() == name).map_or(0, |row| row.0)
}

/// The name of an algorithm; null if there is none with this number.
#[unsafe(no_mangle)]
extern "C" fn lc_algorithm_name(algorithm: c_int) -> *const c_char {
    let row = ROWS.iter().find(|row| row.0 == algorithm);
    row.map_or(core::ptr::null(), |row| row.2.as_ptr())
}

/// The lengths of an algorithm.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_algorithm_info(algorithm: c_int, info: *mut Info) -> c_int {
    answer(|| {
        let algorithm = of_number(algorithm)?;
        let described = Info {
            authenticates: algorithm.is_aead().into(),
            random_nonces: algorithm.needs_random_nonces().into(),
            key_len: algorithm.key_lengths().longest(),
            shortest_key_len: algorithm.key_lengths().shortest(),
            nonce_len: algorithm.nonce_length(),
            tag_len: algorithm.tag_length(),
            block_len: algorithm.granularity(),
        };
        // SAFETY: the caller lends the place for the call.
        unsafe { give(info, described) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_the_table_of_algorithms() {
        for &(number, algorithm, name) in ROWS {
            assert_eq!(name.to_str().expect("it is ASCII"), algorithm.to_string());
            assert_eq!(super::number(algorithm), number);
            assert_eq!(of_number(number), Ok(algorithm));
        }
        // Broken ciphers, and those that index tables by secrets, have none.
        let numbered = |algorithm: &&Algorithm| number(**algorithm) != 0;
        assert_eq!(Algorithm::ALL.iter().filter(numbered).count(), ROWS.len());
        let old = ["arc4", "hc128", "des", "3des"];
        for algorithm in Algorithm::ALL.iter().filter(|algorithm| !numbered(algorithm)) {
            let name = algorithm.to_string();
            assert!(old.iter().any(|old| name.starts_with(old)), "{name} has no number");
        }
    }
}
