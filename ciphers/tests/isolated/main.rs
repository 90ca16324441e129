//! What needs a process of its own: forks, and residue, by an allocator that keeps what is freed.

mod aead_vectors;
mod aead_wiped;
mod fenced;
mod forks;
#[cfg(target_arch = "x86_64")]
mod left_behind;
mod matrix;
mod vectors;

use lanecrypt_testing::cases;
use lanecrypt_testing::harness::run;

fn main() {
    run(cases![
        aead_vectors::every_vector_at_every_level,
        aead_wiped::a_dropped_cipher_leaves_no_key,
        aead_wiped::a_dropped_message_leaves_no_state,
        forks::a_child_has_nonces_of_its_own,
        forks::what_ended_gives_nothing_in_a_child,
        #[cfg(target_arch = "x86_64")]
        left_behind::a_cipher_on_the_heap_leaves_nothing,
        #[cfg(target_arch = "x86_64")]
        left_behind::another_key_leaves_nothing_but_itself,
        #[cfg(target_arch = "x86_64")]
        left_behind::a_cipher_by_value_leaves_nothing_below_its_caller,
        #[cfg(target_arch = "x86_64")]
        left_behind::types_with_one_algorithm_leave_nothing,
        #[cfg(target_arch = "x86_64")]
        left_behind::deterministic_encryption_leaves_nothing,
        #[cfg(target_arch = "x86_64")]
        left_behind::keys_of_records_leave_nothing_below_their_caller,
        #[cfg(target_arch = "x86_64")]
        left_behind::what_is_left_is_found,
        vectors::every_vector_at_every_level,
    ]);
}
