//! What a call leaves behind: on the stack, in registers, in memory that was freed.
//!
//! The call runs on a stack of its own, all of which is looked at: below its caller's frame and in
//! it. The registers are stored by the very next instructions. An allocator keeps what is freed as
//! it is given back.

#![cfg(target_arch = "x86_64")]

mod stack;

use std::collections::HashSet;

use crate::keeper::kept;

/// Bytes of a word that is looked for.
const WORD: usize = 8;

/// A copy of the residue of a call.
pub struct Residue {
    places: [(&'static str, Vec<u8>); 4],
}

impl Residue {
    /// What `call` leaves behind. It must not unwind.
    pub fn of(mut call: impl FnMut()) -> Self {
        let mut freed = Vec::new();
        let left = stack::run(&mut || freed = kept(&mut call));
        Self::new(left, freed)
    }

    /// What `call` leaves behind but for its own frame on the stack, and registers by which it
    /// moves what it has there. It calls what it is given with its stack pointer.
    pub fn below(mut call: impl FnMut(&mut dyn FnMut(usize))) -> Self {
        let (mut freed, mut frame) = (Vec::new(), 0);
        let mut left = stack::run(&mut || freed = kept(|| call(&mut |at| frame = at)));
        let below = frame.checked_sub(left.start).expect("the call says where its frame is");
        left.stack.truncate(below);
        left.vectors.clear();
        Self::new(left, freed)
    }

    fn new(left: stack::Left, freed: Vec<u8>) -> Self {
        let stack::Left { stack, vectors, general, .. } = left;
        let [stack, vectors, general, freed] = [
            ("the stack", stack),
            ("vector registers", vectors),
            ("general purpose registers", general),
            ("freed memory", freed),
        ];
        Self { places: [stack, vectors, general, freed] }
    }

    /// How many words of these secrets are left, and where.
    fn words(&self, secrets: &Secrets) -> Vec<Leak> {
        let count = |bytes: &[u8]| {
            let words = bytes.windows(WORD).map(word);
            let secret = words.filter(|word| *word != 0 && secrets.words.contains(word));
            secret.collect::<HashSet<_>>().len()
        };
        let all = self.places.iter().map(|(place, bytes)| ("words", *place, count(bytes)));
        all.filter(|(_, _, count)| *count > 0).collect()
    }
}

/// Which key comes when: neither by turns nor after the same number of calls.
const ORDER: [usize; 16] = [1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 1, 0, 1, 0];

/// How many words of the secrets were found in a place, or bytes that depend on the key.
pub type Leak = (&'static str, &'static str, usize);

/// What `call` leaves of a key: words of the secrets that come from the first of both keys, and
/// bytes that are always the same under one key and differ under the other.
///
/// Other bytes may differ from call to call: addresses do.
pub fn leaks(secrets: &Secrets, keys: [&[u8]; 2], call: impl Fn(&[u8]) -> Residue) -> Vec<Leak> {
    // The key is always read from the same place.
    let mut place = keys[0].to_vec();
    let mut under = |which: usize| {
        place.copy_from_slice(keys[which]);
        call(&place)
    };
    // What is done once is done; and what changes from time to time is not taken for the key.
    let _first = under(0);
    let [one, other] = [under(0), under(1)];
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    for which in ORDER {
        if which == 0 { ones.push(under(0)) } else { others.push(under(1)) }
    }
    let mut leaks = one.words(secrets);
    for (i, (place, bytes)) in one.places.iter().enumerate() {
        let same = |at: usize, of: &Residue, like: &[Residue]| {
            like.iter().all(|like| like.places[i].1.get(at) == of.places[i].1.get(at))
        };
        let depends = |at: &usize| {
            other.places[i].1.get(*at) != Some(&bytes[*at])
                && same(*at, &one, &ones)
                && same(*at, &other, &others)
        };
        let count = (0..bytes.len()).filter(depends).count();
        if count > 0 {
            leaks.push(("bytes", place, count));
        }
    }
    leaks
}

/// Words that must be nowhere.
#[derive(Default)]
pub struct Secrets {
    words: HashSet<u64>,
}

impl Secrets {
    /// Every word that depends on which of both keys `make` gets, as it is under the first. What
    /// lies between the fields of a value may differ too, but not always in the same way.
    pub fn add(&mut self, keys: [&[u8]; 2], make: impl Fn(&[u8]) -> Vec<u8>) {
        let [one, other, another, same] = [0, 1, 1, 0].map(|which| make(keys[which]));
        let differ = |one: &[u8], other: &[u8]| {
            one.iter().zip(other).filter(|(one, other)| one != other).count() >= WORD - 2
        };
        for at in (0..=one.len() - WORD).step_by(4) {
            let [one, other, another, same] =
                [&one, &other, &another, &same].map(|bytes| &bytes[at..at + WORD]);
            if differ(one, other) && one == same && other == another {
                self.words.insert(word(one));
            }
        }
    }

    pub fn count(&self) -> usize {
        self.words.len()
    }
}

fn word(bytes: &[u8]) -> u64 {
    u64::from_ne_bytes(bytes.try_into().expect("windows have this length"))
}

/// The bytes that a value consists of.
pub fn bytes_of<T>(value: &T) -> Vec<u8> {
    let first = core::ptr::from_ref(value).cast::<u8>();
    // SAFETY: the address is within the value; what padding is between fields came with them.
    let byte = |i| unsafe { core::ptr::read_volatile(first.wrapping_add(i)) };
    (0..size_of::<T>()).map(byte).collect()
}
