//! What is looked for in registers and on the stack.

#![cfg(target_arch = "x86_64")]

mod residue;

use lanecrypt_testing::cases;
use lanecrypt_testing::harness::Case;

pub(crate) const CASES: &[Case] = cases![
    residue::a_cipher_on_the_heap_leaves_nothing,
    residue::another_key_leaves_nothing_but_itself,
    residue::a_cipher_by_value_leaves_nothing_below_its_caller,
    residue::types_with_one_algorithm_leave_nothing,
    residue::deterministic_encryption_leaves_nothing,
    residue::keys_of_records_leave_nothing_below_their_caller,
    residue::what_is_left_is_found,
];
