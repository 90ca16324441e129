//! Peer: AES-GCM and ChaCha20-Poly1305 of Intel's IPsec-MB, without checks.
//!
//! AES-GCM is one function a message (`direct`), and both are jobs (`job`) and bursts of jobs
//! (`burst`), which are done as they are handed over, because neither has lanes. Comparing tags is
//! the caller's.

use core::iter;

use crate::aeads::same;
use crate::crypt::rounds;
use crate::ipsec_mb::{
    self, Algorithm, Api, BURST, ChaCha, Expanded, Gcm, GcmKey, GcmMessage, GcmSession, GcmState,
    IpsecMb, Job, Manager,
};
use crate::{Aead, AeadPeer, Direction, Failed, Packet, PeerLibraries, Sealing};

pub(crate) fn aeads(libraries: &PeerLibraries) -> Vec<AeadPeer> {
    let library = ipsec_mb::library(libraries);
    let mut peers = Vec::new();
    peers.extend(["aes-128-gcm", "aes-256-gcm"].map(|algorithm| direct(&library, algorithm)));
    for api in [Api::Burst, Api::Job] {
        let [short, long] = ["aes-128-gcm", "aes-256-gcm"];
        let chacha = ("chacha20-poly1305", Algorithm::CHACHA20_POLY1305);
        peers.push(peer::<GcmSession<16>>(&library, api, short, Algorithm::AES_128_GCM));
        peers.push(peer::<GcmSession<32>>(&library, api, long, Algorithm::AES_256_GCM));
        peers.push(peer::<ChaCha>(&library, api, chacha.0, chacha.1));
    }
    peers
}

fn direct(library: &Result<&'static IpsecMb, String>, algorithm: &'static str) -> AeadPeer {
    let names = ["ipsec-mb", "direct", algorithm];
    let library = match library {
        Ok(library) => *library,
        Err(hint) => return AeadPeer::missing(names, hint),
    };
    // The functions need no manager once it has named them.
    let functions = Manager::new(library).and_then(|manager| {
        let (key_len, _) = crate::aead_lengths(algorithm)?;
        Some((manager.gcm(key_len)?, key_len))
    });
    let Some((functions, key_len)) = functions else {
        return AeadPeer::missing(names, "IPsec-MB makes no manager here");
    };
    AeadPeer::tried(names, library.version.clone(), move |_, key| {
        Keyed::new(functions, key_len, key)
    })
}

fn peer<K: Expanded>(
    library: &Result<&'static IpsecMb, String>,
    api: Api,
    name: &'static str,
    algorithm: Algorithm,
) -> AeadPeer {
    let names = ["ipsec-mb", api.name(), name];
    match *library {
        Ok(library) => AeadPeer::made(names, library.version.clone(), move |_, keys| {
            Some(Box::new(Sessions::<K>::new(library, api, algorithm, keys)?))
        }),
        Err(ref hint) => AeadPeer::missing(names, hint),
    }
    .in_batches()
}

/// A key of AES-GCM.
struct Keyed {
    key: Box<GcmKey>,
    state: GcmState,
    functions: Gcm,
    key_len: usize,
}

impl Keyed {
    fn new(functions: Gcm, key_len: usize, key: &[u8]) -> Result<Self, Failed> {
        let expanded = Box::new(GcmKey::EMPTY);
        let mut made = Self { key: expanded, state: GcmState::EMPTY, functions, key_len };
        made.key(key)?;
        Ok(made)
    }

    /// Runs a message and writes its tag.
    ///
    /// # Safety
    ///
    /// `to` and `from` have `len` bytes; they are the same or do not overlap.
    #[inline]
    unsafe fn message(
        &mut self,
        function: GcmMessage,
        [nonce, aad]: [&[u8]; 2],
        to: *mut u8,
        from: *const u8,
        len: usize,
        tag: &mut [u8; 16],
    ) -> Result<(), Failed> {
        Failed::unless(nonce.len() == 12)?;
        // SAFETY: the key has been expanded; nonce, associated data and tag are as long as said,
        // and the caller vouches for the data.
        unsafe {
            (function.0)(
                &raw const *self.key,
                &raw mut self.state,
                to,
                from,
                len as u64,
                nonce.as_ptr(),
                aad.as_ptr(),
                aad.len() as u64,
                tag.as_mut_ptr(),
                16,
            );
        }
        Ok(())
    }
}

