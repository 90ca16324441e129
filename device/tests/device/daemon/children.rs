//! Child processes of a program of tests, which are this program again.

use core::time::Duration;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use lanecrypt_device::{Client, ConnectError, Server};
use rustix::process::{Signal, set_parent_process_death_signal};

/// What a child process is to do, and where.
const ROLE: &str = "LANECRYPT_DEVICE_ROLE";
const SOCKET: &str = "LANECRYPT_DEVICE_SOCKET";

/// What this process is to do, and where, if it is a child: the test that it runs asks for it.
pub(crate) fn role() -> Option<(String, PathBuf)> {
    let role = std::env::var(ROLE).ok()?;
    // It ends with the test that has started it, even if that fails.
    set_parent_process_death_signal(Some(Signal::KILL)).expect("it may be asked for");
    Some((role, PathBuf::from(std::env::var_os(SOCKET).expect("the parent sets it"))))
}

/// Starts a child, which runs this test.
pub(crate) fn spawn(test: &str, role: &str, path: &Path) -> Child {
    let program = std::env::current_exe().expect("it is known");
    Command::new(program)
        .args(["--exact", test, "--quiet"])
        .env(ROLE, role)
        .env(SOCKET, path)
        .stdout(Stdio::null())
        .spawn()
        .expect("it can be run")
}

pub(crate) fn kill(child: &mut Child) {
    child.kill().expect("it runs");
    child.wait().expect("it was started here");
}

/// Serves until it is killed.
pub(crate) fn serve(path: &Path) {
    let prepared = Server::new().prepare().expect("no keys");
    prepared.bind(path).expect("nobody is there").run().expect("it can wait");
}

/// Waits until a daemon listens.
pub(crate) fn until_it_listens(path: &Path) {
    loop {
        match Client::<Vec<u8>>::connect(path) {
            Ok(_) => return,
            Err(ConnectError::NoSocket(_) | ConnectError::NoDaemon(_)) => {
                thread::sleep(Duration::from_millis(1));
            }
            Err(error) => panic!("{error}"),
        }
    }
}
