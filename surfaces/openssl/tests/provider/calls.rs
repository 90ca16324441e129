//! Libraries and threads that come and go.

use std::sync::mpsc;
use std::thread;

use crate::evp::{Context, libraries};

/// A library context is freed while threads that drew and encrypted through it still live.
#[test]
fn threads_outlive_the_library_context() {
    for crypto in libraries() {
        let context = Context::new(crypto);
        assert!(context.use_generator(c"LANECRYPT"));
        let (done, wait) = mpsc::channel();
        let mut threads = Vec::new();
        let mut ends = Vec::new();
        thread::scope(|_| {
            // Not scoped: they live longer than the context, and no longer use it.
            let context: &'static Context = Box::leak(Box::new(context));
            for _ in 0..4 {
                let (end, until) = mpsc::channel::<()>();
                let done = done.clone();
                ends.push(end);
                threads.push(thread::spawn(move || {
                    let mut out = [0; 100];
                    assert!(context.draw(&mut out, false));
                    let [ours, _] = context.both("AES-128-GCM");
                    let mut keyed = ours.context();
                    assert!(keyed.init(true, Some(&[1; 16]), Some(&[2; 12])));
                    assert!(keyed.update(&out).is_some() && keyed.end().is_some());
                    drop(keyed);
                    drop(ours);
                    context.leave();
                    done.send(()).expect("the test waits");
                    let _ = until.recv();
                }));
            }
            for _ in 0..4 {
                wait.recv().expect("threads send");
            }
            // SAFETY: the threads have used it for the last time, and nobody else knows it.
            drop(unsafe { Box::from_raw(core::ptr::from_ref(context).cast_mut()) });
        });
        drop(ends);
        for thread in threads {
            thread.join().expect("no panic");
        }
    }
}

/// The module is loaded and unloaded again and again, with threads that have used it.
#[test]
fn loaded_and_unloaded() {
    for crypto in libraries() {
        for round in 0..50 {
            let context = Context::new(crypto);
            assert!(context.use_generator(c"LANECRYPT"));
            if round % 2 == 0 {
                assert!(context.draw(&mut [0; 16], true));
            }
            thread::scope(|scope| {
                let thread = scope.spawn(|| assert!(context.draw(&mut [0; 16], false)));
                // The end of a scope does not wait for what OpenSSL does at the end of a thread.
                thread.join().expect("no panic");
            });
        }
    }
}

/// Contexts go to other threads with their messages half done, and copies go elsewhere.
#[test]
fn messages_change_threads() {
    for crypto in libraries() {
        let context = Context::new(crypto);
        for name in ["AES-256-GCM", "ChaCha20-Poly1305"] {
            let [ours, theirs] = context.both(name);
            let answers = [&ours, &theirs].map(|cipher| {
                let mut keyed = cipher.context();
                assert!(keyed.init(true, Some(&[1; 32]), Some(&[2; 12])));
                let front = keyed.update(&[3; 100]).expect("data");
                let copy = keyed.copied().expect("a copy");
                drop(keyed);
                thread::scope(|scope| {
                    let rest = scope.spawn(move || {
                        let mut keyed = copy;
                        let back = keyed.update(&[4; 50]).expect("data");
                        assert!(keyed.end().is_some());
                        (back, keyed.tag(16))
                    });
                    (front, rest.join().expect("no panic"))
                })
            });
            assert_eq!(answers[0], answers[1], "{name}");
        }
    }
}
