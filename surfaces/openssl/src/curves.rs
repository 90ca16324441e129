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
mod operation;

use core::ffi::c_void;
use std::sync::Arc;

use self::halves::Curve;
use crate::abi::{Core, Dispatch, OperationName, Table, Types};
use crate::asynchronous::{Job, Jobs};
use crate::fallback::{Fallback, Names};

pub(crate) use self::ecdsa::FUNCTIONS as ECDSA;
pub(crate) use self::groups::capabilities;

pub(crate) static EC_KEYS: Table<[Dispatch; 22]> = key::functions::<Ec>();
pub(crate) static X25519_KEYS: Table<[Dispatch; 22]> = key::functions::<X25519>();
pub(crate) static ECDH: Table<[Dispatch; 11]> = exchange::functions::<Ec>();
pub(crate) static X25519_EXCHANGE: Table<[Dispatch; 11]> = exchange::functions::<X25519>();

/// What the curves need of the library that loaded the module.
pub(crate) struct Curves {
    ec: Arc<Type>,
    x25519: Arc<Type>,
}

/// A type of keys. Keys and contexts hold it.
pub(crate) struct Type {
    fallback: Fallback,
    /// The curve whose operations are done here.
    curve: Curve,
}

impl Type {
    /// The job that runs, in which operations wait for each other.
    fn job(&self) -> Option<Job<'_>> {
        self.fallback.jobs.as_ref().and_then(Jobs::current)
    }
}

/// The tables of functions of a type.
trait Kind: 'static {
    /// The names of operations.
    const OPERATION_NAME: OperationName;
    /// What keys are imported from and exported to.
    const TYPES: Types;

    /// The provider's, if it is switched on.
    fn of(curves: &Curves) -> &Arc<Type>;
}

struct Ec;
struct X25519;

impl Kind for Ec {
    const OPERATION_NAME: OperationName = key::ec_operation_name;
    const TYPES: Types = key::ec_types;

    fn of(curves: &Curves) -> &Arc<Type> {
        &curves.ec
    }
}

impl Kind for X25519 {
    const OPERATION_NAME: OperationName = key::own_name;
    const TYPES: Types = key::octets_types;

    fn of(curves: &Curves) -> &Arc<Type> {
        &curves.x25519
    }
}

impl Curves {
    /// The curves for the library of these functions and this handle; none if the library does not
    /// have what it takes.
    pub(crate) fn new(handle: *const c_void, core: Core) -> Option<Self> {
        let of = |names, curve| {
            let fallback = Fallback::new(handle, core, names)?;
            Some(Arc::new(Type { fallback, curve }))
        };
        let ec = Names { keys: c"EC", signatures: Some(c"ECDSA"), exchanges: Some(c"ECDH") };
        let x25519 = Names { keys: c"X25519", signatures: None, exchanges: Some(c"X25519") };
        Some(Self { ec: of(ec, Curve::P256)?, x25519: of(x25519, Curve::X25519)? })
    }
}
