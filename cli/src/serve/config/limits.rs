//! The limits of clients, as the settings write them.

use lanecrypt_device::Limits;
use serde::Deserialize;

/// Limits that the settings change; see [`Limits`].
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenLimits {
    clients: Option<u32>,
    user_clients: Option<u32>,
    sessions: Option<u32>,
    user_sessions: Option<u32>,
    /// In bytes.
    arena: Option<u32>,
    signatures: Option<u32>,
    /// In bytes.
    memory: Option<u64>,
}

impl WrittenLimits {
    pub(super) fn limits(&self) -> Limits {
        let usual = Limits::default();
        let count = |written: Option<u32>, usual| written.map_or(usual, |number| number as usize);
        Limits {
            clients: count(self.clients, usual.clients),
            user_clients: count(self.user_clients, usual.user_clients),
            sessions: count(self.sessions, usual.sessions),
            user_sessions: count(self.user_sessions, usual.user_sessions),
            arena: self.arena.unwrap_or(usual.arena),
            signatures: self.signatures.unwrap_or(usual.signatures),
            memory: self.memory.unwrap_or(usual.memory),
        }
    }
}
