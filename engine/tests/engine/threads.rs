//! Sessions that threads share give each thread the same results as it would get alone.

use std::sync::Barrier;
use std::thread;

use lanecrypt_engine::Engine;
use lanecrypt_testing::batches::batch::{Rooms, check, random};
use lanecrypt_testing::batches::keys::{algorithms, open, random_keys};
use lanecrypt_testing::batches::numbers::Random;
use lanecrypt_testing::levels;

const THREADS: u64 = 4;

#[test]
fn threads_share_an_engine_and_its_sessions() {
    let keys = random_keys(2, &algorithms(), &mut Random(21));
    for isa in levels() {
        let engine = Engine::with_isa(isa);
        let sessions = open(&engine, &keys);
        let together = Barrier::new(usize::try_from(THREADS).expect("a few"));
        thread::scope(|scope| {
            for seed in 0..THREADS {
                let (keys, engine, sessions, together) = (&keys, &engine, &sessions, &together);
                scope.spawn(move || {
                    let mut numbers = Random(seed);
                    let batches: Vec<_> = (0..50).map(|_| random(keys, &mut numbers)).collect();
                    let mut rooms = Rooms::new(engine);
                    together.wait();
                    for messages in batches {
                        check(engine, sessions, &messages, &mut rooms)
                            .unwrap_or_else(|what| panic!("{}: {what}", isa.level()));
                    }
                });
            }
        });
    }
}

/// Sessions and rooms are sent to another thread and end there.
#[test]
fn sessions_and_rooms_move_between_threads() {
    let keys = random_keys(1, &algorithms(), &mut Random(22));
    let engine = Engine::new();
    let (sessions, mut rooms) = (open(&engine, &keys), Rooms::new(&engine));
    check(&engine, &sessions, &random(&keys, &mut Random(24)), &mut rooms).expect("it is right");
    thread::scope(|scope| {
        scope.spawn(|| {
            let (sessions, mut rooms) = (sessions, rooms);
            let messages = random(&keys, &mut Random(23));
            check(&engine, &sessions, &messages, &mut rooms).expect("it is right there too");
        });
    });
}
