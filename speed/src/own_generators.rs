//! Our generators that are measured: every kind, in every place.

use std::sync::{Arc, OnceLock};

use lanecrypt_random::{
    AesCtr, Arc4, ChaCha, Diagnostic, Erasing, Fastest, Generator, Hc128, Inlined, Isa, Level,
    Owned, Rekeying, Salsa, SeedCore, Shared, SingleThread, StaticGenerator,
};

use crate::candidate::{Candidate, Our};
use crate::unsynchronised::Unsynchronised;
use crate::{draw, kernel_check};

/// The entry point of the functions at the root, which choose the core themselves.
pub(crate) const DEFAULT: &str = "default";

impl Our {
    const fn erasing<C: SeedCore>(subject: &'static str) -> Self {
        Self { subject, generator: "erasing", check: kernel_check::kernel_is_right::<C> }
    }

    const fn rekeying<C: SeedCore>(subject: &'static str) -> Self {
        Self { generator: "rekeying", ..Self::erasing::<C>(subject) }
    }
}

const ARC4: Our =
    Our { subject: "arc4", generator: "rekeying", check: kernel_check::arc4_is_right };
const HC128: Our =
    Our { subject: "hc128", generator: "rekeying", check: kernel_check::hc128_is_right };
const DIAGNOSTIC: Our = Our { generator: "rekeying-diagnostic", ..HC128 };
const INLINE: Our =
    Our { generator: "rekeying-inline", check: kernel_check::hc128_steps_are_right, ..HC128 };
const CHACHA20: Our = Our::erasing::<ChaCha<20>>("chacha20");
const AES_256: Our = Our::erasing::<AesCtr<256>>("aes-256-ctr");

/// The default core of a generator.
fn fastest(isa: Isa) -> Our {
    if Fastest::name(isa) == AES_256.subject { AES_256 } else { CHACHA20 }
}

impl Candidate {
    /// The calling thread's generator.
    fn per_thread<G: StaticGenerator>(kind: &Our) -> Self {
        Self::ours(kind, "per-thread", Isa::detect(), || Some(draw::of_thread::<G>()))
            .keyed_anew(|| Some(draw::of_thread::<G>()))
    }

    /// The processor's generator.
    fn per_cpu<G: StaticGenerator>(kind: &Our) -> Self {
        Self::ours(kind, "per-cpu", Isa::detect(), || Some(draw::of_cpu::<G>()))
            .keyed_anew(|| Some(draw::of_cpu::<G>()))
    }

    /// A generator that its user owns, by kernels of `isa`.
    fn owned<G: Generator>(kind: &Our, api: &str, isa: Isa) -> Self {
        Self::ours(kind, api, isa, move || Some(draw::held(Owned::<G>::with_isa(isa).ok()?)))
    }

    /// The generator of a program of one thread.
    fn single<G: Generator>(kind: &Our) -> Self {
        Self::ours(kind, "single", Isa::detect(), || {
            Some(draw::single(SingleThread::<G>::new().ok()?))
        })
    }

    /// One generator of all threads.
    fn shared<G: Generator>(kind: &Our) -> Self {
        let one = OnceLock::<Option<Arc<Shared<G>>>>::new();
        let make = || Some(Arc::new(Shared::<G>::new().ok()?));
        Self::ours(kind, "shared", Isa::detect(), move || {
            Some(draw::shared(one.get_or_init(make).clone()?))
        })
        .keyed_anew(move || Some(draw::shared(make()?)))
    }

    /// One state of all threads, without a lock.
    fn unsynchronised() -> Self {
        let one = OnceLock::<Arc<Unsynchronised>>::new();
        let make = || Arc::new(Unsynchronised::new(&lanecrypt_random::bytes()));
        let draw = move || Some(draw::unsynchronised(one.get_or_init(make).clone()));
        Self::ours(&ARC4, "unsynchronised", Isa::PORTABLE, draw)
            .keyed_anew(move || Some(draw::unsynchronised(make())))
            .faulty()
    }
}

