//! Processes and shared memory.

use core::ptr::null_mut;
use core::sync::atomic::AtomicU32;

use crate::on_x86_64;

/// How a process is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fork {
    /// The C library's `fork`.
    Library,
    /// The system call `fork`.
    Raw,
    /// The system call `clone` with these flags, besides the signal at exit.
    Clone(libc::c_int),
}

/// Copies the process; the id of the child, 0 in the child.
///
/// Where other threads run, a child must not do more than an asynchronous signal handler may.
pub fn fork(how: Fork) -> std::io::Result<libc::pid_t> {
    let result = match how {
        // SAFETY: the child restricts itself as said above.
        Fork::Library => libc::c_long::from(unsafe { libc::fork() }),
        Fork::Raw => {
            // Some processors have only the more general call.
            let (call, flags) = on_x86_64!((libc::SYS_fork, 0), (libc::SYS_clone, libc::SIGCHLD));
            // SAFETY: as above.
            unsafe { libc::syscall(call, flags, 0, 0, 0, 0) }
        }
        Fork::Clone(flags) => {
            // SAFETY: as above; without CLONE_VM and a stack this is a fork.
            unsafe { libc::syscall(libc::SYS_clone, flags | libc::SIGCHLD, 0, 0, 0, 0) }
        }
    };
    match libc::pid_t::try_from(result) {
        Ok(id) if id >= 0 => Ok(id),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Ends this process at once, without destructors.
pub fn exit(status: i32) -> ! {
    // SAFETY: ends the process and has no preconditions.
    unsafe { libc::_exit(status) }
}

/// Waits for a change of a child's state and returns its status word.
pub fn wait(child: libc::pid_t) -> libc::c_int {
    let mut status = 0;
    // SAFETY: the pointer is to an integer of the type that the call fills in.
    let result = unsafe { libc::waitpid(child, &raw mut status, libc::__WALL) };
    assert_eq!(result, child, "the child is there");
    status
}

/// Waits for a child that must end well.
pub fn wait_for_success(child: libc::pid_t) {
    let status = wait(child);
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "status {status:#x}");
}

/// Zeroed memory that forked processes share; it stays mapped as long as the process lives.
pub fn shared(length: usize) -> *mut u8 {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a fresh anonymous mapping touches no memory that is in use.
    let base = unsafe { libc::mmap(null_mut(), length, protection, flags, -1, 0) };
    assert_ne!(base, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
    base.cast()
}

/// A counter that forked processes share.
pub fn shared_counter() -> &'static AtomicU32 {
    // SAFETY: the memory is zero, aligned, large enough and stays mapped.
    unsafe { &*shared(size_of::<AtomicU32>()).cast::<AtomicU32>() }
}

/// The number that the kernel gives this thread. Older C libraries have no function for it.
#[expect(clippy::missing_panics_doc, reason = "numbers of threads fit")]
pub fn thread() -> libc::pid_t {
    // SAFETY: has no preconditions.
    let number = unsafe { libc::syscall(libc::SYS_gettid) };
    number.try_into().expect("numbers of threads fit")
}

/// Installs a handler without flags but SA_RESTART.
pub fn on_signal(signal: libc::c_int, handler: extern "C" fn(libc::c_int)) {
    // SAFETY: all zeros make a valid structure: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: the structure is filled in and the handler has the right type.
    let result = unsafe { libc::sigaction(signal, &raw const action, null_mut()) };
    assert_eq!(result, 0);
}
