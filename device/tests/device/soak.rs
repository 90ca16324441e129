//! Very many requests with pauses on both sides, so that both sleep and are woken in every order: a
//! million, and a hundred million with `LANECRYPT_LONG`.
//!
//! Nobody looks by itself whether there is something, so that a wake-up that is lost is the end.

use core::hint::spin_loop;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use lanecrypt_device::{Client, Message, Server, Settings};
use lanecrypt_engine::Algorithm;
use lanecrypt_testing::numbers::Numbers;

use crate::daemon::{Limit, Running};

/// Submits requests, and checks that each comes back once. It counts those of all clients.
fn drive(path: PathBuf, seed: u64, requests: u64, spin: Duration, all: &AtomicU64) {
    let settings = Settings::default().depth(64).arena(1 << 13).spin(spin).max_sleep(Duration::MAX);
    let mut client = Client::connect_with(path, &settings).expect("it listens");
    let session = client.session(Algorithm::NULL, &[]).expect("it is allowed");
    let mut numbers = Numbers(seed);
    let (mut made, mut back) = (0_u64, 0_u64);
    while back < requests {
        let longest = if numbers.below(3) == 0 { 64 } else { 3 };
        let batch = 1 + numbers.below(longest);
        for _ in 0..batch {
            let message =
                Message::encrypt(session, [], made.to_le_bytes().repeat(3)).with_user(made);
            if made == requests || client.submit(message).is_err() {
                break;
            }
            made += 1;
        }
        // Short and long pauses, before and after the daemon is notified.
        pause(&mut numbers);
        client.flush();
        pause(&mut numbers);
        let wanted = numbers.below(2 * batch);
        for _ in 0..wanted {
            let Some(done) = client.wait().expect("it lives") else { break };
            assert_eq!((done.user, done.outcome), (back, Ok(())), "they come in order");
            assert_eq!(done.buffer, back.to_le_bytes().repeat(3));
            back += 1;
            all.fetch_add(1, Ordering::Relaxed);
        }
    }
    assert_eq!((made, client.in_flight()), (requests, 0));
}

fn pause(numbers: &mut Numbers) {
    match numbers.below(64) {
        0 => thread::sleep(Duration::from_micros(numbers.below(30) as u64)),
        1..8 => thread::yield_now(),
        8..24 => (0..numbers.below(2000)).for_each(|_| spin_loop()),
        _ => {}
    }
}

#[test]
fn no_wake_up_is_lost() {
    let all = if std::env::var_os("LANECRYPT_LONG").is_some() { 100_000_000 } else { 1_000_000 };
    for spin in [0, 20] {
        let spin = Duration::from_micros(spin);
        let steps = Arc::new(AtomicU64::new(0));
        let seen = steps.clone();
        // Requests come back again and again, or not at all.
        let limit = Limit::watch(120, move || seen.load(Ordering::Relaxed));
        let daemon = Running::within(Server::new().allow_null().spin(spin), limit);
        let clients = [1, 2].map(|seed| {
            let (path, steps) = (daemon.path(), steps.clone());
            thread::spawn(move || drive(path, seed, all / 4, spin, &steps))
        });
        for client in clients {
            client.join().expect("its answers are right");
        }
        assert_eq!(steps.load(Ordering::Relaxed), all / 2);
    }
}
