//! Other users than the daemon's: who may connect, what each of them may have, and what they see.

use core::time::Duration;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;
use std::thread;

use lanecrypt_device::{
    Client, ConnectError, Error, Key, Limits, RejectReason, Server, Settings, Statistics,
};
use lanecrypt_engine::Algorithm;
use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_gid, set_thread_groups, set_thread_uid};
use zeroize::Zeroizing;

use crate::daemon::{Running, until};

/// Runs as another user, with this group among others.
fn as_user<T: Send + 'static>(
    user: u32,
    group: u32,
    act: impl FnOnce() -> T + Send + 'static,
) -> T {
    // Only this thread becomes another user.
    let thread = thread::spawn(move || {
        set_thread_groups(&[Gid::from_raw(group)]).expect("root may");
        set_thread_gid(Gid::from_raw(65_534)).expect("root may");
        set_thread_uid(Uid::from_raw(user)).expect("root may");
        act()
    });
    thread.join().expect("it does not panic")
}

fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        println!("SKIPPED device-other-users: run as root");
    }
    is_root
}

fn connect(path: &Path) -> Result<Client, ConnectError> {
    Client::connect(path)
}

fn statistics(path: &Path) -> Statistics {
    Client::<Vec<u8>>::statistics(path, Duration::from_secs(60)).expect("it listens")
}

#[test]
fn groups_may_connect_and_use_keys() {
    if !is_root() {
        return;
    }
    let key = Key::new("k", Algorithm::AES_256_GCM, Zeroizing::new(vec![1; 32]));
    let daemon = Running::new(Server::new().keys(vec![key.for_groups([60_001])]));
    let path = daemon.path();
    let meta = fs::metadata(&path).expect("it is there");
    assert_eq!(meta.permissions().mode() & 0o777, 0o660);
    let open = |group| {
        let path = path.clone();
        as_user(60_000, group, move || Ok(connect(&path)?.named_session("k").is_ok()))
    };
    assert!(open(60_001).is_ok_and(|is_open| is_open));
    let refused: Result<bool, ConnectError> = open(60_002);
    assert!(matches!(refused, Err(ConnectError::Forbidden(_))), "{refused:?}");
    // The permissions alone do not admit anybody.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("it is ours");
    let refused = open(60_002);
    let is_refused =
        |it: &Result<bool, _>| matches!(it, Err(ConnectError::Refused(RejectReason::User(60_000))));
    assert!(is_refused(&refused), "{refused:?}");
    // The daemon's own user has no part in the key.
    let own = connect(&path).expect("it is ours").named_session("k");
    assert_eq!(own, Err(Error::Denied(RejectReason::Name)));
}

#[test]
fn no_user_takes_everything() {
    if !is_root() {
        return;
    }
    let limits = Limits { clients: 12, user_clients: 4, user_sessions: 5, ..Limits::default() };
    let daemon = Running::new(Server::new().users(vec![60_000, 60_001, 60_002]).limits(limits));
    let path = daemon.path();
    let take = |user| {
        let path = path.clone();
        as_user(user, 60_000, move || {
            let (mut clients, mut sessions) = (Vec::new(), 0);
            let settings = Settings::default().arena(1 << 12);
            let denied = loop {
                match Client::<Vec<u8>>::connect_with(&path, &settings) {
                    Ok(client) => clients.push(client),
                    Err(ConnectError::Refused(reason)) => break reason,
                    Err(error) => panic!("{error}"),
                }
            };
            let mut reason = None;
            for client in &mut clients {
                for _ in 0..3 {
                    match client.generated_session(Algorithm::AES_128_GCM) {
                        Ok(_) => sessions += 1,
                        Err(error) => reason = Some(error),
                    }
                }
            }
            (clients, sessions, denied, reason)
        })
    };
    let (first, sessions, denied, reason) = take(60_000);
    assert_eq!((first.len(), denied), (4, RejectReason::UserClients));
    assert_eq!((sessions, reason), (5, Some(Error::Denied(RejectReason::UserSessions))));
    let (second, sessions, ..) = take(60_001);
    assert_eq!((second.len(), sessions), (4, 5));
    // A quarter of the places is for the daemon's user.
    let (third, _, denied, _) = take(60_002);
    assert_eq!((third.len(), denied), (1, RejectReason::Clients));
    let mut own: Vec<Client> =
        (0..3).map(|_| connect(&path).expect("there are places for it")).collect();
    let full = connect(&path).map(drop);
    assert!(matches!(full, Err(ConnectError::Refused(RejectReason::Clients))), "{full:?}");
    own[0].fill(&mut [0; 16]).expect("it is served");
    assert_eq!(statistics(&path).clients, 12);
    drop((first, second, third, own));
}

#[test]
fn half_of_the_memory_is_for_one_user() {
    if !is_root() {
        return;
    }
    let limits = Limits { memory: 16 << 20, ..Limits::default() };
    let daemon = Running::new(Server::new().users(vec![60_000]).limits(limits));
    let path = daemon.path();
    let take = |path: &Path| {
        let settings = Settings::default().arena(1 << 20);
        let mut clients = Vec::<Client>::new();
        loop {
            match Client::connect_with(path, &settings) {
                Ok(client) => clients.push(client),
                Err(ConnectError::Refused(reason)) => return (clients, reason),
                Err(error) => panic!("{error}"),
            }
        }
    };
    let at = path.clone();
    let (theirs, reason) = as_user(60_000, 60_000, move || take(&at));
    assert_eq!((theirs.len(), reason), (7, RejectReason::UserMemory));
    let (own, reason) = take(&path);
    assert_eq!((own.len(), reason), (7, RejectReason::Memory));
    let memory = statistics(&path);
    assert!(memory.memory <= memory.memory_limit && memory.memory > 14 << 20, "{memory:?}");
    drop(theirs);
    // What they had is free again.
    until(|| connect(&path).is_ok());
}

#[test]
fn others_see_only_what_is_theirs() {
    if !is_root() {
        return;
    }
    let key = |name: &str| Key::new(name, Algorithm::AES_256_GCM, Zeroizing::new(vec![1; 32]));
    let keys = vec![key("own"), key("theirs").for_users([60_000])];
    let daemon = Running::new(Server::new().keys(keys));
    let path = daemon.path();
    let mut client = connect(&path).expect("it is ours");
    let session = client.generated_session(Algorithm::AES_128_GCM).expect("entropy");
    client.seal(session, &[0; 12], b"", &mut [0; 40]).expect("it is served");
    let at = path.clone();
    let seen = as_user(60_000, 60_000, move || {
        let mut client = connect(&at).expect("it is allowed");
        let _session = client.named_session("theirs").expect("it is for this user");
        statistics(&at)
    });
    assert_eq!((seen.clients, seen.sessions, seen.named_keys), (1, 1, 1));
    assert_eq!((seen.requests, seen.batches, seen.memory_limit), (0, 0, 0));
    let all = statistics(&path);
    assert_eq!((all.named_keys, all.requests), (2, 1));
    assert!(all.memory_limit > 0 && all.sessions >= 1);
    // It is the same for a socket that is somebody else's by mistake.
    chown(&path, Some(60_000), None).expect("root may");
    assert_eq!(statistics(&path).named_keys, 2);
}
