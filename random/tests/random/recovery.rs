//! Recovery: who has read the whole state, that of the kernel's generator in the vDSO included,
//! loses track at the next mixing.
//!
//! The attacker is played by this program: it copies all its memory that the kernel empties on
//! fork, draws, writes the copy back, and draws again. Whatever comes out twice the attacker could
//! have computed.

use core::time::Duration;

use crate::common::drawer::{Drawer, OwnedDrawer, StrictThread, shared};
use crate::common::maps::{self, Mapping};
use crate::common::{processors, windows};
use lanecrypt_random::{
    AesCtr, ChaCha, Erasing, Fastest, Owned, PerCpu, PerThread, Rekeying, SingleThread,
    StaticGenerator,
};
use lanecrypt_testing::harness::{Case, skipped};
use lanecrypt_testing::seccomp::{self, Rule};
use lanecrypt_testing::sys::{self, Fork};

pub(crate) const CASES: &[Case] = &[
    Case("recovery::by_bytes", || with_and_without_vdso("recovery::by_bytes", by_bytes)),
    Case("recovery::by_time", || with_and_without_vdso("recovery::by_time", by_time)),
    Case("recovery::no_recovery_is_found", no_recovery_is_found),
];

/// What may wait in a buffer, and what may be made between two mixings.
const BUFFERED: usize = 8096;
const LIMIT: usize = 64 << 10;

/// Lengths of the requests that one attack watches, in turns.
const REQUESTS: [&[usize]; 10] = [
    &[4],
    &[32],
    &[1000, 7],
    &[BUFFERED],
    &[BUFFERED + 1],
    &[16_384],
    &[LIMIT],
    &[LIMIT + 1],
    &[3 << 20],
    // Long and short ones between each other: of two chains only one would be mended.
    &[32, 20_000, 500],
];

/// Runs `body` in processes of their own, as the kernel is and without states in the vDSO.
fn with_and_without_vdso(name: &str, body: fn()) {
    if !lanecrypt_random::capabilities().wipe_on_fork {
        return skipped(name, "the kernel does not empty pages on fork");
    }
    // The child first, as long as nobody has a page. It finds the pool empty, and its pages come
    // without states.
    let child = sys::fork(Fork::Library).expect("processes can be made");
    if child == 0 {
        if seccomp::install(&[Rule::no_vdso_states()]).is_err() {
            skipped(name, "seccomp filters are not permitted here");
            sys::exit(0);
        }
        body();
        sys::exit(0);
    }
    sys::wait_for_success(child);
    body();
}

