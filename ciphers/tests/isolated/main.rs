//! What needs a process of its own: forks, and residue, by an allocator that keeps what is freed.

mod aead_vectors;
mod aead_wiped;
mod fenced;
mod forks;
mod matrix;
mod vectors;
mod x86_64;

use lanecrypt_testing::harness::run;
use lanecrypt_testing::{cases, on_x86_64};

fn main() {
    run(&[
        cases![
            aead_vectors::every_vector_at_every_level,
            aead_wiped::a_dropped_cipher_leaves_no_key,
            aead_wiped::a_dropped_message_leaves_no_state,
            forks::a_child_has_nonces_of_its_own,
            forks::what_ended_gives_nothing_in_a_child,
            vectors::every_vector_at_every_level,
        ],
        on_x86_64!(x86_64::CASES, &[]),
    ]);
}
