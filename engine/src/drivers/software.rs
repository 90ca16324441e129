//! This processor: messages of one class, from the keys that their sessions hold.

use lanecrypt_ciphers::hazmat;
use lanecrypt_ciphers::lanes::{self, Lengths, Opening, Sealing};

use crate::Operation;
use crate::class::Class;
use crate::entry::Entry;

/// Serves messages of one class, those of `lengths` side by side.
///
/// Compiled once for whole batches and once for groups: what it takes to find the next of a group
/// would make the shortest messages slower.
#[inline(never)]
pub(crate) fn serve_class<'b, 'a: 'b, E: Entry<'a> + 'b>(
    class: Class,
    lengths: Lengths,
    members: impl Iterator<Item = &'b mut E>,
) {
    let Some(algorithm) = class.algorithm().filter(|_| lengths != Lengths::NONE) else {
        return alone(members);
    };
    match (class.operation(), algorithm.is_aead()) {
        (Operation::Encrypt, false) => {
            hazmat::lanes::encrypt(algorithm, lengths, members.filter_map(plain));
        }
        (Operation::Decrypt, false) => {
            hazmat::lanes::decrypt(algorithm, lengths, members.filter_map(plain));
        }
        (Operation::Seal, true) => {
            lanes::seal(algorithm, lengths, members.filter_map(sealing));
        }
        (Operation::Open, true) => {
            lanes::open(algorithm, lengths, members.filter_map(opening));
        }
        _ => alone(members),
    }
}

/// One after the other.
#[inline(never)]
fn alone<'b, 'a: 'b, E: Entry<'a> + 'b>(members: impl Iterator<Item = &'b mut E>) {
    for member in members {
        member.serve();
    }
}

// Functions, not closures, so that they can be told to be inlined: a lane that is returned through
// memory is read in other pieces than it was just stored in.

#[inline(always)]
fn plain<'b, 'a: 'b>(member: &'b mut impl Entry<'a>) -> Option<hazmat::lanes::Message<'b>> {
    let (session, iv, work) = member.parts();
    work.plain_lane(session, iv)
}

#[inline(always)]
fn sealing<'b, 'a: 'b>(member: &'b mut impl Entry<'a>) -> Option<Sealing<'b>> {
    let (session, nonce, work) = member.parts();
    work.sealing_lane(session, nonce)
}

#[inline(always)]
fn opening<'b, 'a: 'b>(member: &'b mut impl Entry<'a>) -> Option<Opening<'b>> {
    let (session, nonce, work) = member.parts();
    work.opening_lane(session, nonce)
}
