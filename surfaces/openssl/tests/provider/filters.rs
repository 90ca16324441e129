//! Under a filter of system calls that kills the process for all but a few.

use libc::c_long;

use lanecrypt_testing::seccomp;
use lanecrypt_testing::sys::{self, Fork};

use crate::evp::{Cipher, Context, Padding, libraries};
use crate::{AEADS, OTHERS, everywhere_with_rsa_alone};

/// What a process calls that allocates, and ends.
const MEMORY: [c_long; 8] = [
    libc::SYS_brk,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_madvise,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
];

/// What random numbers call besides, by the list of SECURITY.md.
const RANDOM: [c_long; 7] = [
    libc::SYS_clock_gettime,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_mlock2,
    libc::SYS_prlimit64,
    libc::SYS_rt_sigprocmask,
    libc::SYS_sched_yield,
];

const NOT_PERMITTED: i32 = 77;

/// The status of a process that works under the filter; none if there are no filters here.
fn under(allowed: &[c_long], work: impl FnOnce()) -> Option<libc::c_int> {
    let child = sys::fork(Fork::Library).expect("processes can be made");
    if child == 0 {
        if seccomp::allow_only(allowed, &[]).is_err() {
            sys::exit(NOT_PERMITTED);
        }
        work();
        sys::exit(0);
    }
    let status = sys::wait(child);
    if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == NOT_PERMITTED {
        println!("SKIPPED filters: seccomp filters are not permitted here");
        return None;
    }
    Some(status)
}

fn ends_well(what: &str, allowed: &[c_long], work: impl FnOnce()) {
    if let Some(status) = under(allowed, work) {
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "{what}: {status:#x}");
    }
}

#[test]
fn a_filter_kills() {
    let status = under(&MEMORY, || {
        // SAFETY: no argument.
        unsafe { libc::getppid() };
    });
    assert!(status.is_none_or(|status| libc::WIFSIGNALED(status)));
}

/// Everything is fetched before, as by a server that then gives up its rights. Messages need
/// memory, and nothing else of the system.
#[test]
fn ciphers_need_memory_only() {
    for crypto in libraries() {
        let context = Context::new(crypto);
        for (name, key_length) in AEADS.into_iter().chain(OTHERS) {
            let [ours, theirs] = context.both(name);
            let (key, iv) = ((0..64).collect::<Vec<u8>>(), [2; 16]);
            let message = |cipher: &Cipher<'_>| {
                let mut keyed = cipher.context();
                assert!(keyed.init(true, Some(&key[..key_length]), Some(&iv)), "{name}");
                (keyed.update(&[3; 160]).expect("data"), keyed.end().expect("an end"))
            };
            let expected = message(&theirs);
            ends_well(name, &MEMORY, || {
                if message(&ours) != expected {
                    sys::exit(1);
                }
            });
        }
    }
}

/// Random numbers and signatures, whose salts are random, need what SECURITY.md lists.
#[test]
fn draws_and_signatures_need_the_list() {
    let allowed = [&MEMORY[..], &RANDOM].concat();
    everywhere_with_rsa_alone(|context| {
        assert!(context.use_generator(c"LANECRYPT") && context.draw(&mut [0; 16], true));
        let key = context.shared_key(3072);
        let padding = Padding { hash: Some("SHA256"), mode: "pss", salt: Some(-1), mask: None };
        // The first signature finds the hash functions and checks the key.
        let made = key.sign("lanecrypt", padding, &[5; 32]).expect("signed");
        ends_well("draws", &allowed, || {
            let mut out = [0; 100];
            let drawn = (0..100).all(|_| context.draw(&mut out, true));
            let signed = key.sign("lanecrypt", padding, &[5; 32]);
            let checked = key.verify("lanecrypt", padding, &[5; 32], &made);
            if !drawn || !checked || signed.is_none_or(|signed| signed == made) {
                sys::exit(1);
            }
        });
    });
}
