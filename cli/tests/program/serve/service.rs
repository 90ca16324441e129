//! What the service manager hears.

use core::time::Duration;
use std::fs;
use std::io::{BufRead as _, BufReader, Lines};
use std::os::unix::net::UnixDatagram;
use std::process::{ChildStderr, Command, Stdio};

use lanecrypt_device::Client;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with,
};
use rustix::process::{Pid, Signal, kill_process};

use super::{end, secret, serve_by};
use crate::support::{Folder, errors, lanecrypt, shell};

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

/// The next line with this event.
fn event(lines: &mut Lines<BufReader<ChildStderr>>, name: &str) -> String {
    let begins = format!("lanecrypt: {name}");
    let found = lines.map_while(Result::ok).find(|line| line.starts_with(&begins));
    found.unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn a_reload_replaces_keys_unless_the_settings_are_wrong() {
    let folder = Folder::new("serve-reload");
    let socket = folder.path("socket");
    let key = |name: &str| {
        format!("[[key]]\nname = \"{name}\"\nfile = \"{name}\"\nalgorithm = \"aes-256-gcm\"\n")
    };
    secret(&folder, "old", &[7; 32]);
    secret(&folder, "new", &[8; 32]);
    // More than there is: the daemon takes what it has, also when it reads the settings again.
    let limits = format!("[limits]\nmemory = {}\n", 1_u64 << 62);
    let text = key("old") + &limits;
    secret(&folder, "config.toml", text.as_bytes());
    let memory = || {
        let found = Client::<Vec<u8>>::statistics(&socket, Duration::from_secs(60));
        found.expect("it listens").memory_limit
    };
    // A relative path, which the sandbox must let it read again.
    let mut command = lanecrypt(&["serve", "--socket", &socket, "--config", "config.toml"]);
    command.current_dir(folder.path(""));
    let mut daemon = command.stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut lines = BufReader::new(daemon.stderr.take().expect("a pipe")).lines();
    event(&mut lines, "serving at ");
    let mut client: Client = Client::connect(&socket).expect("it listens");
    let available = memory();
    assert!(available < 1 << 50, "{available}");
    let user = rustix::process::geteuid().as_raw();
    event(&mut lines, &format!("connected client=0 user={user} process="));
    client.named_session("old").expect("it is there");
    let line = event(&mut lines, "session-opened client=0");
    assert!(line.ends_with("key=\"old\" algorithm=\"aes-256-gcm\""), "{line}");
    let hangup = || kill_process(Pid::from_child(&daemon), Signal::HUP).expect("it runs");
    // The old settings stay.
    secret(&folder, "config.toml", (key("old") + "colour = 1").as_bytes());
    hangup();
    let line = event(&mut lines, "reload-failed ");
    assert!(line.contains("config.toml:5: unknown field"), "{line}");
    client.named_session("old").expect("it is still there");
    // Users by name, too, which the sandbox must let it find.
    let text = format!("allow = [\"root\", \"@root\"]\n{}{limits}", key("new"));
    secret(&folder, "config.toml", text.as_bytes());
    hangup();
    event(&mut lines, "reloaded keys=1 ended-sessions=2");
    assert_eq!(memory(), available);
    client.named_session("new").expect("it is new");
    assert!(client.named_session("old\"\n\u{1b}").is_err());
    let line = event(&mut lines, "session-refused ");
    assert!(line.contains("asked=\"old\\\"\\n\\u{1b}\""), "{line}");
    drop(client);
    event(&mut lines, "session-closed client=0");
    event(&mut lines, "disconnected client=0");
    end(daemon);
}

#[test]
fn it_serves_at_the_sockets_of_the_manager() {
    let folder = Folder::new("serve-activated");
    let (path, metrics) = (folder.path("socket"), folder.path("metrics"));
    let kind = SocketType::SEQPACKET;
    let socket = socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None);
    let socket = socket.expect("a socket");
    bind(&socket, &SocketAddrUnix::new(&path).expect("it is short")).expect("it is new");
    listen(&socket, 16).expect("it is bound");
    let streams = std::os::unix::net::UnixListener::bind(&metrics).expect("it is new");
    // A descriptor keeps its number only by the shell.
    let script = "exec 3<&0 4<&1 </dev/null >/dev/null
        LISTEN_PID=$$ LISTEN_FDS=2 exec \"$lanecrypt\" serve";
    let mut command = Command::new("sh");
    command.args(["-c", script]).env("lanecrypt", env!("CARGO_BIN_EXE_lanecrypt"));
    command.env_remove("LANECRYPT_ISA").stdin(socket).stdout(std::os::fd::OwnedFd::from(streams));
    let mut daemon = command.stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut lines = BufReader::new(daemon.stderr.take().expect("a pipe")).lines();
    event(&mut lines, "serving at the socket of the service manager");
    let _client: Client = Client::connect(&path).expect("it listens");
    let text = super::metrics::answer(&metrics, "GET / HTTP/1.0\r\n\r\n");
    assert!(text.contains("\nlanecrypt_clients 1\n"), "{text}");
    end(daemon);
    assert!(fs::metadata(&path).is_ok(), "the manager's socket stays");
    let wrong = shell("LISTEN_FDS=1 exec \"$lanecrypt\" serve 3</dev/null");
    assert_eq!(wrong.status.code(), Some(1));
    assert!(errors(&wrong).contains("socket 0 of the service manager"), "{}", errors(&wrong));
}
