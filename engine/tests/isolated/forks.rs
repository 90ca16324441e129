//! Sessions in forked children: the key residue usable, the parent's nonces do not.

use lanecrypt_engine::{Algorithm, Engine, Error, Nonces, Session};

/// Runs `body` in a forked child and returns its answer.
fn in_child(body: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child only counts and encrypts, which is safe even in signal handlers.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let status = i32::from(!body());
        // SAFETY: ends the process and has no preconditions.
        unsafe { libc::_exit(status) }
    }
    assert!(child > 0, "processes can be made");
    let mut status = 0;
    // SAFETY: the pointer is to an integer of the type that the call fills in.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
}

fn seals(session: &Session, nonces: &mut Nonces) -> Result<(), Error> {
    let mut packet = vec![7; 96 + session.tag_length()];
    let sealed = session.seal_next(nonces, b"", &mut packet).map(drop);
    assert_eq!(
        sealed.is_err(),
        packet.iter().all(|&byte| byte == 7),
        "a refused packet stays as it was"
    );
    sealed
}

pub(crate) fn a_child_needs_nonces_of_its_own() {
    let engine = Engine::new();
    // Others need random nonces; `lanecrypt-ciphers` tests those.
    let counts = |algorithm: &Algorithm| algorithm.is_aead() && !algorithm.needs_random_nonces();
    for algorithm in Algorithm::ALL.iter().copied().filter(counts) {
        let key = vec![3; algorithm.key_lengths().longest()];
        let session = engine.session(algorithm, &key).expect("a good key");
        let counter = |field| Nonces::counter(algorithm, field).expect("room for a counter");
        let mut nonces = counter(b"from");
        assert_eq!(seals(&session, &mut nonces), Ok(()));
        assert!(in_child(|| {
            let refused = |nonces: &mut Nonces| seals(&session, nonces) == Err(Error::Forked);
            refused(&mut nonces) && {
                let mut own = counter(b"kid.");
                seals(&session, &mut own) == Ok(()) && refused(&mut nonces)
            }
        }));
        assert_eq!(seals(&session, &mut nonces), Ok(()));
    }
}
