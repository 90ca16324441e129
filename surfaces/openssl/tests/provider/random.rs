//! The generator.

use std::thread;

use lanecrypt_testing::sys;

use crate::everywhere;
use crate::evp::{Context, libraries};

/// Whether two of many draws are the same.
fn all_differ(draws: &mut [Vec<u8>]) -> bool {
    draws.sort();
    draws.windows(2).all(|pair| pair[0] != pair[1])
}

#[test]
fn it_is_a_generator_as_openssl_wants_it() {
    everywhere(|context| {
        let generator = context.generator(c"LANECRYPT", None);
        assert_eq!(generator.state(), (true, 0, 256));
        let mut out = [0; 32];
        assert!(!generator.generate(&mut out, 256, false), "not instantiated");
        assert!(!generator.instantiate(257), "stronger than it is");
        assert!(generator.instantiate(256));
        assert_eq!(generator.state(), (true, 1, 256));
        let mut draws: Vec<_> = (0..1000)
            .map(|i| {
                let mut out = vec![0; 32];
                assert!(generator.generate(&mut out, 256, i % 100 == 0));
                out
            })
            .collect();
        assert!(all_differ(&mut draws));
        assert!(generator.generate(&mut [], 0, false));
        assert!(!generator.generate(&mut out, 300, false));
        assert!(generator.reseed() && generator.nonce(&mut out) && generator.is_zeroized());
        // More than one request may have.
        let mut large = vec![0; 3 << 20];
        assert!(generator.generate(&mut large, 128, false));
        assert!(large.rchunks(1 << 20).all(|part| part.iter().any(|&byte| byte != 0)));
        assert!(generator.uninstantiate());
        assert!(!generator.generate(&mut out, 256, false));
    });
}

/// Generators of OpenSSL's take their seeds from it.
#[test]
fn it_seeds_others() {
    everywhere(|context| {
        let parent = context.generator(c"LANECRYPT", None);
        assert!(parent.instantiate(256));
        let mut draws: Vec<_> = (0..20)
            .map(|_| {
                let child = context.generator(c"HASH-DRBG", Some(&parent));
                // Without a digest it cannot be; the call for a seed comes after that.
                let _ = child.instantiate(128);
                let mut out = vec![0; 16];
                assert!(parent.generate(&mut out, 256, false));
                out
            })
            .collect();
        assert!(all_differ(&mut draws));
    });
}

/// As the generator of a library context: for random bytes and for keys, in every thread.
#[test]
fn a_library_context_draws_from_it() {
    for crypto in libraries() {
        let context = Context::new(crypto);
        let before = context.counter(c"lanecrypt-draws");
        assert!(context.use_generator(c"LANECRYPT"));
        let mut draws = Vec::new();
        thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|i| {
                    let context = &context;
                    scope.spawn(move || {
                        (0..1200)
                            .map(|j| {
                                let mut out = vec![0; 16];
                                assert!(context.draw(&mut out, (i + j) % 2 == 0));
                                out
                            })
                            .collect::<Vec<_>>()
                    })
                })
                .collect();
            for thread in threads {
                draws.extend(thread.join().expect("no panic"));
            }
        });
        assert!(all_differ(&mut draws) && context.has_primary());
        let after = context.counter(c"lanecrypt-draws");
        assert!(after > before, "{before} {after}: not from us");
    }
}

/// Parent and child draw different bytes.
#[test]
fn forks_are_noticed() {
    for crypto in libraries() {
        let context = Context::new(crypto);
        assert!(context.use_generator(c"LANECRYPT"));
        assert!(context.draw(&mut [0; 16], false));
        let shared = sys::shared(3 * 64);
        let place = |i: usize| {
            let place = shared.wrapping_add(64 * i);
            // SAFETY: each process has a part of its own in the shared memory.
            unsafe { core::slice::from_raw_parts_mut(place, 64) }
        };
        let children: Vec<_> = (0..2)
            .map(|i| {
                let child = sys::fork(sys::Fork::Library).expect("a child");
                if child == 0 {
                    sys::exit(i32::from(!context.draw(place(i), false)));
                }
                child
            })
            .collect();
        assert!(context.draw(place(2), false));
        children.into_iter().for_each(sys::wait_for_success);
        let mut draws: Vec<_> = (0..3).map(|i| place(i).to_vec()).collect();
        assert!(draws.iter().all(|draw| draw.iter().any(|&byte| byte != 0)));
        assert!(all_differ(&mut draws));
    }
}
