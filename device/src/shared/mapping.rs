//! The mapped memory.

use core::ffi::c_void;
use core::fmt;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU32, Ordering};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{
    FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, fcntl_get_seals,
    memfd_create,
};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::copy::{copy, read_words, write_words};
use super::count::Count;
use super::layout::{Layout, Word};
use super::wakeup::Wakeup;

/// The name of the memory in the kernel's lists.
const NAME: &str = "lanecrypt-device";

/// Shared memory of one client, mapped in this process until the last clone is dropped.
#[derive(Clone)]
pub(crate) struct Mapping {
    base: NonNull<u8>,
    layout: Layout,
    /// Shared by all clones. The place is in each of them, so that an access needs one step less.
    _mapped: Arc<Mapped>,
}

/// What unmaps the memory.
struct Mapped {
    base: NonNull<u8>,
    length: usize,
}

/// One of the two that share the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Daemon,
}

// SAFETY: the memory belongs to the process and not to a thread.
unsafe impl Send for Mapped {}
// SAFETY: it gives no access.
unsafe impl Sync for Mapped {}
// SAFETY: the memory belongs to the process and not to a thread.
unsafe impl Send for Mapping {}
// SAFETY: what shares it only copies bytes and uses atomic numbers, as another process does anyway.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// New memory of zeros that cannot be resized, and its descriptor. All of its pages are
    /// there, so that no access has to wait for one, and the memory limits that count are those of
    /// this process.
    ///
    /// # Errors
    ///
    /// The system has no free memory or descriptor.
    pub(crate) fn make(layout: Layout) -> io::Result<(Self, OwnedFd)> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        // Some systems refuse memory that can be executed; old ones do not have the flag.
        let memory = match memfd_create(NAME, flags | MemfdFlags::NOEXEC_SEAL) {
            Err(Errno::INVAL) => memfd_create(NAME, flags)?,
            made => made?,
        };
        rustix::fs::ftruncate(&memory, layout.length() as u64)?;
        fcntl_add_seals(&memory, SealFlags::SHRINK | SealFlags::GROW)?;
        fallocate(&memory, FallocateFlags::empty(), 0, layout.length() as u64)?;
        Ok((Self::map(&memory, layout, MapFlags::POPULATE)?, memory))
    }

    /// Seals memory that both sides have mapped: from now on its pages cannot be removed, nor
    /// written to by other means than the two mappings. False if the kernel, older than 5.1, does
    /// not have the seal: then the client can remove pages, and the daemon waits for new ones.
    ///
    /// # Errors
    ///
    /// The client has sealed it already.
    pub(crate) fn seal(memory: impl AsFd) -> io::Result<bool> {
        match fcntl_add_seals(&memory, SealFlags::FUTURE_WRITE | SealFlags::SEAL) {
            Err(Errno::INVAL) => {
                fcntl_add_seals(&memory, SealFlags::SEAL)?;
                Ok(false)
            }
            done => Ok(done.map(|()| true)?),
        }
    }

    /// Whether the kernel has the seal of [`seal`](Self::seal).
    pub(crate) fn can_be_sealed() -> bool {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        memfd_create(NAME, flags).is_ok_and(|memory| Self::seal(memory).unwrap_or(false))
    }

    /// Memory that the other side has created.
    ///
    /// # Errors
    ///
    /// It can be shrunk, or has another length; the system has no free memory.
    pub(crate) fn open(memory: impl AsFd, layout: Layout) -> io::Result<Self> {
        let is_sealed = fcntl_get_seals(&memory)?.contains(SealFlags::SHRINK);
        let length = rustix::fs::fstat(&memory)?.st_size;
        if !is_sealed || usize::try_from(length) != Ok(layout.length()) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Self::map(memory, layout, MapFlags::empty())
    }

    fn map(memory: impl AsFd, layout: Layout, flags: MapFlags) -> io::Result<Self> {
        let rights = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | flags;
        // SAFETY: the kernel chooses where; what is mapped there has no other user in this process.
        let base = unsafe { mmap(ptr::null_mut(), layout.length(), rights, flags, memory, 0) }?;
        Self::of(base, layout)
    }

    /// What is mapped at this place, with the length of the layout.
    fn of(base: *mut c_void, layout: Layout) -> io::Result<Self> {
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let mapped = Arc::new(Mapped { base, length: layout.length() });
        Ok(Self { base, layout, _mapped: mapped })
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// The number of requests that the client claims to have submitted, modulo 2^32.
    #[inline]
    pub(crate) fn submitted(&self) -> u32 {
        Count::new(self.word(Word::Submitted)).get()
    }

    /// Publishes the requests before this number.
    #[inline]
    pub(crate) fn submit(&self, number: u32) {
        Count::new(self.word(Word::Submitted)).publish(number);
    }

    /// The number of requests that the daemon claims to have completed, modulo 2^32.
    #[inline]
    pub(crate) fn completed(&self) -> u32 {
        Count::new(self.word(Word::Completed)).get()
    }

    /// Publishes the completions before this number.
    #[inline]
    pub(crate) fn complete(&self, number: u32) {
        Count::new(self.word(Word::Completed)).publish(number);
    }

    /// The word that wakes this side.
    #[inline]
    pub(crate) fn wakeup(&self, sleeper: Side) -> Wakeup<'_> {
        Wakeup::new(self.word(match sleeper {
            Side::Client => Word::ClientAsleep,
            Side::Daemon => Word::DaemonAsleep,
        }))
    }

    /// Publishes the processor on which this side runs.
    #[inline]
    pub(crate) fn runs_on(&self, side: Side, processor: u32) {
        // Relaxed: a hint.
        self.processor_word(side).store(processor.wrapping_add(1), Ordering::Relaxed);
    }

    /// The processor on which this side claims to run.
    #[inline]
    pub(crate) fn processor(&self, side: Side) -> Option<u32> {
        // Relaxed: a hint.
        self.processor_word(side).load(Ordering::Relaxed).checked_sub(1)
    }

    fn processor_word(&self, side: Side) -> &AtomicU32 {
        self.word(match side {
            Side::Client => Word::ClientProcessor,
            Side::Daemon => Word::DaemonProcessor,
        })
    }

    /// Copies a request out of its ring, once.
    #[inline]
    pub(crate) fn read_submission(&self, number: u32) -> [u64; Layout::SUBMISSION / 8] {
        let from = self.at(self.layout.submission_at(number));
        // SAFETY: a place of the ring has as many words, is aligned to its length, and is in the
        // mapping; nothing refers to it.
        unsafe { read_words(from.cast()) }
    }

    #[inline]
    pub(crate) fn write_submission(&self, number: u32, words: [u64; Layout::SUBMISSION / 8]) {
        let to = self.at(self.layout.submission_at(number));
        // SAFETY: as in `read_submission`.
        unsafe { write_words(to.cast(), words) };
    }

    /// Copies a completion out of its ring, once.
    #[inline]
    pub(crate) fn read_completion(&self, number: u32) -> [u64; Layout::COMPLETION / 8] {
        let from = self.at(self.layout.completion_at(number));
        // SAFETY: a place of the ring has as many words, is aligned to its length, and is in the
        // mapping; nothing refers to it.
        unsafe { read_words(from.cast()) }
    }

    #[inline]
    pub(crate) fn write_completion(&self, number: u32, words: [u64; Layout::COMPLETION / 8]) {
        let to = self.at(self.layout.completion_at(number));
        // SAFETY: as in `read_completion`.
        unsafe { write_words(to.cast(), words) };
    }

    /// Copies bytes out of the arena; false, without copying, if they are not all in it.
    #[inline]
    #[must_use]
    pub(crate) fn read(&self, offset: u32, to: &mut [u8]) -> bool {
        let Some(at) = self.layout.in_arena(offset, to.len()) else { return false };
        // SAFETY: the bytes are in the mapping, which nothing refers to.
        unsafe { copy(self.at(at), to.as_mut_ptr(), to.len()) };
        true
    }

    /// Copies bytes into the arena; false, without copying, if they do not fit.
    #[inline]
    #[must_use]
    pub(crate) fn write(&self, offset: u32, from: &[u8]) -> bool {
        let Some(at) = self.layout.in_arena(offset, from.len()) else { return false };
        // SAFETY: as in `read`.
        unsafe { copy(from.as_ptr(), self.at(at), from.len()) };
        true
    }

    fn word(&self, word: Word) -> &AtomicU32 {
        let at = self.at(Layout::word_at(word)).cast::<u32>();
        debug_assert!(at.is_aligned());
        // SAFETY: it is aligned, in the mapping, and used as an atomic number everywhere.
        unsafe { AtomicU32::from_ptr(at) }
    }

    /// A place in the mapping.
    #[inline]
    fn at(&self, offset: usize) -> *mut u8 {
        debug_assert!(offset <= self.layout.length());
        // SAFETY: the layout's places are in the mapping, or at its end.
        unsafe { self.base.as_ptr().add(offset) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: nothing refers to it any more: each clone of the mapping keeps this alive, and no
        // reference to the memory outlives the clone that it is of. It can only fail for other
        // arguments.
        let _ = unsafe { munmap(self.base.as_ptr().cast::<c_void>(), self.length) };
    }
}

