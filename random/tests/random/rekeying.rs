//! Rekeying: a new key exactly at the interval, no byte of a key lost or given out twice.

use core::num::NonZeroU64;
use std::sync::{Barrier, Mutex};
use std::thread;

use crate::common::drawer::{Drawer, OwnedDrawer, shared};
use crate::common::expected::{Keys, streams};
use crate::common::listener::{self, Seed};
use crate::common::numbered::{self, Numbered};
use crate::common::windows::Windows;
use crate::common::{maps, processors};
#[cfg(feature = "study")]
use lanecrypt_random::Inlined;
use lanecrypt_random::{
    AesCtr, ChaCha, Counters, Erasing, Generator, Owned, PerCpu, PerThread, REKEY_INTERVAL,
    Rekeying, Salsa, SeedCore, Shared, SingleThread, StaticGenerator, set_rekey_interval,
};
use lanecrypt_random::{Arc4, Hc128};
use lanecrypt_testing::harness::{Case, skipped, times};
use lanecrypt_testing::sys;

pub(crate) const CASES: &[Case] = &[
    Case("rekeying::every_byte_once_in_blocks", every_byte_once::<64>),
    Case("rekeying::every_byte_once_in_bytes", every_byte_once::<1>),
    Case("rekeying::shared_by_sixty_four_threads", shared_by_sixty_four_threads),
    Case("rekeying::the_default_interval", the_default_interval),
    Case("rekeying::interval_changed_while_running", interval_changed_while_running),
    Case("rekeying::reseed_takes_a_new_key", reseed_takes_a_new_key),
    Case("rekeying::reseed_drops_the_buffer", reseed_drops_the_buffer),
    Case("rekeying::per_thread_by_known_seeds", per_thread_by_known_seeds),
    Case("rekeying::per_cpu_by_known_seeds", per_cpu_by_known_seeds),
    #[cfg(feature = "study")]
    Case("rekeying::inlined_by_known_seeds", inlined_by_known_seeds),
    Case("rekeying::strict_takes_a_key_a_request", strict_takes_a_key_a_request),
    Case("rekeying::defects_are_found", defects_are_found),
];

/// Bytes of keystream that may wait in a buffer.
const BUFFERED: u64 = 8192;

fn bytes(number: u64) -> NonZeroU64 {
    NonZeroU64::new(number).expect("not zero")
}

/// Lengths of requests: mostly small ones, now and then one that the buffer cannot hold.
fn length(request: usize) -> usize {
    match request % 16 {
        3 => 1 + request * 2_654_435_761 % 9000,
        7 if request.is_multiple_of(5) => 1 + request * 40_503 % 40_000,
        11 => [64, 63, 65, 128, 8064, 8065, 8128, 16_384][request / 16 % 8],
        _ => 1 + request * 7 % 130,
    }
}

/// One draw; of 4 and 8 bytes by the functions that give words, now and then.
fn draw(drawer: &dyn Drawer, request: usize, length: usize) -> Vec<u8> {
    match length {
        4 if request.is_multiple_of(2) => drawer.u32().to_ne_bytes().to_vec(),
        8 if request.is_multiple_of(2) => drawer.u64().to_ne_bytes().to_vec(),
        _ => {
            let mut out = vec![0; length];
            drawer.fill(&mut out);
            out
        }
    }
}

/// Whether `counters` fit a generator that has given out everything up to `at`.
fn check_counters(counters: Counters, at: &Keys, first: u32) {
    assert_eq!(counters.keys, u64::from(at.key - first + 1), "{at:?}");
    let made = at.position..=at.interval.min(at.position + BUFFERED);
    assert!(made.contains(&counters.bytes), "{counters:?} at {at:?}");
}

const INTERVALS: [u64; 7] = [1, 64, 65, 4096, 8128, 100_000, 1 << 20];

