//! The software of this processor: serves messages of one class with the keys of their sessions.

use core::cell::Cell;

use lanecrypt_ciphers::hazmat;
use lanecrypt_ciphers::lanes::{self, Lengths, Opening, Sealing};

use crate::Operation;
use crate::class::Class;
use crate::entry::Entry;

/// Serves messages of one class, in lanes if their length is in `lengths` and otherwise alone.
/// Returns the number of refused messages.
///
/// It is compiled once for whole batches and once for groups, because finding the next message of a
/// group would slow down the shortest messages.
#[inline(never)]
pub(crate) fn serve_class<'b, 'a: 'b, E: Entry<'a> + 'b>(
    class: Class,
    lengths: Lengths,
    members: impl Iterator<Item = &'b mut E>,
) -> usize {
    let Some(algorithm) = class.algorithm().filter(|_| lengths != Lengths::NONE) else {
        return alone(members);
    };
    let misfits = Cell::new(0);
    let refused = match (class.operation(), algorithm.is_aead()) {
        (Operation::Encrypt, false) => {
            let messages = members.filter_map(|member| plain(member, &misfits));
            hazmat::lanes::encrypt(algorithm, lengths, messages)
        }
        (Operation::Decrypt, false) => {
            let messages = members.filter_map(|member| plain(member, &misfits));
            hazmat::lanes::decrypt(algorithm, lengths, messages)
        }
        (Operation::Seal, true) => {
            let messages = members.filter_map(|member| sealing(member, &misfits));
            lanes::seal(algorithm, lengths, messages)
        }
        (Operation::Open, true) => {
            let messages = members.filter_map(|member| opening(member, &misfits));
            lanes::open(algorithm, lengths, messages)
        }
        _ => alone(members),
    };
    refused + misfits.get()
}

/// Serves each message alone.
#[inline(never)]
fn alone<'b, 'a: 'b, E: Entry<'a> + 'b>(members: impl Iterator<Item = &'b mut E>) -> usize {
    members.map(|member| usize::from(!member.serve())).sum()
}

// Inlining is forced: a lane that is returned through memory would be read at another width than it
// was just stored at.

#[inline(always)]
fn plain<'b, 'a: 'b>(
    member: &'b mut impl Entry<'a>,
    misfits: &Cell<usize>,
) -> Option<hazmat::lanes::Message<'b>> {
    let (session, iv, work) = member.parts();
    work.plain_lane(session, iv).or_else(|| misfit(misfits))
}

#[inline(always)]
fn sealing<'b, 'a: 'b>(
    member: &'b mut impl Entry<'a>,
    misfits: &Cell<usize>,
) -> Option<Sealing<'b>> {
    let (session, nonce, work) = member.parts();
    work.sealing_lane(session, nonce).or_else(|| misfit(misfits))
}

#[inline(always)]
fn opening<'b, 'a: 'b>(
    member: &'b mut impl Entry<'a>,
    misfits: &Cell<usize>,
) -> Option<Opening<'b>> {
    let (session, nonce, work) = member.parts();
    work.opening_lane(session, nonce).or_else(|| misfit(misfits))
}

/// Counts malformed messages, which have been refused.
#[cold]
fn misfit<T>(misfits: &Cell<usize>) -> Option<T> {
    misfits.set(misfits.get() + 1);
    None
}
