//! System-call filters, by which a test makes the kernel refuse what it otherwise grants.
//!
//! A filter stays with the calling thread for ever, so each test needs a process of its own.

/// One rule of a filter: which calls, and what happens to them.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    call: libc::c_long,
    /// The number of an argument, the bits of it to look at, and what they must be.
    argument: Option<(u32, u32, u32)>,
    action: u32,
}

/// `MAP_DROPPABLE` and the bits of the flags of `mmap` that say what kind of mapping it is.
const DROPPABLE: u32 = 8;
const MAP_TYPE: u32 = 15;

impl Rule {
    /// The call `getrandom` fails with `code`.
    pub fn getrandom_fails(code: i32) -> Self {
        Self { call: libc::SYS_getrandom, argument: None, action: refuse(code) }
    }

    /// A call fails with `code`.
    pub fn fails(call: libc::c_long, code: i32) -> Self {
        Self { call, argument: None, action: refuse(code) }
    }

    /// The call `getrandom` is answered by whoever holds the filter's descriptor.
    pub fn getrandom_asks() -> Self {
        let action = libc::SECCOMP_RET_USER_NOTIF;
        Self { call: libc::SYS_getrandom, argument: None, action }
    }

    /// The kernel's generator in the vDSO finds no memory for its states, so that every request
    /// to the kernel is a system call.
    pub fn no_vdso_states() -> Self {
        let argument = Some((3, MAP_TYPE, DROPPABLE));
        Self { call: libc::SYS_mmap, argument, action: refuse(libc::ENOMEM) }
    }

    /// The kernel refuses to empty pages on fork, as before Linux 4.14.
    pub fn no_wipe_on_fork() -> Self {
        Self::wipe_on_fork(refuse(libc::EINVAL))
    }

    /// To ask for pages that are emptied on fork fails with `code`, as some filters have it.
    pub fn wipe_on_fork_fails(code: i32) -> Self {
        Self::wipe_on_fork(refuse(code))
    }

    /// To ask for pages that are emptied on fork ends the process.
    pub fn wipe_on_fork_kills() -> Self {
        Self::wipe_on_fork(libc::SECCOMP_RET_KILL_PROCESS)
    }

    fn wipe_on_fork(action: u32) -> Self {
        let advice = libc::MADV_WIPEONFORK.cast_unsigned();
        Self { call: libc::SYS_madvise, argument: Some((2, u32::MAX, advice)), action }
    }
}

fn refuse(code: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | code.cast_unsigned()
}

/// Puts the calling thread under `rules`.
///
/// # Errors
///
/// Where the kernel or the container permits no filters.
pub fn install(rules: &[Rule]) -> std::io::Result<()> {
    set(rules, 0).map(drop)
}

/// Puts the calling thread under `rules`; returns the descriptor at which calls are answered.
///
/// # Errors
///
/// As for [`install`].
pub fn install_with_listener(rules: &[Rule]) -> std::io::Result<i32> {
    // A call that the listener has received must wait for its answer through a stop of the process;
    // else it asks once more, and what the listener gave is lost. Linux can do so from 5.19 on.
    let listens = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    let descriptor = set(rules, listens | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
        .or_else(|_| set(rules, listens))?;
    Ok(i32::try_from(descriptor).expect("descriptors are small"))
}

/// Puts the calling thread under `rules`, and kills the process for any call that they do not
/// answer and that is not among those `allowed`.
///
/// # Errors
///
/// As for [`install`].
pub fn allow_only(allowed: &[libc::c_long], rules: &[Rule]) -> std::io::Result<()> {
    let action = libc::SECCOMP_RET_ALLOW;
    let allowed = allowed.iter().map(|&call| Rule { call, argument: None, action });
    let rules: Vec<Rule> = rules.iter().copied().chain(allowed).collect();
    load(&rules, libc::SECCOMP_RET_KILL_PROCESS, 0).map(drop)
}

fn set(rules: &[Rule], flags: libc::c_ulong) -> std::io::Result<libc::c_long> {
    load(rules, libc::SECCOMP_RET_ALLOW, flags)
}

/// Loads a filter whose last word is `otherwise`.
fn load(rules: &[Rule], otherwise: u32, flags: libc::c_ulong) -> std::io::Result<libc::c_long> {
    let mut code: Vec<libc::sock_filter> =
        rules.iter().flat_map(|&rule| instructions(rule)).collect();
    code.push(instruction(libc::BPF_RET | libc::BPF_K, otherwise, 0));
    let length = u16::try_from(code.len()).expect("filters are short");
    let program = libc::sock_fprog { len: length, filter: code.as_mut_ptr() };
    // SAFETY: only gives up rights, for this thread and what it starts.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    let mode = libc::SECCOMP_SET_MODE_FILTER;
    // SAFETY: the program describes a live array.
    let result = unsafe { libc::syscall(libc::SYS_seccomp, mode, flags, &raw const program) };
    if result < 0 { Err(std::io::Error::last_os_error()) } else { Ok(result) }
}

/// A rule as instructions: other calls continue behind them.
fn instructions(rule: Rule) -> Vec<libc::sock_filter> {
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let compare = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let call = u32::try_from(rule.call).expect("calls have small numbers");
    let answer = instruction(libc::BPF_RET | libc::BPF_K, rule.action, 0);
    // The call's number stands first in the kernel's structure, the arguments from byte 16 on.
    let Some((number, mask, value)) = rule.argument else {
        return vec![instruction(load, 0, 0), instruction(compare, call, 1), answer];
    };
    vec![
        instruction(load, 0, 0),
        instruction(compare, call, 4),
        instruction(load, 16 + 8 * number, 0),
        instruction(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, mask, 0),
        instruction(compare, value, 1),
        answer,
    ]
}

/// An instruction that skips so many others if it compares and finds a difference.
fn instruction(code: u32, k: u32, skip: u8) -> libc::sock_filter {
    libc::sock_filter { code: u16::try_from(code).expect("codes are small"), jt: 0, jf: skip, k }
}
