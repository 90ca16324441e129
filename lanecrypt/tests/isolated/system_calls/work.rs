//! What runs under the filters: everything that the library does.

use std::thread;

use lanecrypt::random::{
    self, AesCtr, ChaCha, Erasing, Owned, PerCpu, PerThread, Rekeying, Shared, SingleThread,
};
use lanecrypt::{Algorithm, Cipher, Engine, Nonces, Request, hazmat};

use lanecrypt_testing::sys::{self, Fork};

/// Less than a page of a generator holds, more, and more than it makes in one piece.
const LENGTHS: [usize; 6] = [1, 4, 32, 256, 9000, (1 << 20) + 3];

/// What one thread does.
pub(crate) fn alone() {
    draws();
    ciphers();
    let _ = random::capabilities();
}

/// The same in several threads, in forked children, and in an engine that measures first.
pub(crate) fn everything() {
    alone();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(alone);
        }
    });
    // Threads that draw for the first time when others have ended.
    thread::Builder::new()
        .name("late".into())
        .spawn(alone)
        .expect("a thread")
        .join()
        .expect("well");
    for how in [Fork::Library, Fork::Clone(0)] {
        let child = sys::fork(how).expect("processes can be made");
        if child == 0 {
            alone();
            sys::exit(0);
        }
        sys::wait_for_success(child);
    }
    let mut engine = Engine::new();
    engine.calibrate();
    batches(&engine);
}

fn draws() {
    let mut out = vec![0; *LENGTHS.last().expect("there are some")];
    let (mut held, shared) = (Owned::<Erasing>::new(), Shared::<Erasing>::new());
    let (held, shared) = (held.as_mut().expect("seeds"), shared.as_ref().expect("seeds"));
    let single = SingleThread::<Erasing<AesCtr<256>>>::new().expect("seeds");
    for length in LENGTHS {
        let out = &mut out[..length];
        each(out, random::fill);
        each(out, |out| random::strict().fill(out));
        each(out, PerThread::<Erasing<AesCtr<256>>>::fill);
        each(out, PerThread::<Rekeying<ChaCha<20>>>::fill);
        each(out, PerCpu::<Erasing>::fill);
        each(out, PerCpu::<Rekeying<ChaCha<8>>>::fill);
        each(out, |out| held.fill(out));
        each(out, |out| shared.fill(out));
        each(out, |out| single.fill(out));
    }
    PerThread::<Erasing>::reseed().expect("seeds");
    PerCpu::<Erasing>::reseed().expect("seeds");
    held.reseed().expect("seeds");
    shared.reseed().expect("seeds");
    assert!(random::range(0..1000_u32) < 1000);
    let numbers: Vec<u32> = (0..5000).map(|_| random::u32() ^ PerCpu::<Erasing>::u32()).collect();
    assert!(numbers.windows(2).any(|two| two[0] != two[1]));
}

/// Draws twice; what is long is not the same again.
fn each(out: &mut [u8], mut fill: impl FnMut(&mut [u8])) {
    fill(out);
    let first = out.to_vec();
    fill(out);
    assert!(out.len() < 16 || out[..] != first[..]);
}

fn ciphers() {
    let key = random::bytes::<32>();
    let cipher = Cipher::new(Algorithm::CHACHA20_POLY1305, &key).expect("a good key");
    let mut nonces = Nonces::counter(cipher.algorithm(), &[]).expect("a short field");
    let mut packet = [0; 100 + 16];
    let nonce = cipher.seal_next(&mut nonces, b"aad", &mut packet).expect("good lengths");
    assert_eq!(cipher.open(&nonce, b"aad", &mut packet), Ok(&mut [0; 100][..]));
    hazmat::burn_stack();
    batches(&Engine::new());
}

/// One message of each algorithm, and back; twice, so that there is more than one in a class.
fn batches(engine: &Engine) {
    let open = |algorithm: &Algorithm| {
        let key = random::bytes::<64>();
        let key = &key[..algorithm.key_lengths().longest()];
        match algorithm.is_aead() {
            true => engine.session(*algorithm, key),
            false => engine.raw_session(*algorithm, key),
        }
    };
    let algorithms =
        Algorithm::ALL.iter().filter(|algorithm| algorithm.key_lengths().longest() <= 64);
    let sessions: Vec<_> = algorithms.filter_map(|algorithm| open(algorithm).ok()).collect();
    let room = |session: &lanecrypt::Session| vec![7; 64 + session.tag_length()];
    let mut messages: Vec<_> = sessions.iter().chain(&sessions).map(room).collect();
    for forward in [true, false] {
        let mut batch: Vec<Request<'_>> = messages
            .iter_mut()
            .zip(sessions.iter().cycle())
            .map(|(message, session)| {
                let nonce = &[2; 32][..session.algorithm().expect("a cipher").nonce_length()];
                match (session.algorithm().expect("a cipher").is_aead(), forward) {
                    (true, true) => Request::seal(session, nonce, b"aad", message),
                    (true, false) => Request::open(session, nonce, b"aad", message),
                    (false, true) => Request::encrypt(session, nonce, &mut message[..64]),
                    (false, false) => Request::decrypt(session, nonce, &mut message[..64]),
                }
            })
            .collect();
        engine.process(&mut batch).expect("good lengths, and authentic");
    }
    assert!(messages.iter().all(|message| message[..64] == [7; 64]));
}
