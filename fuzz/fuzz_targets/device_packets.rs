//! Any bytes as packets on the socket of a daemon: the handshake, sessions, keys.

#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use lanecrypt_device::Server;
use lanecrypt_testing::device::random::packets;
use libfuzzer_sys::fuzz_target;

/// The socket of a daemon that is a thread of this process, so that its code is watched, too.
static DAEMON: LazyLock<PathBuf> = LazyLock::new(|| {
    let name = format!("lanecrypt-fuzz-packets-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let prepared = Server::new().allow_null().prepare().expect("there are no keys");
    let mut daemon = prepared.bind(&path).expect("nobody is there");
    std::thread::spawn(move || daemon.run());
    path
});

fuzz_target!(|input: &[u8]| {
    packets(&DAEMON, input);
});
