//! How the measured loops draw from our generators, in every place.

use std::sync::Arc;

use lanecrypt_peers::{Draw, Failed};
use lanecrypt_random::{
    EntropyError, Erasing, Generator, Owned, PerCpu, PerThread, Shared, SingleThread,
    StaticGenerator,
};

use crate::unsynchronised::Unsynchronised;

/// A generator, and the functions that fill a buffer, draw a word, and take a new key. Each is a
/// type of its own, so that the loops are compiled with it.
struct By<G, F, W, K> {
    generator: G,
    fill: F,
    word: W,
    rekey: K,
}

impl<G, F, W, K> Draw for By<G, F, W, K>
where
    F: Fn(&mut G, &mut [u8]),
    W: Fn(&mut G) -> u32,
    K: Fn(&mut G) -> Result<(), EntropyError>,
{
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        (self.fill)(&mut self.generator, buffer);
        Ok(())
    }

    #[inline]
    fn word(&mut self) -> Result<u32, Failed> {
        Ok((self.word)(&mut self.generator))
    }

    fn rekey(&mut self) -> Result<(), Failed> {
        (self.rekey)(&mut self.generator).map_err(|_| Failed)
    }
}

fn by<G>(
    generator: G,
    fill: impl Fn(&mut G, &mut [u8]),
    word: impl Fn(&mut G) -> u32,
    rekey: impl Fn(&mut G) -> Result<(), EntropyError>,
) -> impl Draw {
    By { generator, fill, word, rekey }
}

/// The functions at the root of `lanecrypt_random`, as most programs call them.
pub(crate) fn root() -> impl Draw {
    let fill = |(): &mut (), buffer: &mut [u8]| lanecrypt_random::fill(buffer);
    by((), fill, |()| lanecrypt_random::u32(), |()| PerThread::<Erasing>::reseed())
}

/// The calling thread's generator.
pub(crate) fn of_thread<G: StaticGenerator>() -> impl Draw {
    let fill = |(): &mut (), buffer: &mut [u8]| PerThread::<G>::fill(buffer);
    by((), fill, |()| PerThread::<G>::u32(), |()| PerThread::<G>::reseed())
}

/// The processor's generator.
pub(crate) fn of_cpu<G: StaticGenerator>() -> impl Draw {
    let fill = |(): &mut (), buffer: &mut [u8]| PerCpu::<G>::fill(buffer);
    by((), fill, |()| PerCpu::<G>::u32(), |()| PerCpu::<G>::reseed())
}

/// A generator that its user holds.
pub(crate) fn held<G: Generator>(generator: Owned<G>) -> impl Draw {
    by(generator, |g, buffer| g.fill(buffer), |g| g.u32(), |g| g.reseed())
}

/// The generator of a program of one thread.
pub(crate) fn single<G: Generator>(generator: SingleThread<G>) -> impl Draw {
    by(generator, |g, buffer| g.fill(buffer), |g| g.u32(), |g| g.reseed())
}

/// One generator of all threads, behind a lock.
pub(crate) fn shared<G: Generator>(generator: Arc<Shared<G>>) -> impl Draw {
    by(generator, |g, buffer| g.fill(buffer), |g| g.u32(), |g| g.reseed())
}

/// One state of all threads, without a lock.
pub(crate) fn unsynchronised(state: Arc<Unsynchronised>) -> impl Draw {
    let rekey = |state: &mut Arc<Unsynchronised>| {
        state.rekey(&lanecrypt_random::bytes());
        Ok(())
    };
    by(state, |state, buffer| state.fill(buffer), |state| state.word(), rekey)
}
