//! The software of this processor: serves messages of one class with the keys of their sessions.

use core::cell::Cell;

use lanecrypt_ciphers::hazmat;
use lanecrypt_ciphers::lanes::{self, Lengths, Opening, Sealing};

use crate::Operation;
use crate::class::Class;
use crate::session::entry::Entry;

/// A message of a class: it becomes a lane, or is served without lanes. A malformed message is
/// refused, and is no lane.
pub(crate) trait Member<'b>: Sized {
    /// A lane of a raw cipher.
    fn plain(self) -> Option<hazmat::lanes::Message<'b>>;

    /// A lane to seal.
    fn sealing(self) -> Option<Sealing<'b>>;

    /// A lane to open.
    fn opening(self) -> Option<Opening<'b>>;

    /// Serves it without lanes; whether it succeeds.
    fn alone(self) -> bool;
}

/// Serves messages of one class, in lanes if their length is in `lengths`, otherwise one at a time.
/// Returns the number of refused messages.
///
/// It is compiled once for whole batches and once for groups, because finding the next message of a
/// group would slow down the shortest messages.
#[inline(never)]
pub(crate) fn serve_class<'b, M: Member<'b>>(
    class: Class,
    lengths: Lengths,
    members: impl Iterator<Item = M>,
) -> usize {
    let Some(algorithm) = class.algorithm().filter(|_| lengths != Lengths::NONE) else {
        return alone(members);
    };
    let misfits = Cell::new(0);
    let refused = match (class.operation(), algorithm.is_aead()) {
        (Operation::Encrypt, false) => {
            let messages = members.filter_map(|member| counted(member.plain(), &misfits));
            hazmat::lanes::encrypt(algorithm, lengths, messages)
        }
        (Operation::Decrypt, false) => {
            let messages = members.filter_map(|member| counted(member.plain(), &misfits));
            hazmat::lanes::decrypt(algorithm, lengths, messages)
        }
        (Operation::Seal, true) => {
            let messages = members.filter_map(|member| counted(member.sealing(), &misfits));
            lanes::seal(algorithm, lengths, messages)
        }
        (Operation::Open, true) => {
            let messages = members.filter_map(|member| counted(member.opening(), &misfits));
            lanes::open(algorithm, lengths, messages)
        }
        _ => alone(members),
    };
    refused + misfits.get()
}

/// Serves messages one at a time.
#[inline(never)]
fn alone<'b, M: Member<'b>>(members: impl Iterator<Item = M>) -> usize {
    members.map(|member| usize::from(!member.alone())).sum()
}

// Inlining is forced: the loads of a lane that is returned through memory would differ in width
// from the stores.

impl<'b, 'a: 'b, E: Entry<'a>> Member<'b> for &'b mut E {
    #[inline(always)]
    fn plain(self) -> Option<hazmat::lanes::Message<'b>> {
        let (session, iv, work) = self.parts();
        work.plain_lane(session, iv)
    }

    #[inline(always)]
    fn sealing(self) -> Option<Sealing<'b>> {
        let (session, nonce, work) = self.parts();
        work.sealing_lane(session, nonce)
    }

    #[inline(always)]
    fn opening(self) -> Option<Opening<'b>> {
        let (session, nonce, work) = self.parts();
        work.opening_lane(session, nonce)
    }

    #[inline(always)]
    fn alone(self) -> bool {
        self.serve()
    }
}

#[inline(always)]
fn counted<T>(lane: Option<T>, misfits: &Cell<usize>) -> Option<T> {
    lane.or_else(|| misfit(misfits))
}

/// Counts malformed messages, which have been refused.
#[cold]
fn misfit<T>(misfits: &Cell<usize>) -> Option<T> {
    misfits.set(misfits.get() + 1);
    None
}