/// Our generators in the tables by size: first as programs use them, then owned ones, then with a
/// lock.
pub(crate) fn by_size() -> Vec<Candidate> {
    let isa = Isa::detect();
    let chacha12 = Our::erasing::<ChaCha<12>>("chacha12");
    let chacha8 = Our::erasing::<ChaCha<8>>("chacha8");
    let salsa20 = Our::erasing::<Salsa<20>>("salsa20");
    vec![
        Candidate::ours(&fastest(isa), DEFAULT, isa, || Some(draw::root())),
        Candidate::per_thread::<Erasing<ChaCha<20>>>(&CHACHA20),
        Candidate::per_thread::<Erasing<ChaCha<12>>>(&chacha12),
        Candidate::per_thread::<Erasing<ChaCha<8>>>(&chacha8),
        Candidate::per_thread::<Erasing<AesCtr<256>>>(&AES_256),
        Candidate::per_cpu::<Erasing<ChaCha<20>>>(&CHACHA20),
        Candidate::per_cpu::<Erasing<AesCtr<256>>>(&AES_256),
        Candidate::owned::<Erasing<ChaCha<20>>>(&CHACHA20, "held", isa),
        Candidate::owned::<Erasing<ChaCha<12>>>(&chacha12, "held", isa),
        Candidate::owned::<Erasing<ChaCha<8>>>(&chacha8, "held", isa),
        Candidate::owned::<Erasing<Salsa<20>>>(&salsa20, "held", isa),
        Candidate::owned::<Erasing<AesCtr<256>>>(&AES_256, "held", isa),
        Candidate::shared::<Rekeying<Arc4>>(&ARC4),
    ]
}

/// Our two main cores at every level of instruction set that this processor has.
pub(crate) fn by_level() -> Vec<Candidate> {
    let best = Isa::detect();
    let levels = Level::built().iter().rev().filter(|&&level| best.has(level));
    let isas: Vec<Isa> = levels.map(|&level| best.at_most(level)).collect();
    let chacha = isas.iter();
    let chacha =
        chacha.map(|&isa| Candidate::owned::<Erasing<ChaCha<20>>>(&CHACHA20, "stream", isa));
    let aes = isas.iter();
    let aes = aes.map(|&isa| Candidate::owned::<Erasing<AesCtr<256>>>(&AES_256, "stream", isa));
    chacha.chain(aes).collect()
}

/// The rows of the message on `cprng_fast`, in its order.
pub(crate) fn of_the_message() -> Vec<Candidate> {
    vec![
        Candidate::shared::<Rekeying<Arc4>>(&ARC4),
        Candidate::unsynchronised(),
        Candidate::per_cpu::<Rekeying<Arc4>>(&ARC4),
        Candidate::per_cpu::<Rekeying<Hc128>>(&HC128),
        Candidate::per_cpu::<Diagnostic<Rekeying<Hc128>>>(&DIAGNOSTIC),
        Candidate::per_cpu::<Inlined<Hc128>>(&INLINE),
    ]
}

/// Further generators that the message asks for: the single-processor variants, and other
/// placements of its ciphers.
pub(crate) fn variants_of_the_message() -> Vec<Candidate> {
    vec![
        Candidate::owned::<Inlined<Hc128>>(&INLINE, "held", Isa::detect()),
        Candidate::single::<Rekeying<Arc4>>(&ARC4),
        Candidate::single::<Rekeying<Hc128>>(&HC128),
        Candidate::per_thread::<Rekeying<Arc4>>(&ARC4),
        Candidate::per_thread::<Rekeying<Hc128>>(&HC128),
    ]
}

/// The ciphers that the message did not test, in its design and in both places.
pub(crate) fn other_ciphers() -> Vec<Candidate> {
    fn both<C: SeedCore>(subject: &'static str) -> [Candidate; 2]
    where
        Rekeying<C>: StaticGenerator,
    {
        let kind = Our::rekeying::<C>(subject);
        [Candidate::per_cpu::<Rekeying<C>>(&kind), Candidate::per_thread::<Rekeying<C>>(&kind)]
    }
    let pairs = [
        both::<Salsa<20>>("salsa20"),
        both::<Salsa<12>>("salsa20-12"),
        both::<Salsa<8>>("salsa20-8"),
        both::<ChaCha<20>>("chacha20"),
        both::<ChaCha<12>>("chacha12"),
        both::<ChaCha<8>>("chacha8"),
        both::<AesCtr<128>>("aes-128-ctr"),
        both::<AesCtr<256>>("aes-256-ctr"),
    ];
    pairs.into_iter().flatten().collect()
}

/// The generators that programs should use, in both places.
pub(crate) fn recommended() -> Vec<Candidate> {
    vec![
        Candidate::per_cpu::<Erasing<ChaCha<20>>>(&CHACHA20),
        Candidate::per_thread::<Erasing<ChaCha<20>>>(&CHACHA20),
        Candidate::per_cpu::<Erasing<AesCtr<256>>>(&AES_256),
        Candidate::per_thread::<Erasing<AesCtr<256>>>(&AES_256),
    ]
}

/// The generators whose repeated words are counted: first the one that is wrong by design.
pub(crate) fn of_repeats() -> [Candidate; 4] {
    [
        Candidate::unsynchronised(),
        Candidate::shared::<Rekeying<Arc4>>(&ARC4),
        Candidate::per_cpu::<Erasing<ChaCha<20>>>(&CHACHA20),
        Candidate::per_thread::<Erasing<ChaCha<20>>>(&CHACHA20),
    ]
}
