//! What the crates `getrandom` call if a program has chosen this backend.

use getrandom::Error;
use lanecrypt_testing::harness::Case;

pub(crate) const CASES: &[Case] = &[Case(
    "getrandom_backend::it_fills_what_it_is_given_and_nothing_else",
    it_fills_what_it_is_given_and_nothing_else,
)];

unsafe extern "Rust" {
    fn __getrandom_v03_custom(out: *mut u8, length: usize) -> Result<(), Error>;
}

fn fill(out: &mut [u8]) -> Result<(), Error> {
    // SAFETY: the slice can be written.
    unsafe { __getrandom_v03_custom(out.as_mut_ptr(), out.len()) }
}

fn it_fills_what_it_is_given_and_nothing_else() {
    for length in [0, 1, 7, 32, 300, 9000] {
        let mut seen = vec![0_u8; length];
        // A byte that is never written stays 0 in all rounds.
        for _ in 0..16 {
            let mut bytes = vec![0; length + 2];
            fill(&mut bytes[1..=length]).expect("the kernel has random bytes");
            assert_eq!([bytes[0], bytes[length + 1]], [0, 0], "{length}");
            seen.iter_mut().zip(&bytes[1..]).for_each(|(seen, byte)| *seen |= byte);
        }
        assert!(seen.iter().all(|&byte| byte != 0), "{length}");
    }
    let mut keys = [[0; 32]; 2];
    keys.iter_mut().for_each(|key| fill(key).expect("the kernel has random bytes"));
    assert_ne!(keys[0], keys[1]);
}