/// A kind of generator at every place.
fn places<G: StaticGenerator>() -> Vec<(&'static str, Box<dyn Drawer>)> {
    struct Behind(&'static dyn Drawer);
    impl Drawer for Behind {
        fn fill(&self, out: &mut [u8]) {
            self.0.fill(out);
        }
    }
    // One processor: so that both runs draw from the same page.
    processors::stay_on(processors::allowed()[0]);
    let held = Owned::<G>::new().expect("the kernel has randomness");
    vec![
        ("PerThread", Box::new(PerThread::<G>::new())),
        ("PerCpu", Box::new(PerCpu::<G>::new())),
        ("Owned", Box::new(OwnedDrawer::new(held))),
        ("SingleThread", Box::new(SingleThread::<G>::new().expect("the kernel has randomness"))),
        ("Shared", Box::new(Behind(shared::<G>()))),
    ]
}

/// At least so many bytes in requests of these lengths.
fn draw(drawer: &dyn Drawer, lengths: &[usize], least: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for &length in lengths.iter().cycle() {
        if bytes.len() >= least {
            break;
        }
        let at = bytes.len();
        bytes.resize(at + length, 0);
        drawer.fill(&mut bytes[at..]);
    }
    bytes
}

/// What the attacker knows of the mappings.
struct Copy(Vec<(Mapping, Vec<u8>)>);

impl Copy {
    fn take() -> Self {
        Self(maps::wiped_on_fork().into_iter().map(|mapping| (mapping, mapping.read())).collect())
    }

    fn write_back(&self) {
        self.0.iter().for_each(|(mapping, bytes)| mapping.write(bytes));
    }
}

/// Draws twice from the copied state; an error if more than `known` bytes come out twice.
fn attack(copy: &Copy, drawer: &dyn Drawer, lengths: &[usize], known: usize) -> Result<(), String> {
    let least = known + 3 * LIMIT;
    let run = || {
        copy.write_back();
        draw(drawer, lengths, least)
    };
    // Some bytes are buffered where requests are short, so that one sees whether the state was put
    // back. A draw that is preempted while it claims the processor's page takes another one.
    let mut runs = (0..3).map(|_| [run(), run()]);
    let same = |[first, second]: &[Vec<u8>; 2]| lengths[0] > BUFFERED || first[..4] == second[..4];
    let [first, second] = runs.find(same).expect("the attack was made");
    let pairs = first.chunks(16).zip(second.chunks(16));
    let repeated = 16 * pairs.filter(|(first, second)| first == second).count();
    if repeated > known {
        return Err(format!("{repeated} of {least} bytes are known, by {lengths:?}"));
    }
    Ok(())
}

/// How many bytes may be known: those buffered, if a request takes them, and those made under keys
/// without new bytes, `limit` at most. Longer requests begin with a new key.
fn known(lengths: &[usize], limit: usize) -> usize {
    let takes_buffered = lengths.iter().any(|&length| length <= BUFFERED);
    let is_within = lengths.iter().any(|&length| length <= LIMIT);
    usize::from(takes_buffered) * BUFFERED + usize::from(is_within) * limit
}

fn by_bytes() {
    fn check<G: StaticGenerator>(kind: &str) {
        for (place, drawer) in places::<G>() {
            for lengths in REQUESTS {
                // Neither at the start of a buffer nor of a count.
                drawer.fill(&mut [0; 20_020]);
                drawer.fill(&mut [0; 2020]);
                attack(&Copy::take(), &*drawer, lengths, known(lengths, LIMIT))
                    .unwrap_or_else(|found| panic!("{kind} in {place}: {found}"));
            }
        }
    }
    check::<Erasing<Fastest>>("the default");
    check::<Erasing<ChaCha<20>>>("ChaCha20");
    check::<Erasing<AesCtr<256>>>("AES-256");
}

/// After more than a second the next refill and the next long request are new.
fn by_time() {
    let places = places::<Erasing<Fastest>>();
    for lengths in [&[32][..], &[16_384], &[32, 20_000, 500]] {
        places.iter().for_each(|(_, drawer)| drawer.fill(&mut [0; 2020]));
        let copy = Copy::take();
        std::thread::sleep(Duration::from_millis(1100));
        for (place, drawer) in &places {
            attack(&copy, &**drawer, lengths, known(lengths, 0))
                .unwrap_or_else(|found| panic!("{place}: {found}"));
        }
    }
}

/// The attack finds what a generator repeats that does not ask the kernel again.
fn no_recovery_is_found() {
    if !lanecrypt_random::capabilities().wipe_on_fork {
        return skipped(
            "recovery::no_recovery_is_found",
            "the kernel does not empty pages on fork",
        );
    }
    for (place, drawer) in places::<Rekeying<ChaCha<20>>>() {
        for lengths in REQUESTS {
            // Another page is not where it was in the other run.
            let repeats = (0..3).any(|_| {
                drawer.fill(&mut [0; 2020]);
                attack(&Copy::take(), &*drawer, lengths, known(lengths, LIMIT)).is_err()
            });
            assert!(repeats, "{place}: a state that repeats itself passed");
        }
    }
    let strict = StrictThread;
    strict.fill(&mut [0; 4]);
    let copy = Copy::take();
    let first = draw(&strict, &[32, 9000], 100_000);
    copy.write_back();
    let second = draw(&strict, &[32, 9000], 100_000);
    windows::assert_unique("strict", [&first[..], &second[..]]);
}
