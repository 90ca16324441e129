//! The cases of `cases.rs`. They step through instructions or read registers, so that they are for
//! x86-64; elsewhere the program has none.

#[cfg(target_arch = "x86_64")]
mod cases;

fn main() {
    #[cfg(target_arch = "x86_64")]
    cases::run();
    #[cfg(not(target_arch = "x86_64"))]
    lanecrypt_testing::harness::run(&[]);
}
