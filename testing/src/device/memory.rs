//! Memory that other processes may change at any time.

use core::ffi::c_void;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::io;
use std::os::fd::AsFd;

use rustix::mm::{MapFlags, ProtFlags, madvise, mmap, munmap};

pub use rustix::mm::Advice;

/// A shared mapping of a whole file. All access is atomic, by words of 32 bits where both sides are
/// aligned, so that a race with another writer is no undefined behaviour.
#[derive(Debug)]
pub struct Memory {
    base: NonNull<u8>,
    length: usize,
}

// SAFETY: it owns its mapping, and all access to it is atomic.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Maps a file.
    ///
    /// # Errors
    ///
    /// Those of `fstat` and `mmap`.
    pub fn map(file: impl AsFd) -> io::Result<Self> {
        let length = rustix::fs::fstat(&file)?.st_size;
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::InvalidData)?;
        let rights = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses where; what is mapped there has no other user in this process.
        let base = unsafe { mmap(null_mut(), length, rights, MapFlags::SHARED, file, 0) }?;
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, length })
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// A word of 64 bits, by its number.
    pub fn cell(&self, number: usize) -> &AtomicU64 {
        let at = self.place(number * 8, 8);
        // SAFETY: it is within the mapping, which lives as long as `self`, and aligned.
        unsafe { AtomicU64::from_ptr(at.cast().as_ptr()) }
    }

    /// Writes bytes. An aligned word of 32 bits is written at once.
    pub fn write(&self, at: usize, bytes: &[u8]) {
        let mut at = at;
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            match rest.first_chunk() {
                // Release: pairs with the other side's loads of the word.
                Some(word) if at.is_multiple_of(4) => {
                    self.word(at).store(u32::from_ne_bytes(*word), Ordering::Release);
                    (at, rest) = (at + 4, &rest[4..]);
                }
                _ => {
                    self.byte(at).store(first, Ordering::Relaxed);
                    (at, rest) = (at + 1, &rest[1..]);
                }
            }
        }
    }

    /// Reads bytes. An aligned word of 32 bits is read at once.
    pub fn read(&self, at: usize, bytes: &mut [u8]) {
        let mut at = at;
        let mut rest = bytes;
        while !rest.is_empty() {
            let step = if at.is_multiple_of(4) && rest.len() >= 4 { 4 } else { 1 };
            let (now, later) = rest.split_at_mut(step);
            match step {
                // Acquire: pairs with the other side's stores of the word.
                4 => now.copy_from_slice(&self.word(at).load(Ordering::Acquire).to_ne_bytes()),
                _ => now[0] = self.byte(at).load(Ordering::Relaxed),
            }
            (at, rest) = (at + step, later);
        }
    }

    /// Gives the kernel advice on a part, such as to drop its pages.
    ///
    /// # Errors
    ///
    /// Those of `madvise`.
    pub fn advise(&self, at: usize, length: usize, advice: Advice) -> io::Result<()> {
        let begin = self.place(at, length).as_ptr().cast::<c_void>();
        // SAFETY: it is within the mapping, whose content any process may change at any time.
        Ok(unsafe { madvise(begin, length, advice) }?)
    }

    fn word(&self, at: usize) -> &AtomicU32 {
        let at = self.place(at, 4);
        // SAFETY: it is within the mapping, which lives as long as `self`, and aligned.
        unsafe { AtomicU32::from_ptr(at.cast().as_ptr()) }
    }

    fn byte(&self, at: usize) -> &AtomicU8 {
        let at = self.place(at, 1);
        // SAFETY: it is within the mapping, which lives as long as `self`.
        unsafe { AtomicU8::from_ptr(at.as_ptr()) }
    }

    /// The address of a part.
    fn place(&self, at: usize, length: usize) -> NonNull<u8> {
        let end = at.checked_add(length).expect("no overflow");
        assert!(end <= self.length, "{at} {length}: not within {}", self.length);
        // SAFETY: the sum is within the mapping.
        unsafe { self.base.add(at) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: nothing refers to the mapping any more.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.length) };
    }
}
