//! The numbers of errors.

use core::ffi::{CStr, c_char, c_int};

use lanecrypt_engine::Error;
#[cfg(feature = "pk")]
use lanecrypt_pk as pk;
#[cfg(feature = "rsa")]
use lanecrypt_rsa::KeyError;

/// Makes the type and its texts from the rows: number, name, text.
macro_rules! codes {
    ($($number:literal $name:ident $text:literal;)+) => {
        /// Why a call was refused. The numbers are those of the header, and never change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(
            not(all(feature = "device", feature = "file", target_os = "linux")),
            expect(dead_code, reason = "those of the daemon, of files and of signatures")
        )]
        #[repr(i32)]
        pub(crate) enum Code {
            $($name = $number,)+
        }

        impl Code {
            #[cfg(test)]
            pub(crate) const ALL: &[(Self, &'static str)] =
                &[$((Self::$name, stringify!($name)),)+];
        }

        /// The text of a number.
        fn text(number: c_int) -> &'static CStr {
            match number {
                0 => c"success",
                $($number => $text,)+
                _ => c"unknown error",
            }
        }
    };
}

codes! {
    // What was passed.
    1 NullPointer c"null pointer";
    2 Misaligned c"misaligned pointer";
    3 Overlap c"buffers overlap";
    4 TooLong c"too long";
    5 UnknownAlgorithm c"unknown algorithm";
    6 UnknownOperation c"unknown operation";
    7 Range c"number out of range";
    // What was found.
    16 Authentication c"authentication failed";
    17 BatchFailed c"at least one request of the batch failed";
    // Lengths.
    32 KeyLength c"wrong key length";
    33 NonceLength c"wrong nonce length";
    34 AadLength c"associated data too long";
    35 DataLength c"wrong data length";
    36 TagLength c"wrong tag length";
    37 OutputLength c"wrong output length";
    // What cannot be done.
    48 Unsupported c"unsupported";
    49 WeakKey c"weak key";
    50 NoncesExhausted c"nonces exhausted";
    51 KeystreamExhausted c"keystream exhausted";
    52 Forked c"made by the parent process";
    53 Entropy c"no random bytes";
    54 Fault c"wrong result discarded";
    55 Internal c"internal error";
    56 Memory c"not enough memory";
    // Keys of signatures.
    64 KeyEncoding c"malformed key";
    65 KeyEncrypted c"encrypted key";
    66 KeyAlgorithm c"key of another algorithm";
    67 KeySize c"unsupported key size";
    68 KeyNumbers c"inconsistent or unsuitable key";
    // The daemon.
    80 NoDaemon c"no daemon there";
    81 Forbidden c"permission denied";
    82 Version c"the daemon has another version";
    83 Denied c"the daemon refused";
    84 NoSession c"no such session";
    85 NotAllowed c"the key may not be used for this operation";
    86 Full c"too many requests in flight";
    87 Disconnected c"the daemon is gone";
    88 System c"the system refused";
    89 Nothing c"nothing has come";
    // Files.
    96 FileFormat c"not an encrypted file of Lanecrypt";
    97 FileVersion c"a file of an unknown version";
    98 FileSecret c"another key or passphrase, or the file's header was changed";
    99 FileNeedsKey c"the file needs a key, not a passphrase";
    100 FileNeedsPassphrase c"the file needs a passphrase, not a key";
    101 FileCost c"the passphrase costs more than is allowed, or less";
    102 FileTruncated c"the file is truncated";
}

impl Code {
    /// What C gets.
    #[inline(always)]
    pub(crate) const fn number(self) -> c_int {
        self as c_int
    }
}

impl From<Error> for Code {
    #[cold]
    fn from(error: Error) -> Self {
        match error {
            Error::AadLength => Self::AadLength,
            Error::Authentication => Self::Authentication,
            Error::DataLength => Self::DataLength,
            Error::Entropy => Self::Entropy,
            Error::Fault => Self::Fault,
            Error::Forked => Self::Forked,
            Error::KeyLength => Self::KeyLength,
            Error::KeystreamExhausted => Self::KeystreamExhausted,
            Error::NoncesExhausted => Self::NoncesExhausted,
            Error::NonceLength => Self::NonceLength,
            Error::OutputLength => Self::OutputLength,
            Error::TagLength => Self::TagLength,
            Error::Unsupported => Self::Unsupported,
            Error::WeakKey => Self::WeakKey,
            // Those of drivers, padding and messages in pieces, which this library does not have.
            _ => Self::Internal,
        }
    }
}

impl From<lanecrypt_random::EntropyError> for Code {
    #[cold]
    fn from(_: lanecrypt_random::EntropyError) -> Self {
        Self::Entropy
    }
}

#[cfg(feature = "rsa")]
impl From<KeyError> for Code {
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::Algorithm => Self::KeyAlgorithm,
            KeyError::Encoding => Self::KeyEncoding,
            KeyError::Encrypted => Self::KeyEncrypted,
            KeyError::Entropy => Self::Entropy,
            KeyError::Size => Self::KeySize,
            _ => Self::KeyNumbers,
        }
    }
}

#[cfg(feature = "pk")]
impl From<pk::KeyError> for Code {
    fn from(error: pk::KeyError) -> Self {
        match error {
            pk::KeyError::Algorithm => Self::KeyAlgorithm,
            pk::KeyError::Encoding => Self::KeyEncoding,
            pk::KeyError::Encrypted => Self::KeyEncrypted,
            pk::KeyError::Entropy => Self::Entropy,
            _ => Self::KeyNumbers,
        }
    }
}

/// The text of an error.
#[unsafe(no_mangle)]
extern "C" fn lc_strerror(error: c_int) -> *const c_char {
    text(error).as_ptr()
}

/// The version of the library.
#[unsafe(no_mangle)]
extern "C" fn lc_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => panic!("a version has no zero"),
        };
    VERSION.as_ptr()
}