impl Sealing for Keyed {
    #[inline]
    fn seal(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        data: &mut [u8],
        tag: &mut [u8; 16],
    ) -> Result<(), Failed> {
        let (function, bytes) = (self.functions.encrypt, data.as_mut_ptr());
        // SAFETY: the data are as long as said, at one place.
        unsafe { self.message(function, [nonce, aad], bytes, bytes, data.len(), tag) }
    }

    #[inline]
    fn open(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        sealed: &[u8],
        tag: &[u8; 16],
        out: &mut [u8],
    ) -> Result<(), Failed> {
        Failed::unless(out.len() == sealed.len())?;
        let (mut right, to, from) = ([0; 16], out.as_mut_ptr(), sealed.as_ptr());
        let function = self.functions.decrypt;
        // SAFETY: both buffers are as long as said.
        unsafe { self.message(function, [nonce, aad], to, from, sealed.len(), &mut right) }?;
        Failed::unless(same(&right, tag))
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        Failed::unless(key.len() == self.key_len)?;
        // SAFETY: the functions are those for this length.
        unsafe { self.functions.expand(key, &mut self.key) };
        Ok(())
    }
}

/// Sessions that share a manager.
struct Sessions<K> {
    manager: Manager,
    api: Api,
    algorithm: Algorithm,
    /// Of the sessions.
    keys: Vec<K>,
    /// Of the packets of one batch, for those that set keys.
    fresh: Vec<K>,
    /// Of the packets of one batch that are opened, to be compared.
    tags: Vec<[u8; 16]>,
}

impl<K: Expanded> Sessions<K> {
    fn new(
        library: &'static IpsecMb,
        api: Api,
        algorithm: Algorithm,
        keys: &[&[u8]],
    ) -> Option<Self> {
        if keys.is_empty() {
            return None;
        }
        let manager = Manager::new(library)?;
        let mut expanded: Vec<K> = iter::repeat_with(K::empty).take(keys.len()).collect();
        for (&key, place) in keys.iter().zip(&mut expanded) {
            place.set(&manager, key).ok()?;
        }
        let (fresh, tags) = (Vec::new(), Vec::new());
        Some(Self { manager, api, algorithm, keys: expanded, fresh, tags })
    }

