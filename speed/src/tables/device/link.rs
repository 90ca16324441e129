//! The connection of a process to a daemon, with its sessions. All rows of a setting share it,
//! because they take turns.

use core::time::Duration;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use lanecrypt_ciphers::Algorithm;
use lanecrypt_device::{Client, Session};
use lanecrypt_peers::Failed;

use super::setting::Setting;

/// Requests that wake the other side. One that has given up looking tries it again after 16 sleeps.
const WAKING: usize = 192;
/// The same where both sides sleep.
const FEW: usize = 4;
/// For how long they are made at most: on a busy machine each takes a time slice.
const LONGEST: Duration = Duration::from_millis(20);

/// A connection to a daemon.
pub(super) struct Link {
    pub(super) client: Client<Box<[u8]>>,
    setting: Setting,
    sessions: BTreeMap<Algorithm, Vec<Session>>,
}

impl Link {
    pub(super) fn connect(socket: &Path, setting: Setting) -> Option<Self> {
        let client = Client::connect_with(socket, &setting.of_client()).ok()?;
        Some(Self { client, setting, sessions: BTreeMap::new() })
    }

    /// A session for each key.
    pub(super) fn sessions(
        &mut self,
        algorithm: Algorithm,
        keys: &[Vec<u8>],
    ) -> Option<Vec<Session>> {
        let open = self.sessions.entry(algorithm).or_default();
        for key in keys.iter().skip(open.len()) {
            open.push(self.client.session(algorithm, key).ok()?);
        }
        open.get(..keys.len()).map(<[Session]>::to_vec)
    }

    /// Makes both sides wait as they do among many requests.
    pub(super) fn wake(&mut self) -> Result<(), Failed> {
        let requests = if self.setting.spin().is_zero() { FEW } else { WAKING };
        let begun = Instant::now();
        for made in 0..requests {
            if made >= FEW && begun.elapsed() > LONGEST {
                break;
            }
            self.client.fill(&mut [0; 16]).or(Err(Failed))?;
        }
        Ok(())
    }
}
