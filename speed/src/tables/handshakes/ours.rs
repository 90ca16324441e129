//! Our operations, behind the interface of the peers.

use lanecrypt_peers::{Operation, PublicKey};

use super::work::Keys;

/// An API of ours.
pub(super) const PROCESS: &str = "process";

/// The names of our APIs, the first one compared with the peers.
pub(super) const APIS: &[&str] = &[];

/// The sessions of an operation.
pub(super) fn open(_api: &str, _operation: Operation, _keys: &Keys) -> Option<Box<dyn PublicKey>> {
    None
}
