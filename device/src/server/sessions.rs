//! The sessions of a client.

use core::cell::Cell;
use std::sync::Arc;

#[cfg(feature = "_asymmetric")]
use lanecrypt_engine::AsymmetricKey;
use lanecrypt_engine::{Algorithm, Engine, Error, Mode, Operation, Session};

use super::cost::{CostTable, Costs};
use super::event::Requests;
use super::nonces::SharedNonces;
use super::uses::{Uses, operations, place};

/// A session of the engine. Its key is expanded on the heap, and stays there: a move would leave a
/// residue.
type Unmoved = Arc<Box<Session>>;

/// An open session. Sessions of a named key share it.
#[derive(Clone, Debug)]
pub(super) struct Opened {
    session: Unmoved,
    pub(super) uses: Uses,
    /// For each operation the longest data that is served faster in lanes, in bytes.
    longest: [usize; Operation::OF_CIPHERS.len()],
    costs: Costs,
    /// The daemon's key that it is of, if it has a name.
    pub(super) named: Option<Arc<NamedKey>>,
}

/// What the sessions of a named key share.
#[derive(Debug)]
pub(super) struct NamedKey {
    pub(super) name: String,
    pub(super) uses: Uses,
    /// The sessions of earlier versions.
    pub(super) older: Vec<Opened>,
    /// The nonces, if the daemon makes them.
    pub(super) nonces: Option<SharedNonces>,
}

impl Opened {
    /// The estimated time of a request for this many bytes, with the operation at this place, in
    /// nanoseconds.
    #[inline]
    pub(super) fn cost(&self, place: usize, bytes: usize) -> u64 {
        self.costs.of(place, bytes)
    }

    /// The error of a request that cannot succeed, whatever its bytes are. Those that it does not
    /// find are found when the request is served.
    pub(super) fn refuses(&self, operation: Operation, nonce: usize, data: usize) -> Option<Error> {
        let algorithm = self.session.algorithm()?;
        if !operations(algorithm).contains(&operation) {
            return Some(Error::Unsupported);
        }
        let has_length = match algorithm.mode() {
            Mode::Gcm | Mode::Siv => nonce > 0,
            _ => nonce == algorithm.nonce_length() || algorithm.is_stream() && nonce == 16,
        };
        if algorithm != Algorithm::NULL && !has_length {
            return Some(Error::NonceLength);
        }
        (!data.is_multiple_of(algorithm.granularity())).then_some(Error::DataLength)
    }

    /// Whether its key has earlier versions.
    #[inline]
    pub(super) fn has_older(&self) -> bool {
        self.named.as_ref().is_some_and(|key| !key.older.is_empty())
    }

    /// The sessions of earlier versions of its key, which open and verify, and have its scheme.
    pub(super) fn older(&self, operation: Operation) -> impl Iterator<Item = &Self> {
        let older = match (&self.named, operation) {
            (Some(key), Operation::Open | Operation::Verify) => &key.older[..],
            _ => &[],
        };
        older.iter().filter(|older| older.has_scheme_of(self))
    }

    /// Whether the asymmetric keys of both have the same scheme, or both are ciphers.
    pub(super) fn has_scheme_of(&self, other: &Self) -> bool {
        #[cfg(feature = "_asymmetric")]
        {
            match (self.session.asymmetric_key(), other.session.asymmetric_key()) {
                (Some(one), Some(other)) => one.has_scheme_of(other),
                (one, other) => one.is_none() && other.is_none(),
            }
        }
        #[cfg(not(feature = "_asymmetric"))]
        {
            let _ = other;
            true
        }
    }

    /// About how many bytes of memory it takes.
    pub(super) fn memory(&self) -> u64 {
        match self.named {
            Some(_) => size_of::<Place>() as u64,
            // The numbers of an RSA key, with those that are derived from them.
            None => SESSION + 40 * self.session.signature_length() as u64,
        }
    }

    /// Whether messages of this length may be served faster in lanes, by the operation at this
    /// place.
    #[inline]
    pub(super) fn gains(&self, place: usize, bytes: usize) -> bool {
        self.longest.get(place).is_some_and(|&longest| bytes <= longest)
    }

    /// Whether it has an asymmetric key.
    pub(super) fn is_asymmetric(&self) -> bool {
        self.session.signature_length() > 0 || self.session.agreement_length() > 0
    }

    /// The same as a session of a named key.
    pub(super) fn of_key(mut self, key: &Arc<NamedKey>) -> Self {
        if let Some(longest) = place(Operation::Open).and_then(|place| self.longest.get_mut(place))
            && !key.older.is_empty()
        {
            // Each version is tried alone.
            *longest = 0;
        }
        Self { uses: key.uses, named: Some(key.clone()), ..self }
    }

    #[inline]
    pub(super) fn session(&self) -> &Session {
        &self.session
    }
}

/// Opens a session for all operations.
pub(super) fn open(
    engine: &Engine,
    costs: &mut CostTable,
    algorithm: Algorithm,
    key: &[u8],
) -> Result<Opened, Error> {
    let session = match algorithm.is_aead() {
        true => engine.boxed_session(algorithm, key)?,
        false => engine.boxed_raw_session(algorithm, key)?,
    };
    let mut longest = [0; Operation::OF_CIPHERS.len()];
    for row in engine.lanes().ranges().filter(|row| row.algorithm == algorithm) {
        if let Some(longest) = place(row.operation).and_then(|place| longest.get_mut(place)) {
            // Packets include their tag.
            *longest = (*longest).max(row.longest.saturating_add(algorithm.tag_length()));
        }
    }
    let costs = costs.of(engine, algorithm);
    Ok(Opened { session: Arc::new(session), uses: Uses::ALL, longest, costs, named: None })
}

