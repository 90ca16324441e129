//! The key of a code, of any kind.

use crate::Mac;
use crate::hmac::{Key, Sha1, Sha256, Sha384};

/// Evaluates an expression for the key of a code.
macro_rules! by_mac {
    ($mac:expr, $key:ident => $result:expr) => {
        match $mac {
            $crate::mac_key::MacKey::Sha1($key) => $result,
            $crate::mac_key::MacKey::Sha256($key) => $result,
            $crate::mac_key::MacKey::Sha384($key) => $result,
        }
    };
}

pub(crate) use by_mac;

/// The key of a code.
pub(crate) enum MacKey {
    Sha1(Key<Sha1, 64>),
    Sha256(Key<Sha256, 64>),
    Sha384(Key<Sha384, 128>),
}

impl MacKey {
    /// The place of a key, which has to be set before anything is asked.
    pub(crate) fn empty(code: Mac) -> Self {
        match code {
            Mac::HmacSha1 => Self::Sha1(Key::empty()),
            Mac::HmacSha256 => Self::Sha256(Key::empty()),
            Mac::HmacSha384 => Self::Sha384(Key::empty()),
        }
    }

    /// The code that it is a key of.
    pub(crate) const fn code(&self) -> Mac {
        match self {
            Self::Sha1(_) => Mac::HmacSha1,
            Self::Sha256(_) => Mac::HmacSha256,
            Self::Sha384(_) => Mac::HmacSha384,
        }
    }
}
