//! Any bytes as packets on the socket of a daemon, or as requests in its rings.

#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use lanecrypt_device::Server;
use lanecrypt_testing::device::random::{packets, requests};
use libfuzzer_sys::fuzz_target;

/// The socket of a daemon that is a thread of this process, so that its code is watched, too.
static DAEMON: LazyLock<PathBuf> = LazyLock::new(|| {
    let name = format!("lanecrypt-fuzz-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let prepared = Server::new().allow_null().prepare().expect("there are no keys");
    let mut daemon = prepared.bind(&path).expect("nobody is there");
    std::thread::spawn(move || daemon.run());
    path
});

fuzz_target!(|input: &[u8]| {
    match input.split_first() {
        Some((first, rest)) if first % 2 == 0 => packets(&DAEMON, rest),
        Some((_, rest)) => requests(&DAEMON, rest),
        None => {}
    }
});
