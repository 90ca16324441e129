//! Hostile clients of `lanecrypt serve`, which are processes of their own.
//!
//! The short form asserts no times, but the order of answers: what a neighbour gets before the
//! hostile client has got more than a certain number of its own: as many as it gets in some seconds
//! on a busy machine. The long form measures for ten seconds, and prints a line for each attack:
//!
//! ```sh
//! LANECRYPT_LONG=1 cargo test -p lanecrypt-cli --release --test program attack -- \
//!     --nocapture --test-threads 1
//! ```

mod children;
mod daemon;
mod ends;
mod group;
mod limits;
mod measure;
mod roles;

use self::measure::Attack;

/// The answers that a neighbour gets while a request for 16 MiB is answered.
const LEAST: u64 = 8;

#[test]
fn requests_for_16_mib_of_random_bytes() {
    Attack {
        name: "fills",
        roles: &[("fills", 0)],
        answers: 16 * LEAST,
        within: 600,
        queued: Some(128),
    }
    .run();
}

#[test]
fn a_client_at_full_load() {
    let roles = &[("honest", 0)];
    Attack { name: "polite-1", roles, answers: 100, within: 1_000_000, queued: None }.run();
}

#[test]
fn six_clients_at_full_load() {
    let roles = &[("honest", 0); 6];
    Attack { name: "polite-6", roles, answers: 100, within: 2_000_000, queued: None }.run();
}

#[test]
fn pages_that_vanish() {
    // A request has 1 MiB.
    let roles = &[("holes", 0)];
    Attack { name: "holes", roles, answers: 16 * LEAST, within: 8192, queued: None }.run();
}

#[test]
fn requests_that_cannot_succeed() {
    let roles = &[("doomed", 0)];
    Attack { name: "doomed", roles, answers: 100, within: 1_000_000, queued: None }.run();
}

#[test]
fn long_messages() {
    let roles = &[("long", 0)];
    Attack { name: "long", roles, answers: 4 * LEAST, within: 16, queued: Some(128) }.run();
}

#[test]
fn descriptors_that_take_long_to_close() {
    let roles = &[("linger", 0)];
    Attack { name: "linger", roles, answers: 100, within: 64, queued: None }.run();
}

#[test]
fn as_many_sessions_as_there_may_be() {
    let roles = &[("sessions", 26)];
    Attack { name: "sessions", roles, answers: 100, within: 20_000, queued: None }.run();
}

#[test]
fn the_longest_arenas() {
    let roles = &[("arenas", 26)];
    Attack { name: "arenas", roles, answers: 100, within: 200, queued: None }.run();
}

#[test]
fn clients_that_connect_and_disconnect() {
    let roles = &[("connections", 0)];
    Attack { name: "connections", roles, answers: 100, within: 20_000, queued: None }.run();
}

#[test]
fn clients_that_say_nothing() {
    let roles = &[("silent", 300)];
    Attack { name: "silent", roles, answers: 100, within: 5000, queued: None }.run();
}

#[test]
fn places_that_are_all_but_taken() {
    // One place is the neighbour's, and one is left.
    let roles = &[("greeted", 254)];
    Attack { name: "greeted", roles, answers: 100, within: 0, queued: None }.run();
}

#[test]
fn packets_without_end() {
    let roles = &[("packets", 0)];
    Attack { name: "packets", roles, answers: 100, within: 50_000, queued: None }.run();
}
