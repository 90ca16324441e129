//! Where a daemon runs, and how it and its clients wait.

use core::time::Duration;

use lanecrypt_device::Settings;
use serde::{Deserialize, Serialize};

use crate::results::Point;

/// Where a daemon runs, and how it and its clients wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Setting {
    /// On the processor of its clients. Both sleep at once: the other needs the processor.
    SameSleep,
    /// On another processor. Both look for long before they sleep.
    OtherSpin,
    /// On another processor. Both sleep at once.
    OtherSleep,
    /// As a daemon and a client are without settings.
    Auto,
    /// A daemon that the user has started.
    Given,
}

/// For how long both sides look if they spin.
const SPIN: Duration = Duration::from_micros(200);
/// The same without settings.
const USUAL: Duration = Duration::from_micros(100);
/// Bytes of an arena: for 128 requests of 8 KiB in flight, or two halves of the longest request.
const ARENA: u32 = 4 << 20;
/// The most requests in flight.
const DEPTH: u32 = 256;

impl Setting {
    /// Those of daemons that the table starts.
    pub(super) const OURS: [Self; 4] =
        [Self::SameSleep, Self::OtherSpin, Self::OtherSleep, Self::Auto];
    /// Those of several processes: who spins keeps others from their processor.
    pub(super) const OF_PROCESSES: [Self; 3] = [Self::SameSleep, Self::OtherSleep, Self::Auto];

    /// The placement and the way of waiting, as the results name them.
    const fn names(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::SameSleep => Some(("same", "sleep")),
            Self::OtherSpin => Some(("other", "spin")),
            Self::OtherSleep => Some(("other", "sleep")),
            Self::Auto => Some(("auto", "auto")),
            Self::Given => None,
        }
    }

    /// The end of ids, and the name of its daemon's socket.
    pub(super) fn suffix(self) -> String {
        match self.names() {
            Some((placement, wait)) => format!("{placement}-{wait}"),
            None => "given".to_owned(),
        }
    }

    /// Enters it into a point.
    pub(super) fn describe(self, point: &mut Point) {
        let names = self.names();
        point.placement = names.map(|(placement, _)| placement.to_owned());
        point.wait = names.map(|(_, wait)| wait.to_owned());
    }

    /// How a client talks with the daemon.
    pub(super) fn of_client(self) -> Settings {
        Settings::default().depth(DEPTH).arena(ARENA).spin(self.spin())
    }

    pub(super) const fn spin(self) -> Duration {
        match self {
            Self::SameSleep | Self::OtherSleep => Duration::ZERO,
            Self::OtherSpin => SPIN,
            Self::Auto | Self::Given => USUAL,
        }
    }

    /// The processors of the daemon.
    pub(super) fn of_daemon(self, all: &[usize]) -> Vec<usize> {
        let at = match self {
            Self::SameSleep => 0..1,
            Self::OtherSpin | Self::OtherSleep => 1..2,
            Self::Auto | Self::Given => 0..all.len(),
        };
        all.get(at).unwrap_or(all).to_vec()
    }

    /// The processors of client processes. The thread that measures is on the first.
    pub(super) fn of_clients(self, all: &[usize]) -> Vec<usize> {
        match self {
            Self::Auto | Self::Given => all.to_vec(),
            _ => all.iter().copied().take(1).collect(),
        }
    }

    /// How many processors the daemon keeps busy beside that of its clients.
    pub(super) const fn helpers(self) -> usize {
        matches!(self, Self::OtherSpin | Self::OtherSleep) as usize
    }

    /// Whether sides that sleep take turns on a processor, so that waiting for it is no
    /// disturbance.
    pub(super) const fn shares(self) -> bool {
        !matches!(self, Self::OtherSpin)
    }
}
