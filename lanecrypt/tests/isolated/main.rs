//! The table of features, and what the library asks of the system. Filters of system calls need a
//! process of their own.

mod features;
mod system_calls;

use lanecrypt_testing::cases;
use lanecrypt_testing::harness::run;

fn main() {
    run(&[cases![
        features::every_feature_is_in_the_table_and_every_row_is_a_feature,
        features::the_readme_has_the_same_table,
        system_calls::the_list_is_enough,
        system_calls::the_list_is_short,
        system_calls::what_is_refused_is_not_missed,
        system_calls::the_list_is_that_of_the_document,
    ]]);
}
