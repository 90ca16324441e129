//! Processes that end or are stopped at any moment: clients, and the daemon.

use core::time::Duration;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use lanecrypt_device::{Client, Error, Message, Settings};
use lanecrypt_engine::Algorithm;
use lanecrypt_testing::numbers::Numbers;
use rustix::process::Signal;

use super::children::Spawned;
use super::daemon::{Daemon, is_long};
use super::measure::Attack;

#[test]
fn killed_clients_leave_nothing_behind() {
    const WARM: u64 = 10;
    let daemon = Daemon::new("killed");
    let neighbour = daemon.attacked_by("honest", 0);
    let mut numbers = Numbers(31);
    let mut kill = |round: u64| {
        let mut victim = daemon.attacked_by("victim", round);
        thread::sleep(Duration::from_micros(numbers.below(5000) as u64));
        victim.kill();
    };
    let state = || {
        daemon.until("the end of the clients", || daemon.statistics().clients == 1);
        let sessions = daemon.statistics().sessions;
        // The connections that asked are closed soon.
        let descriptors = (0..100).map(|_| {
            thread::sleep(Duration::from_millis(1));
            daemon.descriptors()
        });
        (descriptors.min().flatten(), sessions)
    };
    (0..WARM).for_each(&mut kill);
    let (before, resident) = (state(), daemon.resident());
    let rounds = if is_long() { 1000 } else { 50 };
    (0..rounds).for_each(&mut kill);
    let (after, grown) = (state(), daemon.resident().saturating_sub(resident));
    println!("killed: {rounds} clients, {grown} KiB more, descriptors and sessions {after:?}");
    assert!(after <= before, "descriptors and sessions: {before:?}, then {after:?}");
    assert!(grown <= 1024, "{grown} KiB more");
    let answers = neighbour.done();
    daemon.until("the neighbour", || neighbour.done() > answers);
    daemon.end();
}

#[test]
fn signatures_that_wait_do_not_delay_the_end() {
    if is_long() {
        let roles = &[("signatures", 1)];
        Attack { name: "signatures", roles, answers: 0, within: 0, queued: None }.run();
    }
    let daemon = Daemon::new("signatures");
    let neighbour = daemon.attacked_by("honest", 0);
    let mut hostile = daemon.attacked_by("signatures", 0);
    let answers = neighbour.done();
    daemon.until("the neighbour", || neighbour.done() >= answers + 100);
    daemon.signal(Signal::TERM);
    let begun = Instant::now();
    daemon.until("SIGTERM", || daemon.status().is_some());
    let took = begun.elapsed();
    daemon.until("the end of the attack", || hostile.check_ended());
    let done = hostile.done();
    println!("signatures: {done} of 768 were answered, SIGTERM to exit {took:.1?}");
    assert!(done < 768 / 2, "{done} of 768 signatures were made before the end");
    assert!(daemon.status().is_some_and(|status| status.success()), "{}", daemon.said());
}

/// A client with many messages in flight, until the daemon has ended. It checks that they come in
/// order, each once, and with the right content. Returns when it got to know of the end.
fn waits(daemon: &Daemon, has_begun: &Barrier) -> Instant {
    let settings = Settings::default().depth(64);
    let mut client = Client::connect_with(daemon.socket(), &settings).expect("it listens");
    let session = client.session(Algorithm::NULL, &[]).expect("it is allowed");
    let (mut made, mut back) = (0_u64, 0_u64);
    loop {
        while client.in_flight() < 64 {
            let message = Message::encrypt(session, [], made.to_le_bytes().repeat(8));
            if client.submit(message.with_user(made)).is_err() {
                break;
            }
            made += 1;
        }
        match client.wait() {
            Ok(Some(done)) => {
                assert_eq!((done.user, done.outcome), (back, Ok(())), "in order, each once");
                assert_eq!(done.buffer, back.to_le_bytes().repeat(8));
                back += 1;
            }
            Ok(None) => {}
            Err(error) => {
                assert_eq!(error, Error::Disconnected);
                break;
            }
        }
        if back == 1000 {
            has_begun.wait();
        }
    }
    let end = Instant::now();
    let mut left = Vec::new();
    while let Some(abandoned) = client.take_abandoned() {
        left.push(abandoned.user);
    }
    left.sort_unstable();
    assert!(left.into_iter().eq(back..made), "the others are those without an answer");
    end
}

#[test]
fn a_daemon_that_is_stopped_or_killed_loses_no_answer() {
    const WAITERS: usize = 3;
    let daemon = Daemon::new("stopped");
    let has_begun = Barrier::new(WAITERS + 1);
    let (killed, ends) = thread::scope(|scope| {
        let waiters = [(); WAITERS].map(|()| scope.spawn(|| waits(&daemon, &has_begun)));
        has_begun.wait();
        let rounds = if is_long() { 200 } else { 10 };
        for round in 0..rounds {
            daemon.signal(Signal::STOP);
            thread::sleep(Duration::from_millis(round % 16));
            daemon.signal(Signal::CONT);
            thread::sleep(Duration::from_millis(5));
        }
        assert!(daemon.status().is_none(), "it continues");
        let killed = Instant::now();
        daemon.kill();
        let ends = waiters.map(|waiter| waiter.join().expect("its answers are right"));
        (killed, ends)
    });
    let latest = ends.map(|end| end.duration_since(killed)).into_iter().max();
    println!("killed daemon: the last waiter knows it after {latest:.1?} (bar 100ms)");
}

/// Clients of a daemon that does not run: their connections wait, and are served afterwards.
#[test]
fn a_stopped_daemon_serves_those_who_came_meanwhile() {
    let daemon = Daemon::new("paused");
    let neighbour = daemon.attacked_by("honest", 0);
    daemon.signal(Signal::STOP);
    let mut others = [(); 4].map(|()| daemon.child("honest", 0));
    thread::sleep(Duration::from_millis(20));
    let before = neighbour.done();
    daemon.signal(Signal::CONT);
    daemon.until("the others", || others.iter_mut().all(Spawned::check_ready));
    daemon.until("the neighbour", || neighbour.done() > before + 100);
    daemon.end();
}
