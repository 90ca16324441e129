//! What is looked for in registers and on the stack.

#![cfg(target_arch = "x86_64")]

#[cfg(feature = "pk")]
mod agreement_memory;
mod residue;
#[cfg(feature = "rsa")]
mod rsa_memory;
mod stack;

use lanecrypt_testing::cases;
use lanecrypt_testing::harness::Case;

pub(crate) const CASES: &[Case] = cases![
    #[cfg(feature = "pk")]
    agreement_memory::curves_need_no_more_stack_than_documented,
    residue::a_session_in_a_box_leaves_nothing,
    residue::sessions_in_a_vector_that_grows_leave_nothing,
    #[cfg(feature = "rsa")]
    rsa_memory::signatures_need_no_more_stack_than_ciphers,
    stack::a_small_thread_has_room_for_a_batch,
    stack::no_batch_reaches_below_the_depth_that_is_burned,
];
