//! Generators with the two functions of OpenBSD's `arc4random`.

use core::ffi::c_void;

use crate::{Draw, Failed};

#[derive(Clone, Copy)]
pub(crate) struct Arc4Random {
    pub(crate) word: unsafe extern "C" fn() -> u32,
    pub(crate) fill: unsafe extern "C" fn(*mut c_void, usize),
}

impl Draw for Arc4Random {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        // SAFETY: writes `buffer.len()` bytes to a buffer of that size; aborts when it cannot.
        unsafe { (self.fill)(buffer.as_mut_ptr().cast(), buffer.len()) };
        Ok(())
    }

    #[inline]
    fn word(&mut self) -> Result<u32, Failed> {
        // SAFETY: takes nothing; aborts when it cannot answer.
        Ok(unsafe { (self.word)() })
    }
}