impl fmt::Debug for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mapping").field("layout", &self.layout).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use rustix::mm::mmap_anonymous;
    use rustix::thread::futex;

    use super::super::wakeup::settle;
    use super::*;

    fn layout() -> Layout {
        Layout::new(4, 1 << 12).expect("it is within bounds")
    }

    #[test]
    fn two_mappings_share_what_is_written() {
        let (daemon, memory) = Mapping::make(layout()).expect("there is memory");
        let client = Mapping::open(&memory, layout()).expect("there is memory");
        client.write_submission(5, [1, 2, 3, 4, 5, 6, 7, 8]);
        client.submit(6);
        assert_eq!(daemon.submitted(), 6);
        assert_eq!(daemon.read_submission(1), [1, 2, 3, 4, 5, 6, 7, 8]);
        daemon.write_completion(7, [9, 10]);
        daemon.complete(8);
        assert_eq!((client.completed(), client.read_completion(3)), (8, [9, 10]));

        let mut bytes = [0; 5];
        assert!(client.write(4091, b"hello") && daemon.read(4091, &mut bytes));
        assert_eq!(&bytes, b"hello");
        assert!(!client.write(4092, b"hello") && !daemon.read(u32::MAX, &mut bytes));

        client.runs_on(Side::Client, 3);
        assert_eq!(
            (daemon.processor(Side::Client), daemon.processor(Side::Daemon)),
            (Some(3), None)
        );
        client.wakeup(Side::Client).falls_asleep();
        assert!(daemon.wakeup(Side::Client).is_due() && !daemon.wakeup(Side::Client).is_due());
        assert!(!daemon.wakeup(Side::Daemon).is_due());
    }

    /// The mapping of each side. Miri has ordinary memory only, and so one mapping for both.
    fn both(layout: Layout) -> [Mapping; 2] {
        if cfg!(miri) {
            let (rights, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
            // SAFETY: the kernel chooses where.
            let base = unsafe { mmap_anonymous(ptr::null_mut(), layout.length(), rights, flags) };
            let memory = Mapping::of(base.expect("there is memory"), layout).expect("not at null");
            return [memory.clone(), memory];
        }
        let (daemon, memory) = Mapping::make(layout).expect("there is memory");
        [daemon, Mapping::open(&memory, layout).expect("there is memory")]
    }

    /// Waits for what is found behind this number. Half of the waits do not sleep, so that the
    /// counts alone order the accesses.
    fn wait(memory: &Mapping, side: Side, number: u32, found: impl FnOnce() -> bool) {
        if number & 2 == 0 {
            return thread::yield_now();
        }
        let wakeup = memory.wakeup(side);
        wakeup.falls_asleep();
        settle();
        if !found() {
            let _ = futex::wait(wakeup.word(), futex::Flags::empty(), Wakeup::ASLEEP, None);
        }
        wakeup.wakes_up();
    }

    fn wake(memory: &Mapping, side: Side) {
        settle();
        if memory.wakeup(side).is_due() {
            let _ = futex::wake(memory.wakeup(side).word(), futex::Flags::empty(), 1);
        }
    }

    /// Threads, each place being used again and again: under Miri, every access to it must be
    /// ordered after that of the other side.
    #[test]
    fn requests_are_answered_in_memory_that_is_used_again() {
        const EACH: u32 = 2;
        let layout = Layout::new(EACH, 1 << 12).expect("it is within bounds");
        let [daemon, client] = both(layout);
        let total = if cfg!(miri) { 8 } else { 100_000 };
        let place = |number: u32| number % EACH * 100;
        let serving = thread::spawn(move || {
            let mut taken = 0;
            while taken < total {
                let submitted = daemon.submitted();
                if submitted == taken {
                    wait(&daemon, Side::Daemon, taken, || daemon.submitted() != taken);
                }
                while taken != submitted {
                    let words = daemon.read_submission(taken);
                    let mut bytes = [0; 70];
                    assert!(daemon.read(place(taken), &mut bytes));
                    bytes.iter_mut().for_each(|byte| *byte ^= 1);
                    assert!(daemon.write(place(taken), &bytes));
                    daemon.write_completion(taken, [words[0], words[7]]);
                    taken += 1;
                    daemon.complete(taken);
                }
                wake(&daemon, Side::Client);
            }
        });
        for first in (0..total).step_by(EACH as usize) {
            for number in first..first + EACH {
                assert!(client.write(place(number), &[number.to_le_bytes()[0]; 70]));
                client.write_submission(number, [number.into(); 8]);
                client.submit(number + 1);
            }
            wake(&client, Side::Daemon);
            for number in first..first + EACH {
                while client.completed().wrapping_sub(number + 1) > EACH {
                    wait(&client, Side::Client, number, || client.completed() != number);
                }
                assert_eq!(client.read_completion(number), [number.into(); 2]);
                let mut bytes = [0; 70];
                assert!(client.read(place(number), &mut bytes));
                assert_eq!(bytes, [number.to_le_bytes()[0] ^ 1; 70]);
            }
        }
        serving.join().expect("it only answers");
    }

    #[test]
    fn the_memory_keeps_its_length() {
        let (_mapping, memory) = Mapping::make(layout()).expect("there is memory");
        for length in [0, 1 << 30] {
            assert_eq!(rustix::fs::ftruncate(&memory, length), Err(Errno::PERM));
        }
        assert!(fcntl_add_seals(&memory, SealFlags::WRITE).is_err());
    }

    #[test]
    fn sealed_memory_keeps_its_pages() {
        let (daemon, memory) = Mapping::make(layout()).expect("there is memory");
        let client = Mapping::open(&memory, layout()).expect("there is memory");
        let punch = || {
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            fallocate(&memory, flags, 0, layout().length() as u64)
        };
        assert!(client.write(0, b"hello") && punch().is_ok(), "it is possible before");
        assert!(client.write(0, b"hello"));
        if Mapping::seal(&memory).expect("nobody else has sealed it") {
            assert_eq!(punch(), Err(Errno::PERM));
            assert!(Mapping::open(&memory, layout()).is_err(), "no other mapping that writes");
            assert!(rustix::io::pwrite(&memory, b"hello", 0).is_err());
        }
        assert!(client.write(7, b"there"));
        let mut bytes = [0; 12];
        assert!(daemon.read(0, &mut bytes));
        assert_eq!(&bytes, b"hello\0\0there");
        assert!(Mapping::seal(&memory).is_err(), "it is sealed");
    }

    #[test]
    fn memory_that_could_be_shrunk_is_refused() {
        let memory = memfd_create("test", MemfdFlags::ALLOW_SEALING).expect("there is memory");
        rustix::fs::ftruncate(&memory, layout().length() as u64).expect("there is memory");
        assert!(Mapping::open(&memory, layout()).is_err());
        fcntl_add_seals(&memory, SealFlags::SHRINK).expect("it may be sealed");
        assert!(Mapping::open(&memory, layout()).is_ok());
        let longer = Layout::new(4, 1 << 13).expect("it is within bounds");
        assert!(Mapping::open(&memory, longer).is_err());
    }
}