/// Whatever is asked for, what comes is `interval` bytes of each key, one after the other.
fn every_byte_once<const B: usize>() {
    for interval in INTERVALS {
        let wanted = interval.next_multiple_of(64);
        let end = (3 * wanted + 10).max(times(400_000, 40_000_000) as u64);
        let first = numbered::keys() + 1;
        let held = Owned::<Rekeying<Numbered<B>>>::with_interval(bytes(interval));
        let mut held = held.expect("the kernel has randomness");
        // A generator draws four bytes when it is made.
        let mut at = Keys { key: first, position: 4, interval: wanted };
        let (mut drawn, mut request) = (4, 0);
        while drawn < end {
            let mut out = vec![0; length(request)];
            match out.len() {
                4 if request % 2 == 0 => out.copy_from_slice(&held.u32().to_ne_bytes()),
                8 if request % 2 == 0 => out.copy_from_slice(&held.u64().to_ne_bytes()),
                _ => held.fill(&mut out),
            }
            at.take(&out).unwrap_or_else(|fault| panic!("request {request}: {fault}"));
            check_counters(held.counters(), &at, first);
            drawn += out.len() as u64;
            request += 1;
        }
        // One request over several intervals.
        let mut out = vec![0; usize::try_from(3 * wanted + 77).expect("it fits")];
        held.fill(&mut out);
        at.take(&out).expect("a long request");
        check_counters(held.counters(), &at, first);

        // The same behind a lock.
        let first = numbered::keys() + 1;
        let shared = Shared::<Rekeying<Numbered<B>>>::with_interval(bytes(interval));
        let shared = shared.expect("the kernel has randomness");
        let mut at = Keys { key: first, position: 4, interval: wanted };
        for request in 0..times(500, 40_000) {
            let out = draw(&shared, request, length(request));
            at.take(&out).unwrap_or_else(|fault| panic!("request {request}: {fault}"));
            check_counters(shared.counters(), &at, first);
        }
    }
}

/// Draws whole words on 64 threads; together they are every word of each key, once.
fn shared_by_sixty_four_threads() {
    for interval in [64, 4096, 1 << 20] {
        let first = numbered::keys() + 1;
        let shared = Shared::<Rekeying<Numbered<64>>>::with_interval(bytes(interval));
        let shared = shared.expect("the kernel has randomness");
        let mut rest = [0; 4];
        shared.fill(&mut rest);
        let start = Barrier::new(64);
        let requests = times(60, 3000);
        let drawn: Vec<Vec<Vec<u64>>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..64)
                .map(|number| {
                    let (shared, start) = (&shared, &start);
                    scope.spawn(move || {
                        start.wait();
                        let lengths = (0..requests).map(|i| length(number + i).next_multiple_of(8));
                        let draws = lengths.map(|length| draw(shared, number, length));
                        draws.map(|bytes| words(&bytes)).collect()
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("it only draws")).collect()
        });
        let last = numbered::keys();
        assert_eq!(shared.counters().keys, u64::from(last - first + 1));
        // Who does not get the lock for long asks the kernel. Its words are not words of a key.
        let is_ours = |word: &&u64| {
            let (key, position) = numbered::origin(**word);
            (first..=last).contains(&key) && position < interval
        };
        let mut found = Vec::new();
        for request in drawn.iter().flatten() {
            let ours: Vec<u64> = request.iter().filter(is_ours).copied().collect();
            assert!(ours.is_empty() || ours.len() == request.len(), "the kernel's and ours mixed");
            for pair in ours.windows(2) {
                assert_eq!(pair[1], after(pair[0], interval), "another thread came between");
            }
            found.extend(ours);
        }
        assert!(!found.is_empty());
        found.sort_unstable();
        // The first word went with the first draws; the end of the last key was not drawn yet.
        let mut wanted = numbered::word(first, 8);
        for word in found {
            assert_eq!(word, wanted, "key and position {:?}", numbered::origin(word));
            wanted = after(word, interval);
        }
        assert_eq!(numbered::origin(wanted).0.min(last), last, "no key is left out");
    }
}

/// The word that follows another one.
fn after(word: u64, interval: u64) -> u64 {
    let (key, position) = numbered::origin(word);
    if position + 8 == interval { numbered::word(key + 1, 0) } else { word + 1 }
}

fn words(bytes: &[u8]) -> Vec<u64> {
    let (words, rest) = bytes.as_chunks::<8>();
    assert!(rest.is_empty());
    words.iter().map(|&word| u64::from_le_bytes(word)).collect()
}

