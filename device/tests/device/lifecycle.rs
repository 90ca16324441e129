//! Daemons and clients come and go: exact errors, and no residue.

use core::time::Duration;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread;

use lanecrypt_device::{
    BindError, Client, ConnectError, Error, Key, KeyError, Limits, Message, NonceSource, Placement,
    RejectReason, Server, Settings,
};
use lanecrypt_engine::{Algorithm, Engine, Operation};
use lanecrypt_testing::numbers::cases;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, setrlimit};
use zeroize::Zeroizing;

use crate::daemon::children::{self, kill, spawn};
use crate::daemon::{Folder, Running, until};

/// The test that child processes run.
const CHILD: &str = "lifecycle::child";

/// Not a test by itself: what the child processes of the tests below run.
#[test]
fn child() {
    let Some((role, path)) = children::role() else { return };
    match &role[..] {
        "daemon" => serve(&path),
        "poor daemon" => {
            let limit = Rlimit { current: Some(24), maximum: Some(24) };
            setrlimit(Resource::Nofile, limit).expect("it may be lowered");
            serve(&path);
        }
        "worker" => work(&path),
        "victim" => loop {
            // It always has messages in flight.
            let mut client: Client = Client::connect(&path).expect("it listens");
            let session = client.generated_session(Algorithm::AES_128_CTR).expect("entropy");
            for _ in 0..1000 {
                while client.submit(Message::encrypt(session, [0; 16], vec![0; 500])).is_ok() {}
                client.wait().expect("it lives");
            }
        },
        other => panic!("{other}"),
    }
}

fn serve(path: &PathBuf) {
    let prepared = Server::new().allow_null().prepare().expect("no keys");
    prepared.bind(path).expect("nobody is there").run().expect("it can wait");
}

/// What the request of this number is made of.
fn plain(user: u64) -> Vec<u8> {
    user.to_le_bytes().repeat(2 * (2 + usize::from(user.to_le_bytes()[0] % 5)))
}

/// How often a worker submits requests.
fn rounds() -> u32 {
    cases(60_u32).min(10_000)
}

/// A client with checked answers.
fn work(path: &PathBuf) {
    let mut client: Client = Client::connect(path).expect("it listens");
    let engine = Engine::new();
    let key: [u8; 16] = lanecrypt_random::bytes();
    let rows = [Algorithm::AES_128_GCM, Algorithm::AES_128_CBC];
    let sessions = rows.map(|row| client.session(row, &key).expect("it is a key"));
    let sealing = engine.session(rows[0], &key).expect("it is a key");
    let chaining = engine.raw_session(rows[1], &key).expect("it is a key");
    for round in 0..rounds() {
        for user in 0..64 {
            let buffer = plain(user);
            let mut nonce = [0; 16];
            nonce[..4].copy_from_slice(&round.to_le_bytes());
            let message = match user % 2 {
                0 => Message::seal(sessions[0], nonce[..12].to_vec(), buffer),
                _ => Message::encrypt(sessions[1], nonce.to_vec(), buffer),
            };
            client.submit(message.with_user(user)).expect("there is room");
        }
        let mut seen = 0;
        while let Some(done) = client.wait().expect("it lives") {
            done.outcome.expect("it is served");
            let mut expected = plain(done.user);
            let mut nonce = [0; 16];
            nonce[..4].copy_from_slice(&round.to_le_bytes());
            match done.user % 2 {
                0 => sealing.seal(&nonce[..12], &[], &mut expected).expect("it is served"),
                _ => chaining.encrypt(&nonce, &mut expected[..]).expect("it is served"),
            }
            assert_eq!(done.buffer, expected);
            seen += 1;
        }
        assert_eq!(seen, 64);
    }
}

/// What the kernel says about each thread of a process in the line of this name.
fn lines(child: &Child, name: &str) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{}/task", child.id())).expect("it runs");
    let line = |task: std::io::Result<fs::DirEntry>| {
        let path = task.expect("it can be read").path().join("status");
        let status = fs::read_to_string(path).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(":\t"));
        line.expect("the kernel says it").to_owned()
    };
    tasks.map(line).collect()
}

