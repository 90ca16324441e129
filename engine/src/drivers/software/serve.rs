//! Requests of one class, served.

use lanecrypt_ciphers::lanes::{self, Lengths, Opening, Sealing};
use lanecrypt_ciphers::{Error, hazmat};

use crate::class::Class;
use crate::request::{State, Work};
use crate::session::Keyed;
use crate::{Operation, Request};

/// Where none go side by side, fewer are served as single requests are: finding their kernel once for
/// all would gain nothing.
const FEW: usize = 4;

/// Serves `members`, which are `count` requests of this class, those of `lengths` side by side, and
/// returns how many failed.
///
/// Compiled once for whole batches and once for groups: what it takes to find the next of a group
/// would make the shortest messages slower.
#[inline(never)]
pub(super) fn class<'b, 'a: 'b>(
    class: Class,
    lengths: Lengths,
    count: usize,
    members: impl Iterator<Item = &'b mut Request<'a>>,
) -> usize {
    let Some(algorithm) = class.algorithm() else {
        return members.filter(|request| request.outcome() != Some(Ok(()))).count();
    };
    if count < FEW && lengths == Lengths::NONE {
        return alone(members);
    }
    match class.operation() {
        Operation::Encrypt if !algorithm.is_aead() => {
            hazmat::lanes::encrypt(algorithm, lengths, members.filter_map(raw))
        }
        Operation::Decrypt if !algorithm.is_aead() => {
            hazmat::lanes::decrypt(algorithm, lengths, members.filter_map(raw))
        }
        Operation::Seal if algorithm.is_aead() => {
            lanes::seal(algorithm, lengths, members.filter_map(sealing))
        }
        Operation::Open if algorithm.is_aead() => {
            lanes::open(algorithm, lengths, members.filter_map(opening))
        }
        _ => alone(members),
    }
}

/// One by one.
#[inline(never)]
fn alone<'b, 'a: 'b>(members: impl Iterator<Item = &'b mut Request<'a>>) -> usize {
    members.map(|request| usize::from(request.alone().is_err())).sum()
}

// A class says what its requests are; each of the following takes those that are.

#[inline(always)]
fn raw<'b>(request: &'b mut Request<'_>) -> Option<hazmat::lanes::Message<'b>> {
    let (Keyed::Raw(_, cipher), Work::Encrypt(state, data) | Work::Decrypt(state, data)) =
        (&request.session.keyed, &mut request.work)
    else {
        return misplaced();
    };
    let outcome = settled(state);
    Some(hazmat::lanes::Message { cipher, iv: request.nonce, data: data.reborrow(), outcome })
}

#[inline(always)]
fn sealing<'b>(request: &'b mut Request<'_>) -> Option<Sealing<'b>> {
    let (Keyed::Sealed(_, cipher), Work::Seal { state, aad, data, tag }) =
        (&request.session.keyed, &mut request.work)
    else {
        return misplaced();
    };
    let outcome = settled(state);
    Some(Sealing { cipher, nonce: request.nonce, aad, data: data.reborrow(), tag, outcome })
}

#[inline(always)]
fn opening<'b>(request: &'b mut Request<'_>) -> Option<Opening<'b>> {
    let (Keyed::Sealed(_, cipher), Work::Open { state, aad, data, tag }) =
        (&request.session.keyed, &mut request.work)
    else {
        return misplaced();
    };
    let outcome = settled(state);
    Some(Opening { cipher, nonce: request.nonce, aad, data: data.reborrow(), tag, outcome })
}

/// Where an error goes.
#[inline(always)]
fn settled(state: &mut State) -> &mut Result<(), Error> {
    state.class = Class::SETTLED;
    &mut state.outcome
}

#[cold]
fn misplaced<T>() -> Option<T> {
    debug_assert!(false, "its class says what a request is");
    None
}