fn the_default_interval() {
    assert_eq!(REKEY_INTERVAL, 512 << 20);
    let first = numbered::keys() + 1;
    let mut held = Owned::<Rekeying<Numbered<64>>>::new().expect("the kernel has randomness");
    let mut chacha = Owned::<Rekeying<ChaCha<8>>>::new().expect("the kernel has randomness");
    let mut at = Keys { key: first, position: 4, interval: REKEY_INTERVAL };
    let mut out = vec![0; 1 << 20];
    for mebibyte in 0..513 {
        held.fill(&mut out);
        if mebibyte == 0 || mebibyte > 509 {
            at.take(&out).expect("the bytes of the key");
        } else {
            at.position += 1 << 20;
        }
        check_counters(held.counters(), &at, first);
        if mebibyte == 511 {
            assert_eq!((at.key, at.position), (first + 1, 4), "four bytes were drawn before");
        }
        chacha.fill(&mut out);
        let keys = if mebibyte < 511 { 1 } else { 2 };
        assert_eq!(chacha.counters().keys, keys, "after {} MiB and 4 bytes", mebibyte + 1);
    }
    assert_eq!(held.counters().keys, 2);
}

const SETTINGS: [u64; 10] = [100_000, 4096, 65, 1 << 30, 64, 20_000, 1, 8064, 1 << 20, 8192];

/// A new setting counts from the next refill on: the present key ends where it says, or, if more
/// was made already, with what was made.
fn interval_changed_while_running() {
    let mut held = Owned::<Rekeying<Numbered<64>>>::new().expect("the kernel has randomness");
    let (mut key, mut position) = (numbered::keys(), 4);
    for (i, setting) in SETTINGS.iter().cycle().take(400).copied().enumerate() {
        set_rekey_interval(bytes(setting));
        let interval = setting.next_multiple_of(64);
        let made = held.counters().bytes;
        let mut out = vec![0; length(7 * i) + i % 3 * 9000];
        held.fill(&mut out);
        // The present key first, to its end, then keys of the new interval.
        let end = if made < interval { interval } else { made };
        let mut at = Keys { key, position, interval: end };
        let rest = usize::try_from(end - position).expect("it fits").min(out.len());
        at.take(&out[..rest]).expect("the present key");
        if rest < out.len() {
            at = Keys { key: key + 1, position: 0, interval };
            at.take(&out[rest..]).expect("keys of the new interval");
        }
        (key, position) = (at.key, at.position);
    }
    // Who has a setting of its own keeps it.
    let own = Owned::<Rekeying<Numbered<64>>>::with_interval(bytes(640));
    let mut own = own.expect("the kernel has randomness");
    let mut at = Keys { key: numbered::keys(), position: 4, interval: 640 };
    for (i, setting) in SETTINGS.iter().cycle().take(100).copied().enumerate() {
        set_rekey_interval(bytes(setting));
        let mut out = vec![0; length(i)];
        own.fill(&mut out);
        at.take(&out).expect("640 bytes of each key");
    }
}

/// After `reseed` the next byte is the first of a new key.
fn reseed_takes_a_new_key() {
    let mut held = Owned::<Rekeying<Numbered<64>>>::new().expect("the kernel has randomness");
    let shared = Shared::<Rekeying<Numbered<64>>>::new().expect("the kernel has randomness");
    let single = SingleThread::<Rekeying<Numbered<1>>>::new().expect("the kernel has randomness");
    let check = |out: &[u8]| {
        let mut at = Keys { key: numbered::keys(), position: 0, interval: REKEY_INTERVAL };
        at.take(out).expect("the first bytes of the newest key");
    };
    for round in 1..100 {
        let mut out = vec![0; length(round)];
        held.reseed().expect("the kernel has randomness");
        assert_eq!((held.counters().keys, held.counters().bytes), (round as u64 + 1, 0));
        held.fill(&mut out);
        check(&out);
        shared.reseed().expect("the kernel has randomness");
        assert_eq!((shared.counters().keys, shared.counters().bytes), (round as u64 + 1, 0));
        shared.fill(&mut out);
        check(&out);
        single.reseed().expect("the kernel has randomness");
        single.fill(&mut out);
        check(&out);
    }
}

