//! `bytes` leaves one copy: the caller's.

use crate::common::windows::Windows;
use crate::common::x86_64::traces::Traces;
use lanecrypt_random::bytes;
use lanecrypt_testing::harness::{Case, times};

pub(crate) const CASES: &[Case] = &[
    Case("bytes::leaves_one_copy", leaves_one_copy),
    Case("bytes::defects_are_found", defects_are_found),
];

/// So many bytes cannot be found by chance: one in 2^64, and less often twice.
const SHORTEST: usize = 8;

/// The usual lengths; every function that gives them is machine code of its own.
fn leaves_one_copy() {
    let draws = times(2000, 20_000);
    // Among so many draws some need a refill.
    check(draws, bytes::<8>).expect("8 bytes");
    check(draws, bytes::<12>).expect("12 bytes");
    check(draws, bytes::<16>).expect("16 bytes");
    check(draws, bytes::<20>).expect("20 bytes");
    check(draws, bytes::<24>).expect("24 bytes");
    check(draws, bytes::<32>).expect("32 bytes");
    check(draws, bytes::<48>).expect("48 bytes");
    check(draws, bytes::<64>).expect("64 bytes");
    check(draws, bytes::<200>).expect("200 bytes");
    check(draws, bytes::<4096>).expect("4096 bytes");
}

/// Draws on an empty stack and looks there, and in the vector registers, for what was drawn.
fn check<const N: usize>(draws: usize, draw: fn() -> [u8; N]) -> Result<(), String> {
    let mut traces = Traces::new();
    for number in 0..draws {
        let mut drawn = [0; N];
        traces.run(|| {
            let mut value = draw();
            // Byte by byte, so that no vector register takes part; then the caller's own is gone.
            for (drawn, byte) in drawn.iter_mut().zip(&mut value) {
                let byte: *mut u8 = byte;
                // SAFETY: the pointer is to a byte of the array.
                *drawn = unsafe { byte.read_volatile() };
                // SAFETY: as above.
                unsafe { byte.write_volatile(0) };
            }
        });
        for (place, memory) in
            [("the stack", traces.stack()), ("the vector registers", traces.registers())]
        {
            if let Some(at) = find(&drawn, memory) {
                return Err(format!("{place} at {at} tells draw {number} of {N} bytes"));
            }
        }
    }
    Ok(())
}

/// Where a part of `drawn` lies in `memory`.
fn find(drawn: &[u8], memory: &[u8]) -> Option<usize> {
    if drawn.len() < 16 {
        let mut parts = drawn.windows(SHORTEST);
        return parts.find_map(|part| memory.windows(SHORTEST).position(|place| place == part));
    }
    let mut windows = Windows::new(drawn.len());
    windows.insert(drawn);
    windows.find_in(memory)
}

/// The check finds what a plain function leaves.
fn defects_are_found() {
    #[inline(never)]
    fn copies<const N: usize>() -> [u8; N] {
        // The first is so deep in the stack that nothing overwrites it before it is looked for.
        let mut out = [[0; N]; 64];
        lanecrypt_random::fill(&mut out[0]);
        core::hint::black_box(&mut out);
        out[0]
    }
    check(10, copies::<12>).expect_err("a copy on the stack");
    check(10, copies::<32>).expect_err("a copy on the stack");
    check(10, copies::<64>).expect_err("a copy on the stack");
}
