//! What needs a process of its own, or an allocator that counts its calls and keeps what is freed.

#[cfg(feature = "pk")]
mod agreement_memory;
mod allocations;
mod forks;
mod queue_allocations;
#[cfg(feature = "rsa")]
#[path = "../../../rsa/tests/common/mod.rs"]
mod rsa_common;
#[cfg(feature = "rsa")]
mod rsa_memory;
#[cfg(feature = "rsa")]
#[path = "../engine/signers.rs"]
mod signers;
mod vectors;
mod wiped;
mod x86_64;

use lanecrypt_testing::harness::{Case, run};
use lanecrypt_testing::keeper::Keeper;
use lanecrypt_testing::{cases, on_x86_64};

#[global_allocator]
static ALLOCATOR: Keeper = Keeper;

fn main() {
    let everywhere: &[Case] = cases![
        #[cfg(feature = "pk")]
        agreement_memory::key_exchanges_allocate_nothing,
        allocations::a_room_allocates_nothing_from_batch_to_batch,
        allocations::a_slice_of_requests_allocates_nothing,
        allocations::what_allocates_is_counted,
        forks::a_child_needs_nonces_of_its_own,
        queue_allocations::queues_allocate_nothing_from_message_to_message,
        #[cfg(feature = "rsa")]
        rsa_memory::a_thread_that_has_signed_allocates_nothing,
        vectors::vectors_with_tags,
        vectors::vectors_without_tags,
        wiped::nothing_secret_is_printed,
        wiped::nothing_that_a_dropped_session_leaves_depends_on_its_key,
    ];
    run(&[everywhere, on_x86_64!(x86_64::CASES, &[])]);
}
