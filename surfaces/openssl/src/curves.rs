//! X25519 and P-256: keys, key exchange and ECDSA, switched on by `curves = yes` in the provider's
//! section.
//!
//! OpenSSL finds keys by the name of their type, and `EC` stands for every curve. So our keys of
//! that type take all curves: a key is one of OpenSSL's default provider, held by ours, and all
//! that is not done here is done by that provider. Of P-256 and X25519, a key is ours alone until
//! something is wanted that is not done here (`key`).
//!
//! What is done here: new keys, of which some are made ahead, key exchange, and signatures
//! (`operation`). In an asynchronous job of OpenSSL, the last two wait for each other
//! (`asynchronous`). Those that are alone are left to the default provider, which is faster then.

mod ecdsa;
mod exchange;
mod groups;
mod halves;
mod key;
mod kind;
mod operation;

use self::kind::{Ec, X25519};
use crate::abi::{Dispatch, Table};

pub(crate) use self::ecdsa::FUNCTIONS as ECDSA;
pub(crate) use self::groups::capabilities;
pub(crate) use self::kind::Curves;

pub(crate) static EC_KEYS: Table<[Dispatch; 22]> = key::functions::<Ec>();
pub(crate) static X25519_KEYS: Table<[Dispatch; 22]> = key::functions::<X25519>();
pub(crate) static ECDH: Table<[Dispatch; 11]> = exchange::functions::<Ec>();
pub(crate) static X25519_EXCHANGE: Table<[Dispatch; 11]> = exchange::functions::<X25519>();
