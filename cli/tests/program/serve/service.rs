//! What the service manager hears.

use std::os::unix::net::UnixDatagram;

use rustix::process::{Pid, Signal, kill_process};

use super::{end, secret, serve_by};
use crate::support::{Folder, lanecrypt};

/// Receives messages until one has this line; returns it.
fn hears(manager: &UnixDatagram, line: &str) -> String {
    let mut room = [0; 4096];
    loop {
        let length = manager.recv(&mut room).expect("it is open");
        let message = String::from_utf8_lossy(room.get(..length).expect("it fits")).into_owned();
        if message.lines().any(|other| other == line) {
            return message;
        }
    }
}

#[test]
fn the_manager_hears_of_each_change() {
    let folder = Folder::new("serve-manager");
    let (socket, path) = (folder.path("socket"), folder.path("manager"));
    let manager = UnixDatagram::bind(&path).expect("it is new");
    secret(&folder, "key", &[7; 32]);
    let text = "[[key]]\nname = \"k\"\nfile = \"key\"\nalgorithm = \"aes-256-gcm\"\n";
    let config = secret(&folder, "config.toml", text.as_bytes());
    let mut command = lanecrypt(&["serve", "--socket", &socket, "--config", &config]);
    command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "200000").env_remove("WATCHDOG_PID");
    let daemon = serve_by(command);
    hears(&manager, "READY=1");
    hears(&manager, "WATCHDOG=1");
    kill_process(Pid::from_child(&daemon), Signal::HUP).expect("it runs");
    assert!(hears(&manager, "RELOADING=1").contains("MONOTONIC_USEC="));
    hears(&manager, "READY=1");
    hears(&manager, "WATCHDOG=1");
    end(daemon);
    hears(&manager, "STOPPING=1");
}
