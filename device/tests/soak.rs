//! Very many requests with pauses on both sides, so that both sleep and are woken in every order: a
//! million, and a hundred million with `LANECRYPT_LONG`.
#![cfg(target_os = "linux")]

mod daemon;

use core::hint::spin_loop;
use core::time::Duration;
use std::path::PathBuf;
use std::thread;

use daemon::Running;
use lanecrypt_device::{Client, Message, Server, Settings};
use lanecrypt_engine::Algorithm;
use lanecrypt_testing::numbers::Numbers;

/// Submits requests, and checks that each comes back once.
fn drive(path: PathBuf, seed: u64, requests: u64, spin: Duration) {
    let settings = Settings::default().depth(64).arena(1 << 13).spin(spin);
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
        // Short and long pauses, before and after the daemon is told.
        pause(&mut numbers);
        client.flush();
        pause(&mut numbers);
        let wanted = numbers.below(2 * batch);
        for _ in 0..wanted {
            let Some(done) = client.wait().expect("it lives") else { break };
            assert_eq!((done.user, done.outcome), (back, Ok(())), "they come in order");
            assert_eq!(done.buffer, back.to_le_bytes().repeat(3));
            back += 1;
        }
        // A machine that is busy with other things may stop the daemon between publishing and waking.
        let overslept = client.overslept();
        assert!(overslept <= 20 + back / 10_000, "{overslept} of {back} wake-ups were lost");
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
        let daemon = Running::new(Server::new().allow_null().spin(spin));
        let clients = [1, 2].map(|seed| {
            let path = daemon.path();
            thread::spawn(move || drive(path, seed, all / 4, spin))
        });
        for client in clients {
            client.join().expect("its answers are right");
        }
    }
}