/// Opens a session with an asymmetric key.
#[cfg(feature = "_asymmetric")]
pub(super) fn open_asymmetric(engine: &Engine, key: impl Into<AsymmetricKey>) -> Opened {
    // A private key is already on the heap.
    let session = Arc::new(Box::new(engine.asymmetric_session(key)));
    let longest = [0; Operation::OF_CIPHERS.len()];
    Opened { session, uses: Uses::ALL, longest, costs: Costs::NONE, named: None }
}

/// About how many bytes of memory a session of a cipher takes, with what the allocator adds.
pub(super) const SESSION: u64 = (size_of::<Session>() + size_of::<Place>() + 128) as u64;

/// The sessions of a client, by number: 16 bits of index, and 16 that count the uses of the place.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    places: Vec<Place>,
    /// The number of places in use.
    open: usize,
    /// The bytes of memory that they take, about.
    memory: u64,
}

/// A place for a session.
#[derive(Debug)]
pub(super) struct Place {
    number: u32,
    opened: Option<Opened>,
    /// The numbers of requests by operation.
    requests: [Cell<u64>; Operation::ALL.len()],
    /// Whether the named key of the session is no longer there.
    is_removed: bool,
}

impl Place {
    fn new(number: u32, opened: Opened) -> Self {
        let requests = Default::default();
        Self { number, opened: Some(opened), requests, is_removed: false }
    }

    /// Counts a request with the operation at this place.
    #[inline]
    pub(super) fn count(&self, place: usize) {
        if let Some(count) = self.requests.get(place) {
            count.set(count.get() + 1);
        }
    }

    pub(super) fn requests(&self) -> Requests {
        Requests::new(self.requests.each_ref().map(Cell::get))
    }

    #[inline]
    pub(super) fn opened(&self) -> Option<&Opened> {
        self.opened.as_ref()
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Whether its session is open, even if the key was removed.
    #[inline]
    fn is_taken(&self) -> bool {
        self.opened.is_some() || self.is_removed
    }
}

impl Sessions {
    /// The largest possible number of sessions.
    pub(super) const MOST: usize = 1 << 16;

    pub(super) fn len(&self) -> usize {
        self.open
    }

    /// About how many bytes of memory they take.
    pub(super) fn memory(&self) -> u64 {
        self.memory
    }

    /// The open ones.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(|place| place.is_taken())
    }

    /// Replaces each session of a named key by what `find` returns; if that is nothing, the key is
    /// dropped, and the session serves no requests until it is closed. Returns the number of those.
    pub(super) fn rebind(&mut self, mut find: impl FnMut(&Opened) -> Option<Opened>) -> u32 {
        let mut removed = 0;
        for place in &mut self.places {
            let Some(opened) = place.opened.as_mut().filter(|opened| opened.named.is_some()) else {
                continue;
            };
            match find(opened) {
                Some(found) => *opened = found,
                None => {
                    self.memory = self.memory.saturating_sub(opened.memory());
                    (place.opened, place.is_removed) = (None, true);
                    removed += 1;
                }
            }
        }
        removed
    }

    /// Stores a session, if there are fewer than `most`, and returns its number.
    pub(super) fn add(&mut self, opened: Opened, most: usize) -> Option<u32> {
        if self.len() >= most.min(Self::MOST) {
            return None;
        }
        let memory = opened.memory();
        let free = match self.open < self.places.len() {
            true => self.places.iter_mut().find(|place| !place.is_taken()),
            false => None,
        };
        let number = match free {
            Some(place) => {
                let number = place.number.wrapping_add(1 << 16);
                *place = Place::new(number, opened);
                number
            }
            None => {
                let number = u32::try_from(self.places.len()).ok()?;
                self.places.try_reserve(1).ok()?;
                self.places.push(Place::new(number, opened));
                number
            }
        };
        self.open += 1;
        self.memory += memory;
        Some(number)
    }

    /// Ends a session and returns it, unless its key was removed; `None` if there is none of this
    /// number.
    pub(super) fn remove(&mut self, number: u32) -> Option<(Option<Opened>, Requests)> {
        let place = self.places.get_mut(number as usize & (Self::MOST - 1));
        let place = place.filter(|place| place.number == number && place.is_taken())?;
        let opened = place.opened.take();
        place.is_removed = false;
        self.open -= 1;
        self.memory = self.memory.saturating_sub(opened.as_ref().map_or(0, Opened::memory));
        Some((opened, place.requests()))
    }

    #[inline]
    pub(super) fn find(&self, number: u32) -> Option<&Place> {
        match self.places.get(number as usize & (Self::MOST - 1)) {
            Some(place) if place.number == number && place.is_taken() => Some(place),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_closed_sessions_find_nothing() {
        let engine = Engine::new();
        let mut costs = CostTable::new();
        let mut open =
            || open(&engine, &mut costs, Algorithm::AES_128_GCM, &[1; 16]).expect("it is a key");
        let mut sessions = Sessions::default();
        let first = sessions.add(open(), 2).expect("there is room");
        let second = sessions.add(open(), 2).expect("there is room");
        assert_eq!(sessions.add(open(), 2), None);
        assert!(sessions.find(first).is_some() && sessions.find(second).is_some());
        assert!(sessions.remove(first).is_some() && sessions.remove(first).is_none());
        assert!(sessions.find(first).is_none());
        let third = sessions.add(open(), 2).expect("there is room");
        assert!(third != first && sessions.find(third).is_some() && sessions.find(first).is_none());
        for number in [first, 2, u32::MAX, third + (1 << 16)] {
            assert!(sessions.find(number).is_none() && sessions.remove(number).is_none());
        }
        assert_eq!((sessions.len(), sessions.memory()), (2, 2 * SESSION));
    }
}