    /// Goes through the packets in batches, of which each sets `keys` if there are any.
    #[inline]
    fn run(
        &mut self,
        packets: &mut [Packet<'_>],
        keys: Option<&[&[u8]]>,
        batch: usize,
        requests: usize,
        direction: Direction,
    ) -> Result<(), Failed> {
        Failed::unless(batch != 0)?;
        let most = batch.min(packets.len());
        if keys.is_some() && self.fresh.len() < most {
            self.fresh.resize_with(most, K::empty);
        }
        if self.tags.len() < most {
            self.tags.resize(most, [0; 16]);
        }
        let rekey = keys.is_some();
        let mut keys = keys.unwrap_or(&[]).iter().cycle();
        rounds(packets.len(), requests, |count| {
            for batch in packets[..count].chunks_mut(batch) {
                if rekey {
                    for place in self.fresh.iter_mut().take(batch.len()) {
                        place.set(&self.manager, keys.next().ok_or(Failed)?)?;
                    }
                }
                self.batch(batch, rekey, direction)?;
            }
            Ok(())
        })
    }

    /// Runs packets as one batch, under the keys of their sessions or of the batch, and compares
    /// the tags of those that are opened.
    #[inline]
    fn batch(
        &mut self,
        packets: &mut [Packet<'_>],
        fresh: bool,
        direction: Direction,
    ) -> Result<(), Failed> {
        let (algorithm, keys) = (self.algorithm, if fresh { &self.fresh } else { &self.keys });
        let items = packets.iter_mut().zip(&mut self.tags).enumerate();
        let describe = |(at, (packet, made)): (usize, (&mut Packet<'_>, &mut _)), job: &mut Job| {
            let len = packet.data.len();
            Failed::unless(packet.nonce.len() == usize::from(algorithm.iv_len))?;
            let key = keys.get(if fresh { at } else { packet.session }).ok_or(Failed)?;
            let to = packet.data.as_mut_ptr();
            let (from, tag) = match direction {
                Direction::Encrypt => (to.cast_const(), &mut *packet.tag),
                Direction::Decrypt => {
                    Failed::unless(packet.sealed.len() == len)?;
                    (packet.sealed.as_ptr(), made)
                }
            };
            job.algorithm(algorithm, direction);
            job.message(key.pointers(), packet.nonce, from, to, len);
            job.authenticated(packet.aad, tag);
            Ok(())
        };
        match self.api {
            // SAFETY: packets and tags are borrowed here, data and sealed data are as long as said
            // or are one, the nonce is as long as the algorithm's, and the keys stay. Nothing
            // panics.
            Api::Job => unsafe { self.manager.jobs(items, describe) },
            // SAFETY: as above.
            _ => unsafe { self.manager.bursts(items, describe) },
        }?;
        if direction == Direction::Encrypt {
            return Ok(());
        }
        let mut pairs = self.tags.iter().zip(packets);
        Failed::unless(pairs.all(|(made, packet)| same(made, packet.tag)))
    }
}

/// Without a number of their own, packets go in batches of 128, as many as a burst has at most. The
/// sessions keep their keys.
impl<K: Expanded> Aead for Sessions<K> {
    fn seal(&mut self, batch: &mut [Packet<'_>], requests: usize) -> Result<(), Failed> {
        self.run(batch, None, BURST, requests, Direction::Encrypt)
    }

    fn seal_rekeyed(
        &mut self,
        batch: &mut [Packet<'_>],
        keys: &[&[u8]],
        requests: usize,
    ) -> Result<(), Failed> {
        self.run(batch, Some(keys), BURST, requests, Direction::Encrypt)
    }

    fn open(&mut self, batch: &mut [Packet<'_>], requests: usize) -> Result<(), Failed> {
        self.run(batch, None, BURST, requests, Direction::Decrypt)
    }

    fn open_rekeyed(
        &mut self,
        batch: &mut [Packet<'_>],
        keys: &[&[u8]],
        requests: usize,
    ) -> Result<(), Failed> {
        self.run(batch, Some(keys), BURST, requests, Direction::Decrypt)
    }

    fn seal_batches(
        &mut self,
        packets: &mut [Packet<'_>],
        batch: usize,
        requests: usize,
    ) -> Result<(), Failed> {
        self.run(packets, None, batch, requests, Direction::Encrypt)
    }

    fn seal_batches_rekeyed(
        &mut self,
        packets: &mut [Packet<'_>],
        keys: &[&[u8]],
        batch: usize,
        requests: usize,
    ) -> Result<(), Failed> {
        self.run(packets, Some(keys), batch, requests, Direction::Encrypt)
    }

    fn open_batches(
        &mut self,
        packets: &mut [Packet<'_>],
        batch: usize,
        requests: usize,
    ) -> Result<(), Failed> {
        self.run(packets, None, batch, requests, Direction::Decrypt)
    }

    fn open_batches_rekeyed(
        &mut self,
        packets: &mut [Packet<'_>],
        keys: &[&[u8]],
        batch: usize,
        requests: usize,
    ) -> Result<(), Failed> {
        self.run(packets, Some(keys), batch, requests, Direction::Decrypt)
    }
}
