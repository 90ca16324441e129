//! A daemon that can be started, or replaces the settings of one that runs.

use core::time::Duration;

use lanecrypt_engine::Engine;

use super::control::Access;
use super::cost::CostTable;
use super::event::Observer;
use super::placement::Placement;

/// A daemon that has its keys, but no socket yet.
#[derive(Debug)]
pub struct Prepared {
    pub(super) engine: Engine,
    pub(super) costs: CostTable,
    pub(super) access: Access,
    pub(super) spin: Duration,
    pub(super) placement: Placement,
    pub(super) observer: Observer,
}
