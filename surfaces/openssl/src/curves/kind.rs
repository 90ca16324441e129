//! The types of keys, and what differs between them.

use core::ffi::{c_char, c_int, c_void};
use core::ptr;
use std::sync::Arc;

use super::halves::Curve;
use crate::abi::{self, Core, OperationName, PAIR, Param, Types, described};
use crate::asynchronous::{Job, Jobs};
use crate::fallback::{Fallback, Names};

/// What the curves need of the library that loaded the module.
pub(crate) struct Curves {
    pub(super) ec: Arc<Type>,
    x25519: Arc<Type>,
}

/// A type of keys. Keys and contexts hold it.
pub(crate) struct Type {
    pub(super) fallback: Fallback,
    /// The curve whose operations are done here.
    pub(super) curve: Curve,
}

impl Type {
    /// The job that runs, in which operations wait for each other.
    pub(super) fn job(&self) -> Option<Job<'_>> {
        self.fallback.jobs.as_ref().and_then(Jobs::current)
    }
}

/// The tables of functions of a type.
pub(super) trait Kind: 'static {
    /// The names of operations.
    const OPERATION_NAME: OperationName;
    /// What keys are imported from and exported to.
    const TYPES: Types;

    /// The provider's, if it is switched on.
    fn of(curves: &Curves) -> &Arc<Type>;
}

pub(super) struct Ec;
pub(super) struct X25519;

impl Kind for Ec {
    const OPERATION_NAME: OperationName = ec_operation_name;
    const TYPES: Types = ec_types;

    fn of(curves: &Curves) -> &Arc<Type> {
        &curves.ec
    }
}

impl Kind for X25519 {
    const OPERATION_NAME: OperationName = own_name;
    const TYPES: Types = octets_types;

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

/// Keys of curves are used by other names.
unsafe extern "C" fn ec_operation_name(operation: c_int) -> *const c_char {
    match operation {
        abi::SIGNATURES => c"ECDSA".as_ptr(),
        abi::EXCHANGES => c"ECDH".as_ptr(),
        _ => ptr::null(),
    }
}

/// Others are used by their own.
unsafe extern "C" fn own_name(_: c_int) -> *const c_char {
    ptr::null()
}

/// What keys of curves are imported from and exported to.
unsafe extern "C" fn ec_types(selection: c_int) -> *const Param {
    if selection == 0 {
        return ptr::null();
    }
    described!(
        c"group" text_value, c"encoding" text_value, c"point-format" text_value,
        c"field-type" text_value, c"p" number, c"a" number, c"b" number, c"generator" octets,
        c"order" number, c"cofactor" number, c"seed" octets, c"pub" octets, c"priv" number,
        c"use-cofactor-flag" integer, c"include-public" integer,
    )
}

/// The same of others.
unsafe extern "C" fn octets_types(selection: c_int) -> *const Param {
    if selection & PAIR == 0 {
        return ptr::null();
    }
    described!(c"pub" octets, c"priv" octets)
}
