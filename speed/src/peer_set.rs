//! The peers that a run measures beside ours.

use core::cell::{OnceCell, RefCell};

use lanecrypt_peers::{
    Aead, Availability, Cipher, Peer, PeerLibraries, PublicKey, Signer, SoftHsm, aeads, ciphers,
    generators, public_keys, signers,
};

use crate::candidate::Candidate;
use crate::ciphers::CipherUnderTest;
use crate::device::DeviceOptions;
use crate::machine::Library;
use crate::options::{Error, Options, Peers};
use crate::text;

/// The chosen peers. Each kind is looked for when a table first asks for it.
pub(crate) struct PeerSet<'o> {
    options: &'o Options,
    generators: OnceCell<Found<Candidate>>,
    ciphers: OnceCell<Found<CipherUnderTest<dyn Cipher>>>,
    aeads: OnceCell<Found<CipherUnderTest<dyn Aead>>>,
    signers: OnceCell<Found<FoundPeer<dyn Signer>>>,
    public_keys: OnceCell<Found<FoundPeer<dyn PublicKey>>>,
    /// Whether the library of SoftHSM2 is there; its version is not known without a token.
    softhsm: OnceCell<Availability>,
    /// Tables that lack something, and what.
    lacking: RefCell<Vec<(&'static str, String)>>,
}

/// A peer that was found, for a table that measures it by its own interface.
pub(crate) struct FoundPeer<T: ?Sized> {
    pub(crate) peer: Peer<T>,
    pub(crate) version: String,
}

impl<T: ?Sized> FoundPeer<T> {
    fn new(peer: &Peer<T>) -> Option<Self> {
        let Availability::Found(version) = &peer.availability else { return None };
        Some(Self { peer: peer.clone(), version: version.clone() })
    }
}

/// The peers of a kind, and those of them that can be measured.
struct Found<C> {
    /// Project and availability of each.
    states: Vec<(&'static str, Availability)>,
    candidates: Vec<C>,
}

impl<'o> PeerSet<'o> {
    /// The peers that `options` choose.
    ///
    /// # Errors
    ///
    /// [`Error`] if a library that was given as a path cannot be used, or a peer has an unknown
    /// name.
    pub(crate) fn new(options: &'o Options) -> Result<Self, Error> {
        // A user who names a library wants no figures without it.
        options.libraries.check().map_err(Error::Library)?;
        if let Peers::Only(_) = &options.peers {
            // Names are checked whatever is measured.
            let libraries = &options.libraries;
            let mut known = sources(&generators(libraries));
            known.extend(sources(&ciphers(libraries)));
            known.extend(sources(&aeads(libraries)));
            known.extend(sources(&signers(libraries)));
            known.extend(sources(&public_keys(libraries)));
            known.push(SoftHsm::SOURCE);
            options.peers.check(&known)?;
        }
        let (generators, ciphers) = (OnceCell::new(), OnceCell::new());
        let (aeads, signers) = (OnceCell::new(), OnceCell::new());
        let (public_keys, softhsm) = (OnceCell::new(), OnceCell::new());
        let lacking = RefCell::default();
        Ok(Self { options, generators, ciphers, aeads, signers, public_keys, softhsm, lacking })
    }

    /// What the table `device` needs.
    pub(crate) const fn options(&self) -> &'o Options {
        self.options
    }

    pub(crate) const fn device(&self) -> &DeviceOptions {
        &self.options.device
    }

    pub(crate) fn generators(&self) -> &[Candidate] {
        &self.generators.get_or_init(|| self.found(generators, Candidate::peer)).candidates
    }

    /// Ciphers without authentication.
    pub(crate) fn ciphers(&self) -> &[CipherUnderTest<dyn Cipher>] {
        &self.ciphers.get_or_init(|| self.found(ciphers, CipherUnderTest::peer)).candidates
    }

    /// Ciphers with authentication.
    pub(crate) fn aeads(&self) -> &[CipherUnderTest<dyn Aead>] {
        &self.aeads.get_or_init(|| self.found(aeads, CipherUnderTest::peer)).candidates
    }

