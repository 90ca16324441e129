//! What needs a process of its own, or an allocator that counts its calls and keeps what is freed.

mod allocations;
mod balanced_allocations;
mod forks;
#[cfg(target_arch = "x86_64")]
mod left_behind;
mod queue_allocations;
#[cfg(feature = "rsa")]
#[path = "../../../rsa/tests/common/mod.rs"]
mod rsa_common;
#[cfg(feature = "rsa")]
mod rsa_memory;
#[cfg(feature = "rsa")]
#[path = "../engine/signers.rs"]
mod signers;
#[cfg(target_arch = "x86_64")]
mod stack;
mod vectors;
mod wiped;

use lanecrypt_testing::cases;
use lanecrypt_testing::harness::run;

#[cfg(target_arch = "x86_64")]
#[global_allocator]
static ALLOCATOR: lanecrypt_testing::remains::Keeper = lanecrypt_testing::remains::Keeper;
#[cfg(not(target_arch = "x86_64"))]
#[global_allocator]
static ALLOCATOR: lanecrypt_testing::counting::Counting = lanecrypt_testing::counting::Counting;

fn main() {
    run(cases![
        allocations::a_room_allocates_nothing_from_batch_to_batch,
        allocations::a_slice_of_requests_allocates_nothing,
        allocations::what_allocates_is_counted,
        balanced_allocations::shared_load_allocates_nothing,
        forks::a_child_needs_nonces_of_its_own,
        #[cfg(target_arch = "x86_64")]
        left_behind::a_session_in_a_box_leaves_nothing,
        #[cfg(target_arch = "x86_64")]
        left_behind::sessions_in_a_vector_that_grows_leave_nothing,
        queue_allocations::queues_allocate_nothing_from_message_to_message,
        #[cfg(feature = "rsa")]
        rsa_memory::a_thread_that_has_signed_allocates_nothing,
        #[cfg(all(feature = "rsa", target_arch = "x86_64"))]
        rsa_memory::signatures_need_no_more_stack_than_ciphers,
        #[cfg(target_arch = "x86_64")]
        stack::a_small_thread_has_room_for_a_batch,
        #[cfg(target_arch = "x86_64")]
        stack::no_batch_reaches_below_the_depth_that_is_burned,
        vectors::vectors_with_tags,
        vectors::vectors_without_tags,
        wiped::nothing_secret_is_printed,
        wiped::nothing_that_a_dropped_session_leaves_depends_on_its_key,
    ]);
}