/// After `reseed` nothing of what was buffered comes out, at any placement.
fn reseed_drops_the_buffer() {
    fn check(name: &str, drawer: &dyn Drawer, reseed: &dyn Fn()) {
        for again in [false, true] {
            let mut out = [0; 16_384];
            // The buffer is nearly full.
            drawer.fill(&mut out[..8192]);
            drawer.fill(&mut out[..64]);
            let mut buffered = Windows::new(1 << 20);
            for page in maps::live_pages(&maps::wiped_on_fork()) {
                buffered.insert(maps::unused(&page));
            }
            assert!(buffered.len() > 64 || !lanecrypt_random::capabilities().wipe_on_fork);
            if again {
                reseed();
            }
            drawer.fill(&mut out[..100]);
            drawer.fill(&mut out[100..300]);
            let comes_out = buffered.find_in(&out[..300]).is_some();
            assert_eq!(comes_out, !again, "{name}, after reseed: {again}");
        }
    }
    fn placements<G: StaticGenerator>() {
        processors::stay_on(processors::allowed()[0]);
        let (held, again) = (Owned::<G>::new(), SingleThread::<G>::new());
        let single = again.expect("the kernel has randomness");
        let held = OwnedDrawer::new(held.expect("the kernel has randomness"));
        let shared = shared::<G>();
        check("Owned", &held, &|| held.reseed());
        check("SingleThread", &single, &|| single.reseed().expect("the kernel has randomness"));
        check("Shared", shared, &|| shared.reseed().expect("the kernel has randomness"));
        check("PerThread", &PerThread::<G>::new(), &|| {
            PerThread::<G>::reseed().expect("the kernel has randomness");
        });
        check("PerCpu", &PerCpu::<G>::new(), &|| {
            PerCpu::<G>::reseed().expect("the kernel has randomness");
        });
    }
    if !lanecrypt_random::capabilities().wipe_on_fork {
        return skipped("rekeying::reseed_drops_the_buffer", "nothing is buffered here");
    }
    placements::<Erasing<ChaCha<20>>>();
    placements::<Erasing<AesCtr<256>>>();
    placements::<Rekeying<ChaCha<20>>>();
    placements::<Rekeying<Salsa<20>>>();
    placements::<Rekeying<Hc128>>();
}

/// Bytes that one key makes where seeds are recorded; a request of 32 bytes is not among those
/// made.
const SHORT_INTERVAL: usize = 4096;

/// What one thread drew, and its number.
struct Drawn {
    thread: libc::pid_t,
    requests: Vec<Vec<u8>>,
}

/// Requests of `unit` bytes and multiples, on so many threads at a time.
fn drawn_by(threads: usize, drawer: &(dyn Drawer + Sync), unit: usize) -> Vec<Drawn> {
    let requests = times(150, 3000);
    let (first, start) = (Mutex::new(()), Barrier::new(threads));
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|number| {
                let (first, start) = (&first, &start);
                scope.spawn(move || {
                    let lengths = (0..requests).map(|i| length(3 * number + i));
                    let lengths = lengths.map(|length| length.next_multiple_of(unit));
                    // The kernel's answers to requests that find a page busy must not look like
                    // seeds.
                    let lengths = lengths.filter(|&length| length != 32);
                    let mut each = lengths.map(|length| draw(drawer, number, length));
                    // One thread after the other gets its page: if all of them want the pool's lock
                    // while its holder does not run, the kernel serves those that gave up.
                    let alone = first.lock().expect("nobody panics");
                    let mut requests: Vec<_> = each.next().into_iter().collect();
                    drop(alone);
                    start.wait();
                    requests.extend(each);
                    Drawn { thread: sys::thread(), requests }
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("it only draws")).collect()
    })
}

fn seeds_of(recorded: &[Seed], thread: libc::pid_t) -> Vec<Vec<u8>> {
    let of_thread = recorded.iter().filter(|seed| seed.thread == thread);
    of_thread.map(|seed| seed.bytes.clone()).collect()
}

