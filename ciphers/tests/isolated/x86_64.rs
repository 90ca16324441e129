//! What is looked for in registers and on the stack.

#![cfg(target_arch = "x86_64")]

mod left_behind;

use lanecrypt_testing::cases;
use lanecrypt_testing::harness::Case;

pub(crate) const CASES: &[Case] = cases![
    left_behind::a_cipher_on_the_heap_leaves_nothing,
    left_behind::another_key_leaves_nothing_but_itself,
    left_behind::a_cipher_by_value_leaves_nothing_below_its_caller,
    left_behind::types_with_one_algorithm_leave_nothing,
    left_behind::deterministic_encryption_leaves_nothing,
    left_behind::keys_of_records_leave_nothing_below_their_caller,
    left_behind::what_is_left_is_found,
];