/// Whether each thread of a process is in this state: `S` if it sleeps, `T` if it is stopped.
fn all_are(child: &Child, state: char) -> bool {
    lines(child, "State").iter().all(|line| line.starts_with(state))
}

/// Connects as soon as there is a daemon.
fn connect(path: &PathBuf) -> Client {
    loop {
        match Client::connect(path) {
            Ok(client) => return client,
            Err(ConnectError::NoSocket(_) | ConnectError::NoDaemon(_)) => {
                thread::sleep(Duration::from_millis(1));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Waits until the daemon has no clients and no sessions.
fn until_empty(path: &Path) {
    until(|| {
        let statistics = crate::daemon::statistics(path);
        (statistics.clients, statistics.sessions) == (0, 0)
    });
}

#[test]
fn many_client_processes() {
    let daemon = Running::new(Server::new());
    for processes in [2, 4, 16] {
        let children: Vec<Child> =
            (0..processes).map(|_| spawn(CHILD, "worker", &daemon.path())).collect();
        for mut child in children {
            assert!(child.wait().expect("it was started here").success());
        }
    }
    until_empty(&daemon.path());
    let statistics = crate::daemon::statistics(&daemon.path());
    assert_eq!((statistics.requests, statistics.failed), (22 * 64 * u64::from(rounds()), 0));
    assert!(statistics.batches > 0 && statistics.lane_utilization() >= 1.0);
    assert!(statistics.latency(0.99) >= statistics.latency(0.5));
}

#[test]
fn a_killed_client_leaves_nothing() {
    let folder = Folder::new();
    let path = folder.socket();
    let mut daemon = spawn(CHILD, "daemon", &path);
    let mut other = connect(&path);
    let session = other.generated_session(Algorithm::AES_128_GCM).expect("there is entropy");
    let files = format!("/proc/{}/fd", daemon.id());
    let descriptors = || fs::read_dir(&files).expect("it runs").count();
    let before = descriptors();
    for round in 0..cases(10_u64).min(500) {
        let mut victim = spawn(CHILD, "victim", &path);
        until(|| crate::daemon::statistics(&path).clients == 2);
        thread::sleep(Duration::from_millis(round % 7));
        kill(&mut victim);
        other.seal(session, &[0; 12], &[], &mut [0; 100]).expect("others are served");
        until(|| crate::daemon::statistics(&path).clients == 1);
    }
    assert_eq!(crate::daemon::statistics(&path).sessions, 1);
    // The connections that have asked are forgotten as well.
    until(|| descriptors() <= before);
    kill(&mut daemon);
}

#[test]
fn a_killed_daemon_is_an_error_and_another_takes_its_place() {
    let folder = Folder::new();
    let path = folder.socket();
    for _ in 0..cases(5).min(200) {
        // Its socket stays behind, and is replaced.
        let mut daemon = spawn(CHILD, "daemon", &path);
        let mut client = connect(&path);
        let session = client.generated_session(Algorithm::AES_128_GCM).expect("entropy");
        client.seal(session, &[0; 12], &[], &mut [0; 32]).expect("it is served");
        // It does not answer any more, but lives.
        let id = Pid::from_child(&daemon);
        kill_process(id, Signal::STOP).expect("it runs");
        until(|| all_are(&daemon, 'T'));
        for number in 0..5 {
            let message = Message::seal(session, [0; 12], vec![0; 100]).with_user(number);
            client.submit(message).expect("there is room");
        }
        let waiting = thread::spawn(move || {
            let outcome = client.wait().map(|done| done.is_some());
            (client, outcome)
        });
        kill(&mut daemon);
        let (mut client, outcome) = waiting.join().expect("it does not panic");
        assert_eq!(outcome, Err(Error::Disconnected));
        for number in 0..5 {
            let left = client.take_abandoned().expect("five are left");
            assert_eq!((left.user, left.outcome), (number, Err(Error::Disconnected)));
        }
        assert!(client.take_abandoned().is_none());
        assert_eq!(client.seal(session, &[0; 12], &[], &mut [0; 32]), Err(Error::Disconnected));
        assert_eq!(client.generated_session(Algorithm::AES_128_GCM), Err(Error::Disconnected));
        let gone = Client::<Vec<u8>>::connect(&path);
        assert!(matches!(gone, Err(ConnectError::NoDaemon(_))), "{gone:?}");
    }
}

#[test]
fn who_only_polls_learns_it_too() {
    let mut daemon = Running::new(Server::new());
    let mut client = connect(&daemon.path());
    let session = client.generated_session(Algorithm::AES_128_GCM).expect("entropy");
    daemon.stop();
    client.submit(Message::seal(session, [0; 12], vec![0; 100])).expect("there is room");
    let outcome = loop {
        match client.poll() {
            Ok(None) => thread::sleep(Duration::from_millis(1)),
            other => break other.map(|_| ()),
        }
    };
    assert_eq!(outcome, Err(Error::Disconnected));
    assert!(fs::symlink_metadata(daemon.path()).is_err(), "the socket is removed");
}

#[test]
fn what_was_submitted_before_the_end_is_answered() {
    let mut daemon = Running::new(Server::new());
    let mut client = connect(&daemon.path());
    let session = client.generated_session(Algorithm::AES_128_GCM).expect("entropy");
    for _ in 0..200 {
        client.submit(Message::seal(session, [0; 12], vec![0; 100])).expect("there is room");
    }
    client.flush();
    daemon.stop();
    let mut answered = 0;
    while let Ok(Some(done)) = client.wait() {
        done.outcome.expect("it is served");
        answered += 1;
    }
    assert_eq!(answered, 200);
}

#[test]
fn one_daemon_at_a_path() {
    let daemon = Running::new(Server::new());
    let bind = |path: &PathBuf| Server::new().prepare().expect("no keys").bind(path).map(drop);
    let second = bind(&daemon.path());
    assert!(matches!(second, Err(BindError::Taken(_))), "{second:?}");
    connect(&daemon.path()).generated_session(Algorithm::AES_128_GCM).expect("it still serves");

    let folder = Folder::new();
    fs::write(folder.socket(), "precious").expect("it can be written");
    let refused = bind(&folder.socket());
    assert!(matches!(refused, Err(BindError::NotASocket(_))), "{refused:?}");
    assert_eq!(fs::read_to_string(folder.socket()).expect("it stays"), "precious");

    let long = PathBuf::from("/tmp").join("x".repeat(103));
    assert!(matches!(bind(&long), Err(BindError::PathTooLong(_))));
    let connected = Client::<Vec<u8>>::connect(&long);
    assert!(matches!(connected, Err(ConnectError::PathTooLong(_))));
    let missing = folder.socket().join("below");
    assert!(matches!(bind(&missing), Err(BindError::NoDirectory(_))));
    let missing = PathBuf::from("/nowhere/at/all");
    assert!(matches!(bind(&missing), Err(BindError::NoDirectory(_))));
    let connected = Client::<Vec<u8>>::connect(&missing);
    assert!(matches!(connected, Err(ConnectError::NoSocket(_))));

    // Another kind of socket.
    let folder = Folder::new();
    let other = std::os::unix::net::UnixListener::bind(folder.socket()).expect("it is free");
    let connected = Client::<Vec<u8>>::connect(folder.socket());
    assert!(matches!(connected, Err(ConnectError::NotADaemon(_))), "{connected:?}");
    assert!(matches!(bind(&folder.socket()), Err(BindError::Taken(_))));
    drop(other);
}

#[test]
fn a_daemon_without_descriptors_says_so() {
    let folder = Folder::new();
    let path = folder.socket();
    let mut daemon = spawn(CHILD, "poor daemon", &path);
    let mut clients = vec![connect(&path)];
    let refused = loop {
        match Client::<Vec<u8>>::connect(&path) {
            Ok(client) => clients.push(client),
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, ConnectError::Refused(RejectReason::Descriptors)), "{refused}");
    assert!(clients.len() > 3);
    // Those that are connected are served, and when one goes another may come.
    let session = clients[0].generated_session(Algorithm::AES_128_GCM).expect("entropy");
    clients[0].seal(session, &[0; 12], &[], &mut [0; 32]).expect("it is served");
    clients.pop();
    clients.pop();
    until(|| Client::<Vec<u8>>::connect(&path).is_ok());
    kill(&mut daemon);
}

#[test]
fn limits_are_kept() {
    let limits = Limits { clients: 2, sessions: 3, arena: 1 << 13, ..Limits::default() };
    let daemon = Running::new(Server::new().limits(limits));
    let settings = Settings::default().arena(1 << 20);
    let mut client: Client = Client::connect_with(daemon.path(), &settings).expect("it listens");
    assert_eq!(client.longest(), 1 << 13);
    let _second = connect(&daemon.path());
    let refused = Client::<Vec<u8>>::connect(daemon.path());
    assert!(matches!(refused, Err(ConnectError::Refused(RejectReason::Clients))), "{refused:?}");

    let mut open = || client.session(Algorithm::AES_128_GCM, &[1; 16]);
    let first = open().expect("there is room");
    assert!(open().is_ok() && open().is_ok());
    assert_eq!(open(), Err(Error::Denied(RejectReason::Sessions)));
    client.close(first).expect("it is open");
    let second = client.session(Algorithm::AES_128_GCM, &[1; 16]).expect("there is room");
    client.close(second).expect("it is open");

    let denied = |outcome: Result<_, Error>| outcome.map(|_: lanecrypt_device::Session| ());
    let null = client.session(Algorithm::NULL, &[]);
    assert_eq!(denied(null), Err(Error::Denied(RejectReason::Null)));
    let short = client.session(Algorithm::AES_128_GCM, &[1; 15]);
    assert_eq!(denied(short), Err(Error::Denied(RejectReason::KeyLength)));
    let weak = client.session(Algorithm::AES_128_XTS, &[1; 32]);
    assert_eq!(denied(weak), Err(Error::Denied(RejectReason::WeakKey)));
}

#[test]
fn named_keys_are_for_some_users_and_operations() {
    let own = rustix::process::geteuid().as_raw();
    let secret = [0xd7; 32];
    let key = |name: &str| Key::new(name, Algorithm::AES_256_GCM, Zeroizing::new(secret.to_vec()));
    let keys = vec![
        key("whole").with_nonces(NonceSource::Client),
        key("opening").for_operations([Operation::Open]),
        key("mine").for_users([own]),
        key("others").for_users([own + 1]),
    ];
    let daemon = Running::new(Server::new().keys(keys));
    let mode = fs::metadata(daemon.path()).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o666, "a key is for others, too");
    let mut client = connect(&daemon.path());
    let whole = client.named_session("whole").expect("it is for everything");
    assert_eq!(whole.algorithm(), Some(Algorithm::AES_256_GCM));
    let opening = client.named_session("opening").expect("it is for this user");
    assert!(client.named_session("mine").is_ok());
    for name in ["others", "", "wholes"] {
        assert_eq!(client.named_session(name), Err(Error::Denied(RejectReason::Name)));
    }
    let mut packet = [3; 40 + 16];
    let refused = client.seal(opening, &[0; 12], &[], &mut packet);
    assert_eq!((refused, packet), (Err(Error::NotAllowed), [3; 56]));
    client.seal(whole, &[0; 12], &[], &mut packet).expect("it is allowed");
    let mut expected = [3; 40 + 16];
    let session = Engine::new().session(Algorithm::AES_256_GCM, &secret).expect("it is a key");
    session.seal(&[0; 12], &[], &mut expected).expect("it is served");
    assert_eq!(packet, expected);
    assert_eq!(client.open(opening, &[0; 12], &[], &mut packet).expect("authentic"), [3; 40]);
    assert_eq!(crate::daemon::statistics(&daemon.path()).named_keys, 4);

    let twice = Server::new().keys(vec![key("one"), key("one")]).prepare().map(drop);
    assert_eq!(twice, Err(KeyError::Taken(String::from("one"))));
    for operation in [Operation::Encrypt, Operation::Sign] {
        let key = key("one").for_operations([Operation::Seal, operation]);
        let refused = Server::new().keys(vec![key]).prepare().map(drop);
        assert_eq!(refused, Err(KeyError::Operation(String::from("one"), operation)));
    }
    let short = Key::new("short", Algorithm::AES_256_GCM, Zeroizing::new(vec![1; 31]));
    let error = Server::new().keys(vec![short]).prepare().map(drop).expect_err("too short");
    assert_eq!(error.to_string(), "key short: wrong key length");
}

#[test]
fn other_users_are_refused() {
    if !rustix::process::geteuid().is_root() {
        println!("SKIPPED device-other-users: run as root");
        return;
    }
    let as_user = |user: u32, path: PathBuf| {
        // Only this thread becomes another user.
        let thread = thread::spawn(move || {
            let user = rustix::process::Uid::from_raw(user);
            rustix::thread::set_thread_uid(user).expect("root may");
            Client::<Vec<u8>>::connect(path).map(drop)
        });
        thread.join().expect("it does not panic")
    };
    let daemon = Running::new(Server::new());
    let mode = fs::metadata(daemon.path()).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let refused = as_user(65_534, daemon.path());
    assert!(matches!(refused, Err(ConnectError::Forbidden(_))), "{refused:?}");
    let daemon = Running::new(Server::new().users(vec![65_533]));
    let refused = as_user(65_534, daemon.path());
    assert!(
        matches!(refused, Err(ConnectError::Refused(RejectReason::User(65_534)))),
        "{refused:?}"
    );
    as_user(65_533, daemon.path()).expect("it is allowed");
}

#[test]
fn placements() {
    let allowed = rustix::thread::sched_getaffinity(None).expect("it is known");
    let first = (0..).find(|&at| allowed.is_set(at)).expect("there is one");
    let first = u32::try_from(first).expect("it is small");
    for placement in
        [Placement::Auto, Placement::Same, Placement::Other, Placement::Processor(first)]
    {
        let daemon = Running::new(Server::new().placement(placement));
        let mut client = connect(&daemon.path());
        let session = client.generated_session(Algorithm::AES_128_GCM).expect("entropy");
        client.seal(session, &[0; 12], &[], &mut [0; 32]).expect("it is served");
    }
    let folder = Folder::new();
    let server = Server::new().placement(Placement::Processor(1023));
    let mut daemon = server.prepare().expect("no keys").bind(folder.socket()).expect("free");
    assert_eq!(daemon.run().expect_err("no such one").kind(), std::io::ErrorKind::NotFound);
}

#[test]
fn an_idle_daemon_sleeps() {
    let folder = Folder::new();
    let path = folder.socket();
    let mut daemon = spawn(CHILD, "daemon", &path);
    let mut clients: Vec<Client> = (0..4).map(|_| connect(&path)).collect();
    for client in &mut clients {
        let session = client.generated_session(Algorithm::AES_128_GCM).expect("entropy");
        client.seal(session, &[0; 12], &[], &mut [0; 32]).expect("it is served");
    }
    // It sleeps as soon as it has nothing to do, and then until somebody needs it. If the whole
    // program is stopped and resumed, which a busy machine may do, it looks once.
    let switches = || lines(&daemon, "voluntary_ctxt_switches");
    let sleeps_on = || {
        until(|| all_are(&daemon, 'S'));
        let before = switches();
        thread::sleep(Duration::from_millis(500));
        switches() == before
    };
    assert!((0..20).any(|_| sleeps_on()), "it wakes again and again: {:?}", switches());
    kill(&mut daemon);
}
