//! Sequences of nonces in forked children: the parent's are refused there for ever, the child's own
//! are not.

use lanecrypt_ciphers::{Algorithm, Cipher, Error, NonceSequence, Nonces, RandomNonces};

/// Runs `body` in a forked child; whether it answered yes there.
fn in_child(raw: bool, body: impl FnOnce() -> bool) -> bool {
    let child = if raw {
        // SAFETY: without flags this is a fork, past the C library; the child does no more than
        // count, encrypt and draw, which is safe in signal handlers, too.
        unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) }
    } else {
        // SAFETY: as above.
        libc::c_long::from(unsafe { libc::fork() })
    };
    if child == 0 {
        let status = i32::from(!body());
        // SAFETY: ends the process and has no preconditions.
        unsafe { libc::_exit(status) }
    }
    let child = libc::pid_t::try_from(child).expect("processes can be made");
    let mut status = 0;
    // SAFETY: the pointer is to an integer of the type that the call fills in.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
}

/// Whether `nonces` are refused again and again, by themselves and by a cipher, whose packet stays.
fn are_refused(nonces: &mut impl NonceSequence, cipher: &Cipher) -> bool {
    // A message of whole blocks with a tag of 16 or 24 bytes.
    let mut packet = [7; 64 + 24];
    let packet = &mut packet[..64 + cipher.tag_length()];
    (0..3).all(|_| {
        nonces.fresh() == Err(Error::Forked)
            && cipher.seal_next(nonces, b"", packet) == Err(Error::Forked)
            && packet.iter().all(|&byte| byte == 7)
    })
}

fn serve(nonces: &mut impl NonceSequence, cipher: &Cipher) -> bool {
    let mut packet = [7; 64 + 24];
    let packet = &mut packet[..64 + cipher.tag_length()];
    nonces.fresh().is_ok() && cipher.seal_next(nonces, b"", packet).is_ok()
}

/// `make` makes a sequence; the parent's continues, in children and grandchildren only their own
/// do.
fn check<N: NonceSequence>(cipher: &Cipher, make: impl Fn() -> N) {
    for raw in [false, true] {
        let mut of_parent = make();
        for used in [false, true] {
            assert_eq!(used, used && serve(&mut of_parent, cipher));
            assert!(in_child(raw, || are_refused(&mut of_parent, cipher)));
            assert!(in_child(raw, || {
                // With a number of its own the child refuses its parent's still.
                let mut of_child = make();
                serve(&mut of_child, cipher)
                    && are_refused(&mut of_parent, cipher)
                    && in_child(raw, || {
                        let mut of_grandchild = make();
                        are_refused(&mut of_child, cipher)
                            && are_refused(&mut of_parent, cipher)
                            && serve(&mut of_grandchild, cipher)
                    })
                    && serve(&mut of_child, cipher)
            }));
            assert!(serve(&mut of_parent, cipher));
        }
    }
}

pub(crate) fn a_child_has_nonces_of_its_own() {
    for algorithm in Algorithm::ALL.iter().copied().filter(|algorithm| algorithm.is_aead()) {
        let key = vec![3; algorithm.key_lengths().longest()];
        let cipher = Cipher::new(algorithm, &key).expect("a good key");
        if !algorithm.needs_random_nonces() {
            check(&cipher, || Nonces::counter(algorithm, b"from").expect("room for a counter"));
            let iv = vec![5; algorithm.nonce_length()];
            let masked = || Nonces::masked(algorithm, &iv).expect("a good length");
            check(&cipher, || masked().starting_at(9));
        }
        let random = || RandomNonces::new(algorithm, lanecrypt_random::rng());
        check(&cipher, || random().expect("an authenticated cipher").already_used(5));
    }
}

/// The end of a sequence is the end in a child, too.
pub(crate) fn what_ended_gives_nothing_in_a_child() {
    let algorithm = Algorithm::AES_128_GCM;
    let nonces = Nonces::counter(algorithm, &[1; 8]).expect("room for a counter");
    let mut nonces = nonces.starting_at(u64::from(u32::MAX));
    assert!(nonces.fresh().is_ok() && nonces.fresh() == Err(Error::NoncesExhausted));
    assert!(in_child(false, || nonces.fresh().is_err()));
}
