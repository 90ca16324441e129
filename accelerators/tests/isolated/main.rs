//! What needs an allocator that counts its calls.

mod allocations;

use lanecrypt_testing::cases;
use lanecrypt_testing::harness::{Case, run};
use lanecrypt_testing::keeper::Keeper;

#[global_allocator]
static ALLOCATOR: Keeper = Keeper;

fn main() {
    let cases: &[Case] = cases![allocations::shared_load_allocates_nothing];
    run(&[cases]);
}
