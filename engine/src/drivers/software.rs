//! This processor: messages of one class, from the keys that their sessions hold.

use lanecrypt_ciphers::hazmat;
use lanecrypt_ciphers::lanes::{self, Lengths};

use crate::Operation;
use crate::class::Class;
use crate::entry::Entry;

/// Where none go side by side, fewer are served as single messages are: finding their kernel once
/// for all would gain nothing.
const FEW: usize = 4;

/// Serves `members`, which are at most `count` messages of this class, those of `lengths` side by
/// side, and returns how many failed.
///
/// Compiled once for whole batches and once for groups: what it takes to find the next of a group
/// would make the shortest messages slower.
#[inline(never)]
pub(crate) fn serve_class<'b, 'a: 'b, E: Entry<'a> + 'b>(
    class: Class,
    lengths: Lengths,
    count: usize,
    members: impl Iterator<Item = &'b mut E>,
) -> usize {
    let Some(algorithm) = class.algorithm() else { return alone(members) };
    if count < FEW && lengths == Lengths::NONE {
        return alone(members);
    }
    // What is no message of its class at all is settled when it is made a lane.
    let mut refused = 0;
    macro_rules! lanes {
        ($serve:path, $lane:ident) => {{
            let lanes = members.filter_map(|member| {
                let (session, nonce, work) = member.parts();
                let lane = work.$lane(session, nonce);
                refused += usize::from(lane.is_none());
                lane
            });
            $serve(algorithm, lengths, lanes)
        }};
    }
    let failed = match class.operation() {
        Operation::Encrypt if !algorithm.is_aead() => lanes!(hazmat::lanes::encrypt, raw),
        Operation::Decrypt if !algorithm.is_aead() => lanes!(hazmat::lanes::decrypt, raw),
        Operation::Seal if algorithm.is_aead() => lanes!(lanes::seal, sealing),
        Operation::Open if algorithm.is_aead() => lanes!(lanes::open, opening),
        _ => alone(members),
    };
    failed + refused
}

/// One after the other.
#[inline(never)]
fn alone<'b, 'a: 'b, E: Entry<'a> + 'b>(members: impl Iterator<Item = &'b mut E>) -> usize {
    members.map(|member| usize::from(!member.serve())).sum()
}
