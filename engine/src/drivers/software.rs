//! The software of this processor: serves messages of one class with the keys of their sessions.

use core::cell::Cell;
use core::marker::PhantomData;

use lanecrypt_ciphers::hazmat;
use lanecrypt_ciphers::lanes::{self, Lengths, Opening, Sealing};

use crate::Operation;
use crate::class::Class;
use crate::session::members::{Member, Members};

/// Serves messages of one class, in lanes if their length is in `lengths`, otherwise one at a time.
/// Returns the number of refused messages.
#[inline(never)]
pub(crate) fn serve_class(class: Class, lengths: Lengths, members: Members<'_, '_>) -> usize {
    let Some(algorithm) = class.algorithm().filter(|_| lengths != Lengths::NONE) else {
        return alone(members);
    };
    let misfits = Cell::new(0);
    let refused = match (class.operation(), algorithm.is_aead()) {
        (Operation::Encrypt, false) => {
            hazmat::lanes::encrypt(algorithm, lengths, Each::of(members, &misfits))
        }
        (Operation::Decrypt, false) => {
            hazmat::lanes::decrypt(algorithm, lengths, Each::of(members, &misfits))
        }
        (Operation::Seal, true) => lanes::seal(algorithm, lengths, Each::of(members, &misfits)),
        (Operation::Open, true) => lanes::open(algorithm, lengths, Each::of(members, &misfits)),
        _ => alone(members),
    };
    refused + misfits.get()
}

/// Serves messages one at a time.
#[inline(never)]
fn alone(members: Members<'_, '_>) -> usize {
    members.map(|(session, nonce, work)| usize::from(work.serve(session, nonce).is_err())).sum()
}

/// The lanes of messages. A malformed message is refused and counted, and is no lane.
struct Each<'m, 'b, 'a, L> {
    members: Members<'b, 'a>,
    misfits: &'m Cell<usize>,
    lane: PhantomData<fn() -> L>,
}

impl<'m, 'b, 'a, L> Each<'m, 'b, 'a, L> {
    #[inline(always)]
    fn of(members: Members<'b, 'a>, misfits: &'m Cell<usize>) -> Self {
        Self { members, misfits, lane: PhantomData }
    }
}

// Inlining is forced: the loads of a lane that is returned through memory would differ in width
// from the stores.

impl<'b, L: Lane<'b>> Iterator for Each<'_, 'b, '_, L> {
    type Item = L;

    #[inline(always)]
    fn next(&mut self) -> Option<L> {
        for member in self.members.by_ref() {
            match L::of(member) {
                Some(lane) => return Some(lane),
                None => misfit(self.misfits),
            }
        }
        None
    }
}

#[cold]
fn misfit(misfits: &Cell<usize>) {
    misfits.set(misfits.get() + 1);
}

/// What the kernels of lanes take.
trait Lane<'b>: Sized {
    fn of(member: Member<'b, '_>) -> Option<Self>;
}

impl<'b> Lane<'b> for hazmat::lanes::Message<'b> {
    #[inline(always)]
    fn of((session, iv, work): Member<'b, '_>) -> Option<Self> {
        work.plain_lane(session, iv)
    }
}

impl<'b> Lane<'b> for Sealing<'b> {
    #[inline(always)]
    fn of((session, nonce, work): Member<'b, '_>) -> Option<Self> {
        work.sealing_lane(session, nonce)
    }
}

impl<'b> Lane<'b> for Opening<'b> {
    #[inline(always)]
    fn of((session, nonce, work): Member<'b, '_>) -> Option<Self> {
        work.opening_lane(session, nonce)
    }
}
