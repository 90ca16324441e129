//! The protocol between a client and the daemon.
//!
//! A client connects to a Unix socket of sequenced packets and sends
//! [`Hello`](ControlRequest::Hello); the daemon replies with the shared memory and with a
//! descriptor that wakes it. The client maps the memory and sends
//! [`Mapped`](ControlRequest::Mapped); the daemon seals the memory, so that the client cannot take
//! its pages away, and serves its rings from then on. After that the socket serves to open and
//! close sessions, by one packet for the request and one for the reply; it is closed when either
//! side ends. Packets are in the format of the crate `postcard`. Requests go through the rings:
//! [`request`] and [`status`].
//!
//! # Versions
//!
//! A packet begins with a [`Greeting`]: the versions that its sender speaks. Both sides use the
//! highest that both speak, in packets and in the memory. Without one, the daemon refuses the
//! client, which reads the daemon's versions in the greeting of the reply. The greeting, `Hello`
//! and `Statistics` have the same form in every version. A new request, reply or status raises the
//! version; a version that a release speaks is never changed.

mod reject_reason;
pub(crate) mod request;
pub(crate) mod socket;
pub(crate) mod status;

use core::fmt;

use serde::{Deserialize, Serialize};

pub use self::reject_reason::RejectReason;
use crate::Statistics;

/// The versions of the protocol that this program speaks.
pub(crate) const OLDEST: u32 = 4;
pub(crate) const NEWEST: u32 = 4;

/// The first bytes of each packet, in every version.
pub(crate) const MAGIC: [u8; 8] = *b"lanecryp";

/// The longest packet in bytes: it has room for an RSA private key in DER.
pub(crate) const LONGEST: usize = 16 << 10;

/// The head of a packet, in every version: the versions that its sender speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Greeting {
    pub(crate) magic: [u8; 8],
    pub(crate) newest: u32,
    pub(crate) oldest: u32,
}

impl Greeting {
    /// That of this program.
    pub(crate) const OURS: Self = Self { magic: MAGIC, newest: NEWEST, oldest: OLDEST };

    /// The highest version that both sides speak.
    pub(crate) fn common(self, other: Self) -> Option<u32> {
        let highest = self.newest.min(other.newest);
        let is_spoken = highest >= self.oldest.max(other.oldest);
        (self.magic == other.magic && is_spoken).then_some(highest)
    }

    /// Whether it is that of this protocol, without a version that this program speaks.
    pub(crate) fn is_other_version(self) -> bool {
        self.magic == MAGIC && self.common(Self::OURS).is_none()
    }
}

/// The padding of a session's signatures: PSS with a salt of this many bytes, or PKCS#1 v1.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Scheme<'a> {
    pub(crate) hash: &'a str,
    pub(crate) salt: Option<u32>,
}

/// An RSA key.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RsaSent<'a> {
    /// The DER of a private key (PKCS#8 or PKCS#1) or of a public key (SPKI or PKCS#1).
    Der(&'a [u8]),
    /// The numbers of a private key without primes, which has no DER.
    Numbers { n: &'a [u8], e: &'a [u8], d: &'a [u8] },
}

impl fmt::Debug for RsaSent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RsaSent").finish_non_exhaustive()
    }
}

/// A request of a client, which waits for the reply, if there is one, before it sends another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ControlRequest<'a> {
    /// Shared memory, with about this many places in a ring and bytes of arena. The client runs on
    /// `processor`.
    Hello { depth: u32, arena: u32, processor: u32 },
    /// The daemon's statistics. No `Hello` is required before.
    Statistics,
    /// A session with this key.
    Open { algorithm: &'a str, key: &'a [u8] },
    /// A session with a key of this many bytes that the daemon generates; with 0 the longest.
    Generate { algorithm: &'a str, length: u32 },
    /// A session with a named key of the daemon.
    Named { name: &'a str },
    /// The end of a session.
    Close { session: u32 },
    /// A session with this RSA key.
    OpenRsa { scheme: Scheme<'a>, key: RsaSent<'a> },
    /// A session with an RSA key of this many bits that the daemon generates.
    GenerateRsa { scheme: Scheme<'a>, bits: u32 },
    /// The public key of a session.
    PublicKey { session: u32 },
    /// A session with a named RSA key of the daemon, and with this padding.
    NamedRsa { name: &'a str, scheme: Scheme<'a> },
    /// The client has mapped the memory. There is no reply.
    Mapped,
}

/// A reply of the daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ControlResponse<'a> {
    /// With two descriptors: the memory, and the doorbell to write to if the daemon sleeps. The
    /// client may have `signatures` requests of asymmetric keys in flight.
    Welcome {
        depth: u32,
        arena: u32,
        signatures: u32,
    },
    Statistics(Statistics),
    Session {
        session: u32,
        algorithm: &'a str,
        /// Whether the daemon makes the nonces.
        makes_nonces: bool,
    },
    Closed,
    Refused(RejectReason),
    SignatureSession {
        session: u32,
        /// In bytes.
        signature_length: u32,
    },
    /// The DER of a public key (SPKI).
    PublicKey(Vec<u8>),
    AgreementSession {
        session: u32,
        /// In bytes.
        agreement_length: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_common_version_is_used() {
        let speaks = |oldest, newest| Greeting { magic: MAGIC, newest, oldest };
        for (one, other, common) in [
            ((4, 4), (4, 4), Some(4)),
            ((4, 4), (4, 9), Some(4)),
            ((4, 7), (5, 6), Some(6)),
            ((0, u32::MAX), (8, 9), Some(9)),
            ((4, 5), (6, 7), None),
            // Nobody speaks these.
            ((5, 4), (1, 9), None),
        ] {
            let (one, other) = (speaks(one.0, one.1), speaks(other.0, other.1));
            assert_eq!(
                (one.common(other), other.common(one)),
                (common, common),
                "{one:?} {other:?}"
            );
        }
        let strange = Greeting { magic: *b"lanecrip", ..Greeting::OURS };
        assert_eq!(strange.common(Greeting::OURS), None);
        assert!(!strange.is_other_version() && !Greeting::OURS.is_other_version());
        assert!(speaks(NEWEST + 1, NEWEST + 2).is_other_version());
        assert!(speaks(0, OLDEST - 1).is_other_version());
    }
}
