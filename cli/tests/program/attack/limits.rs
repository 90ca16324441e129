//! Daemons that have little memory or few descriptors, and random requests.

use std::os::unix::process::ExitStatusExt as _;

use lanecrypt_device::{Client, ConnectError, Error, RejectReason, Settings};
use lanecrypt_engine::Algorithm;
use lanecrypt_testing::device::Raw;

use super::children::Cell;
use super::daemon::{Daemon, is_long};
use super::group::Group;

/// A new client gets answers.
fn works(daemon: &Daemon) {
    let mut client: Option<Client> = None;
    // Clients that have ended keep their places until the daemon has seen it.
    daemon.until("a place", || {
        assert!(daemon.status().is_none(), "{:?}: {}", daemon.status(), daemon.said());
        client = Client::connect(daemon.socket()).ok();
        client.is_some()
    });
    let mut client = client.expect("there is a place");
    let session = client.generated_session(Algorithm::AES_128_GCM).expect("there is memory");
    client.seal(session, &[0; 12], b"", &mut [0; 80]).expect("it is served");
}

/// Takes all that the daemon grants, keeps it, and leaves.
fn exhaust(daemon: &Daemon) -> (usize, usize) {
    let (mut clients, mut sessions) = (Vec::new(), 0);
    while clients.len() < 64 {
        let Ok(raw) = Raw::with(&daemon.socket(), 2, 1 << 24) else { break };
        clients.push(raw);
    }
    let most = if is_long() { usize::MAX } else { 2000 };
    for raw in &clients {
        while sessions < most {
            raw.ask((2_u32, "aes-256-gcm", &[1_u8; 32][..]));
            // `Session` is 2.
            if raw.reply().get(10) != Some(&2) {
                break;
            }
            sessions += 1;
        }
    }
    (clients.len(), sessions)
}

#[test]
fn little_memory() {
    let mut failures = Vec::new();
    for mebibytes in [64_u64, 128, 256, 512] {
        let limit = format!("--as={}", mebibytes << 20);
        let daemon = match Daemon::under("memory", &["prlimit", &limit]) {
            Ok(daemon) => daemon,
            // It may have too little for itself, and says so.
            Err(status) => {
                assert_eq!(status.signal(), None, "{mebibytes} MiB: {status}");
                continue;
            }
        };
        let (arenas, sessions) = exhaust(&daemon);
        println!("{mebibytes} MiB: {arenas} arenas of 16 MiB, {sessions} sessions");
        match daemon.status() {
            Some(status) => failures.push(format!("{mebibytes} MiB: {status}: {}", daemon.said())),
            None => {
                works(&daemon);
                daemon.end();
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Takes all memory that the daemon grants, and uses it. Each refusal has the right reason.
fn exhaust_exactly(daemon: &Daemon) -> (usize, usize) {
    let (mut clients, mut sessions) = (Vec::<Client>::new(), 0);
    for arena in [1 << 24, 1 << 20, 1 << 16] {
        let refusal = loop {
            match Client::connect_with(daemon.socket(), &Settings::default().arena(arena)) {
                Ok(client) => clients.push(client),
                Err(refusal) => break refusal,
            }
            assert!(clients.len() < 200, "there is no limit");
        };
        let is_exact = matches!(refusal, ConnectError::Refused(RejectReason::Memory));
        assert!(is_exact, "{refusal:?}: {:?}: {}", daemon.status(), daemon.said());
    }
    let of_client = RejectReason::Sessions;
    for client in &mut clients {
        let refusal = loop {
            match client.generated_session(Algorithm::AES_256_GCM) {
                Ok(_) => sessions += 1,
                Err(refusal) => break refusal,
            }
        };
        match refusal {
            Error::Denied(RejectReason::Memory) => break,
            other => assert_eq!(other, Error::Denied(of_client), "{:?}", daemon.status()),
        }
    }
    // All arenas are in use at the same time.
    std::thread::scope(|scope| {
        for client in &mut clients {
            scope.spawn(|| client.fill(&mut vec![0; client.longest()]).expect("it is served"));
        }
    });
    (clients.len(), sessions)
}

#[test]
fn little_memory_of_a_group() {
    for mebibytes in [32_u64, 64, 256] {
        let group = match Group::new(mebibytes << 20) {
            Ok(group) => group,
            Err(reason) => {
                return println!("SKIPPED memory-group: run the tests as root: {reason}");
            }
        };
        let script = "echo $$ >\"$0\" && exec \"$@\"";
        let starter = ["sh", "-c", script, &group.processes()];
        let daemon = Daemon::under("group", &starter).expect("it is enough to begin");
        for _ in 0..3 {
            let (clients, sessions) = exhaust_exactly(&daemon);
            println!("{mebibytes} MiB: {clients} clients, {sessions} sessions");
            let status = daemon.status();
            assert!(status.is_none(), "{mebibytes} MiB: {status:?}: {}", daemon.said());
            works(&daemon);
        }
        daemon.end();
    }
}

#[test]
fn few_descriptors() {
    let starter = ["prlimit", "--nofile=32"];
    let daemon = Daemon::under("descriptors", &starter).expect("they are enough to begin");
    for _ in 0..3 {
        let mut clients = Vec::new();
        while let Ok(raw) = Raw::with(&daemon.socket(), 2, 4096) {
            clients.push(raw);
            assert!(clients.len() < 32, "each has descriptors");
        }
        assert!(daemon.status().is_none(), "{}", daemon.said());
        drop(clients);
        works(&daemon);
    }
    daemon.end();
}

#[test]
fn random_requests_and_packets() {
    let cases = if is_long() { 10_000_000 } else { 100_000 };
    let daemon = Daemon::new("mutated");
    let neighbour = daemon.attacked_by("honest", 0);
    let mut hostile = daemon.attacked_by("mutated", cases);
    let before = neighbour.done();
    daemon.until("the cases", || {
        assert!(daemon.status().is_none(), "{:?}: {}", daemon.status(), daemon.said());
        hostile.check_ended()
    });
    let (done, refused) = (hostile.done(), hostile.board().get(Cell::Refused));
    let meanwhile = neighbour.done() - before;
    println!("mutated: {done} requests, {refused} refused connections, {meanwhile} of a neighbour");
    assert!(done >= cases);
    works(&daemon);
    let answers = neighbour.done();
    daemon.until("the neighbour", || neighbour.done() > answers + 100);
    daemon.end();
}