/// Each thread's generator gives `SHORT_INTERVAL` bytes under each of the seeds that it had.
fn check_per_thread<C: SeedCore + 'static>()
where
    Rekeying<C>: StaticGenerator,
{
    listener::recorded();
    let drawn = drawn_by(64, &PerThread::<Rekeying<C>>::new(), 1);
    let recorded = listener::recorded();
    for Drawn { thread, requests } in drawn {
        let seeds = seeds_of(&recorded, thread);
        let (wanted, found) = (streams::<C>(&seeds, SHORT_INTERVAL).concat(), requests.concat());
        assert!(found.len() <= wanted.len() && wanted.len() < found.len() + SHORT_INTERVAL);
        assert!(found == wanted[..found.len()], "{}", core::any::type_name::<C>());
    }
}

fn per_thread_by_known_seeds() {
    listener::answered("rekeying::per_thread_by_known_seeds", false, || {
        set_rekey_interval(bytes(SHORT_INTERVAL as u64));
        listener::record();
        check_per_thread::<ChaCha<8>>();
        check_per_thread::<Salsa<20>>();
        check_per_thread::<AesCtr<256>>();
        check_per_thread::<AesCtr<128>>();
        check_per_thread::<Arc4>();
        check_per_thread::<Hc128>();
    });
}

/// Where each word of the seeds' streams lies, by the word; sorted.
struct Places {
    words: Vec<(u64, usize, usize)>,
}

impl Places {
    fn of<C: SeedCore>(recorded: &[Seed]) -> Self {
        let seeds: Vec<Vec<u8>> = recorded.iter().map(|seed| seed.bytes.clone()).collect();
        let mut words_: Vec<(u64, usize, usize)> = Vec::new();
        for (seed, stream) in streams::<C>(&seeds, SHORT_INTERVAL).iter().enumerate() {
            words_.extend(words(stream).iter().enumerate().map(|(i, &word)| (word, seed, i)));
        }
        words_.sort_unstable();
        Self { words: words_ }
    }

    /// The seed and the number of the word under it.
    fn find(&self, word: u64) -> Option<(usize, usize)> {
        let at = self.words.binary_search_by_key(&word, |place| place.0).ok()?;
        Some((self.words[at].1, self.words[at].2))
    }
}

/// 64 threads move over the processors' generators; every word of every seed comes out once.
fn check_per_cpu<C: SeedCore + 'static>()
where
    Rekeying<C>: StaticGenerator,
{
    const WORDS: usize = SHORT_INTERVAL / 8;
    listener::recorded();
    let drawn = drawn_by(64, &PerCpu::<Rekeying<C>>::new(), 8);
    let recorded = listener::recorded();
    let places = Places::of::<C>(&recorded);
    let mut used = vec![[false; WORDS]; recorded.len()];
    let (mut ours, mut kernels) = (0, 0);
    for request in drawn.iter().flat_map(|drawn| &drawn.requests) {
        let found: Vec<Option<(usize, usize)>> =
            words(request).into_iter().map(|word| places.find(word)).collect();
        if found.iter().all(Option::is_none) {
            // All pages were busy: such requests are the kernel's.
            kernels += 1;
            continue;
        }
        ours += 1;
        let mut before = None;
        for place in found {
            let (seed, at) = place.expect("the whole request comes from one generator");
            assert!(!used[seed][at], "word {at} of seed {seed} came twice");
            used[seed][at] = true;
            match before {
                Some((last, end)) if end + 1 < WORDS => assert_eq!((seed, at), (last, end + 1)),
                Some((last, _)) => assert!(seed != last && at == 0, "rekeyed after its interval"),
                None => {}
            }
            before = Some((seed, at));
        }
    }
    assert!(ours > 0);
    // Of each page the last seed may be used in part, and only from its beginning on.
    let part = used.iter().filter(|used| used.contains(&false));
    let pages = PerCpu::<Rekeying<C>>::counters().count();
    assert!(part.clone().count() <= pages, "{} seeds, {pages} pages", part.count());
    for used in part {
        let count = used.iter().filter(|used| **used).count();
        assert!(used[..count].iter().all(|used| *used), "a gap");
    }
    let keys: u64 = PerCpu::<Rekeying<C>>::counters().map(|counters| counters.keys).sum();
    assert_eq!(keys, recorded.len() as u64, "every seed made a key");
    println!("  {ours} requests from {pages} pages, {keys} keys, {kernels} from the kernel");
}