    /// RSA signatures.
    pub(crate) fn signers(&self) -> &[FoundPeer<dyn Signer>] {
        &self.signers.get_or_init(|| self.found(signers, FoundPeer::new)).candidates
    }

    /// Public-key operations of handshakes.
    pub(crate) fn public_keys(&self) -> &[FoundPeer<dyn PublicKey>] {
        &self.public_keys.get_or_init(|| self.found(public_keys, FoundPeer::new)).candidates
    }

    /// Notes that a table has fewer rows, and why.
    pub(crate) fn lacks(&self, table: &'static str, reason: String) {
        self.lacking.borrow_mut().push((table, reason));
    }

    /// Whether SoftHSM2 can be measured.
    pub(crate) fn has_softhsm(&self) -> bool {
        if !self.options.peers.include(SoftHsm::SOURCE) {
            return false;
        }
        let look = || match SoftHsm::look(&self.options.libraries) {
            Ok(()) => Availability::Found(String::new()),
            Err(hint) => Availability::Missing(hint),
        };
        matches!(self.softhsm.get_or_init(look), Availability::Found(_))
    }

    fn found<T: ?Sized, C>(
        &self,
        all: fn(&PeerLibraries) -> Vec<Peer<T>>,
        candidate: fn(&Peer<T>) -> Option<C>,
    ) -> Found<C> {
        // To look for peers loads their libraries.
        let mut peers = match self.options.peers {
            Peers::None => Vec::new(),
            Peers::All | Peers::Only(_) => all(&self.options.libraries),
        };
        peers.retain(|peer| self.options.peers.include(peer.source));
        let states = peers.iter().map(|peer| (peer.source, peer.availability.clone())).collect();
        Found { states, candidates: peers.iter().filter_map(candidate).collect() }
    }

    /// Project and availability of each peer that was looked for.
    fn states(&self) -> impl Iterator<Item = &(&'static str, Availability)> {
        let generators = self.generators.get().map(|found| &found.states);
        let ciphers = self.ciphers.get().map(|found| &found.states);
        let aeads = self.aeads.get().map(|found| &found.states);
        let signers = self.signers.get().map(|found| &found.states);
        let public_keys = self.public_keys.get().map(|found| &found.states);
        [generators, ciphers, aeads, signers, public_keys].into_iter().flatten().flatten()
    }

    /// Each project that was found, once a version.
    pub(crate) fn libraries(&self) -> Vec<Library> {
        let mut found: Vec<Library> = Vec::new();
        for (source, availability) in self.states() {
            if let Availability::Found(version) = availability {
                let library = Library::new(source, version);
                if !found.contains(&library) {
                    found.push(library);
                }
            }
        }
        found
    }

    /// The projects of which something was found, each once.
    pub(crate) fn found_sources(&self) -> Vec<&'static str> {
        let softhsm = self.softhsm.get().map(|state| (SoftHsm::SOURCE, state));
        let states = self.states().map(|(source, state)| (*source, state)).chain(softhsm);
        let mut sources = Vec::new();
        for (source, state) in states {
            if matches!(state, Availability::Found(_)) && !sources.contains(&source) {
                sources.push(source);
            }
        }
        sources
    }

    /// A line with the peers that are missing, and how to get each.
    pub(crate) fn missing(&self) -> String {
        let mut hints: Vec<String> = Vec::new();
        let softhsm = self.softhsm.get().map(|state| (SoftHsm::SOURCE, state));
        for (source, availability) in
            self.states().map(|(source, state)| (*source, state)).chain(softhsm)
        {
            if let Availability::Missing(hint) = availability {
                let hint = format!("{source} ({hint})");
                if !hints.contains(&hint) {
                    hints.push(hint);
                }
            }
        }
        let lacking = self.lacking.borrow();
        hints.extend(lacking.iter().map(|(table, reason)| format!("rows of {table} ({reason})")));
        match hints.is_empty() {
            true => String::new(),
            false => text::wrapped(&format!("missing: {}", hints.join("; "))),
        }
    }
}

fn sources<T: ?Sized>(peers: &[Peer<T>]) -> Vec<&'static str> {
    peers.iter().map(|peer| peer.source).collect()
}
