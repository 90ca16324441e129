//! Signals: they end the daemon, or let it read its settings again.

use std::io;
use std::thread;

use sd_notify::NotifyState;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::Source;
use super::control::Control;
use super::log::{Field, Log};
use super::service;
use crate::process;

/// Signals that are caught, but not handled yet.
#[derive(Debug)]
pub(super) struct Signals {
    caught: signal_hook::iterator::Signals,
    reloads: bool,
}

impl Signals {
    /// Catches SIGTERM, SIGINT and, unless it is ignored, SIGHUP, which reads the settings again;
    /// without settings it ends the daemon, as the end of its terminal does.
    pub(super) fn catch(has_settings: bool) -> Result<Self, String> {
        let hangup = Some(SIGHUP).filter(|&signal| !process::is_ignored(signal));
        let signals = [SIGTERM, SIGINT].into_iter().chain(hangup);
        let caught = signal_hook::iterator::Signals::new(signals)
            .map_err(|error| format!("signals: {error}"))?;
        Ok(Self { caught, reloads: has_settings })
    }

    /// Starts the thread that handles them.
    pub(super) fn start(
        mut self,
        control: Control,
        mut source: Source,
        log: Log,
    ) -> io::Result<()> {
        thread::Builder::new().name("signals".into()).spawn(move || {
            for signal in self.caught.forever() {
                if signal != SIGHUP || !self.reloads {
                    control.stop();
                    continue;
                }
                service::reloading();
                if let Err(reason) = reload(&control, &mut source) {
                    log.event("reload-failed", &[("reason", Field::Sentence(&reason))]);
                }
                service::notify(&[NotifyState::Ready]);
            }
        })?;
        Ok(())
    }
}

/// Reads the settings and the keys, and gives them to the daemon. If something is wrong with them,
/// the old ones stay.
fn reload(control: &Control, source: &mut Source) -> Result<(), String> {
    let (server, _) = source.read()?;
    let prepared = server.prepare().map_err(|error| error.to_string())?;
    control.reload(prepared);
    Ok(())
}