fn per_cpu_by_known_seeds() {
    listener::answered("rekeying::per_cpu_by_known_seeds", false, || {
        set_rekey_interval(bytes(SHORT_INTERVAL as u64));
        listener::record();
        check_per_cpu::<ChaCha<8>>();
        check_per_cpu::<AesCtr<256>>();
        check_per_cpu::<Arc4>();
        check_per_cpu::<Hc128>();
    });
}

/// The words of HC-128, `SHORT_INTERVAL` bytes under each seed; a request ends with a whole word,
/// of which it may use a part.
#[cfg(feature = "study")]
fn inlined_by_known_seeds() {
    fn check(requests: &[Vec<u8>], seeds: &[Vec<u8>], begin: usize) {
        let mut wanted = streams::<Hc128>(seeds, SHORT_INTERVAL).concat();
        wanted.drain(..begin);
        let mut at = 0;
        for request in requests {
            let place = &wanted[at..at + request.len()];
            assert!(request == place, "{} bytes at {at}", request.len());
            at += request.len().next_multiple_of(4);
        }
        assert!(wanted.len() < at + SHORT_INTERVAL, "a seed too many");
    }
    listener::answered("rekeying::inlined_by_known_seeds", false, || {
        set_rekey_interval(bytes(SHORT_INTERVAL as u64));
        listener::record();
        let drawn = drawn_by(16, &PerThread::<Inlined<Hc128>>::new(), 1);
        let recorded = listener::recorded();
        for Drawn { thread, requests } in drawn {
            check(&requests, &seeds_of(&recorded, thread), 0);
        }
        // The generator draws four bytes when it is made.
        let held =
            OwnedDrawer::new(Owned::<Inlined<Hc128>>::new().expect("the kernel has randomness"));
        let lengths = (0..times(1000, 40_000)).map(length);
        let requests: Vec<Vec<u8>> =
            lengths.enumerate().map(|(i, length)| draw(&held, i, length)).collect();
        let seeds: Vec<_> = listener::recorded().into_iter().map(|seed| seed.bytes).collect();
        check(&requests, &seeds, 4);
    });
}

/// The strict form takes a new key from the kernel at every request.
fn strict_takes_a_key_a_request() {
    fn check<G: Generator>(core: &str) {
        let first = numbered::keys() + 1;
        let generator = Owned::<G>::new().expect("the kernel has randomness");
        let mut strict = generator.strict();
        for request in 0..50 {
            let mut out = vec![0; length(request)];
            strict.fill(&mut out);
            let key = first + 1 + u32::try_from(request).expect("small");
            let mut at = Keys { key, position: 0, interval: REKEY_INTERVAL };
            at.take(&out).unwrap_or_else(|fault| panic!("{core}, request {request}: {fault}"));
        }
    }
    check::<Rekeying<Numbered<64>>>("blocks");
    check::<Rekeying<Numbered<1>>>("bytes");
}

/// The checks reject a stream with a byte missing, one that comes twice, and a late new key.
fn defects_are_found() {
    let mut held = Owned::<Rekeying<Numbered<64>>>::with_interval(bytes(4096)).expect("randomness");
    let begin = || Keys { key: numbered::keys(), position: 4, interval: 4096 };
    let mut at = begin();
    let mut good = vec![0; 10_000];
    held.fill(&mut good);
    at.take(&good).expect("nothing is wrong with it");
    let wrong = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        let key = numbered::keys() - 2;
        Keys { key, ..begin() }.take(&bytes)
    };
    wrong(&|_| {}).expect("nothing is wrong with it");
    wrong(&|bytes| drop(bytes.drain(5000..5001))).expect_err("a byte is missing");
    wrong(&|bytes| bytes.insert(5000, bytes[4992])).expect_err("a byte comes twice");
    wrong(&|bytes| drop(bytes.drain(4092..4156))).expect_err("a block of a key is missing");
    let late = Owned::<Rekeying<Numbered<64>>>::with_interval(bytes(4160));
    let mut out = vec![0; 10_000];
    late.expect("randomness").fill(&mut out);
    let key = numbered::keys() - 2;
    Keys { key, ..begin() }.take(&out).expect_err("a block too much of each key");
}
