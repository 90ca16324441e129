//! The system calls that the daemon may make, as filters of seccomp.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, apply_filter_all_threads,
};

/// Names and numbers of calls.
macro_rules! calls {
    ($($name:ident: $number:ident,)*) => { &[$((stringify!($name), libc::$number)),*] };
}

/// Calls that are allowed with any arguments.
const ALLOWED: &[(&str, libc::c_long)] = calls! {
    accept4: SYS_accept4,
    brk: SYS_brk,
    clock_getres: SYS_clock_getres,
    clock_gettime: SYS_clock_gettime,
    clock_nanosleep: SYS_clock_nanosleep,
    close: SYS_close,
    connect: SYS_connect,
    dup: SYS_dup,
    epoll_create1: SYS_epoll_create1,
    epoll_ctl: SYS_epoll_ctl,
    epoll_pwait: SYS_epoll_pwait,
    eventfd2: SYS_eventfd2,
    exit: SYS_exit,
    exit_group: SYS_exit_group,
    fallocate: SYS_fallocate,
    fcntl: SYS_fcntl,
    flock: SYS_flock,
    fstat: SYS_fstat,
    fsync: SYS_fsync,
    fdatasync: SYS_fdatasync,
    ftruncate: SYS_ftruncate,
    futex: SYS_futex,
    getcpu: SYS_getcpu,
    getcwd: SYS_getcwd,
    getdents64: SYS_getdents64,
    getegid: SYS_getegid,
    geteuid: SYS_geteuid,
    getgid: SYS_getgid,
    getpid: SYS_getpid,
    getpeername: SYS_getpeername,
    getrandom: SYS_getrandom,
    getsockname: SYS_getsockname,
    getsockopt: SYS_getsockopt,
    gettid: SYS_gettid,
    gettimeofday: SYS_gettimeofday,
    getuid: SYS_getuid,
    lseek: SYS_lseek,
    madvise: SYS_madvise,
    membarrier: SYS_membarrier,
    memfd_create: SYS_memfd_create,
    mlock: SYS_mlock,
    mlock2: SYS_mlock2,
    mremap: SYS_mremap,
    munlock: SYS_munlock,
    munmap: SYS_munmap,
    nanosleep: SYS_nanosleep,
    newfstatat: SYS_newfstatat,
    openat: SYS_openat,
    ppoll: SYS_ppoll,
    pread64: SYS_pread64,
    pwrite64: SYS_pwrite64,
    read: SYS_read,
    readlinkat: SYS_readlinkat,
    readv: SYS_readv,
    recvfrom: SYS_recvfrom,
    recvmsg: SYS_recvmsg,
    renameat: SYS_renameat,
    renameat2: SYS_renameat2,
    restart_syscall: SYS_restart_syscall,
    rseq: SYS_rseq,
    rt_sigaction: SYS_rt_sigaction,
    rt_sigprocmask: SYS_rt_sigprocmask,
    rt_sigreturn: SYS_rt_sigreturn,
    sched_get_priority_max: SYS_sched_get_priority_max,
    sched_get_priority_min: SYS_sched_get_priority_min,
    sched_getaffinity: SYS_sched_getaffinity,
    sched_getattr: SYS_sched_getattr,
    sched_getparam: SYS_sched_getparam,
    sched_getscheduler: SYS_sched_getscheduler,
    sched_setaffinity: SYS_sched_setaffinity,
    sched_setattr: SYS_sched_setattr,
    sched_yield: SYS_sched_yield,
    sendmsg: SYS_sendmsg,
    sendto: SYS_sendto,
    set_robust_list: SYS_set_robust_list,
    shutdown: SYS_shutdown,
    sigaltstack: SYS_sigaltstack,
    statx: SYS_statx,
    sysinfo: SYS_sysinfo,
    uname: SYS_uname,
    unlinkat: SYS_unlinkat,
    write: SYS_write,
    writev: SYS_writev,
};

/// Calls that newer processors' systems do not have.
#[cfg(target_arch = "x86_64")]
const OLD: &[(&str, libc::c_long)] = calls! {
    epoll_wait: SYS_epoll_wait,
    access: SYS_access,
    lstat: SYS_lstat,
    open: SYS_open,
    poll: SYS_poll,
    readlink: SYS_readlink,
    rename: SYS_rename,
    stat: SYS_stat,
    time: SYS_time,
    unlink: SYS_unlink,
};
#[cfg(not(target_arch = "x86_64"))]
const OLD: &[(&str, libc::c_long)] = &[];

/// A condition of a call on one argument.
struct Condition {
    argument: u8,
    length: SeccompCmpArgLen,
    operator: SeccompCmpOp,
    value: u64,
}

impl Condition {
    const fn equals(argument: u8, value: u64) -> Self {
        Self { argument, length: SeccompCmpArgLen::Dword, operator: SeccompCmpOp::Eq, value }
    }

    /// Of these bits, the argument has exactly those of `value`.
    const fn bits(argument: u8, mask: u64, value: u64) -> Self {
        let operator = SeccompCmpOp::MaskedEq(mask);
        Self { argument, length: SeccompCmpArgLen::Qword, operator, value }
    }

    /// The argument is a null pointer.
    const fn null(argument: u8) -> Self {
        Self { argument, length: SeccompCmpArgLen::Qword, operator: SeccompCmpOp::Eq, value: 0 }
    }
}

/// Calls that are allowed under one condition of several.
fn conditional() -> Vec<(&'static str, libc::c_long, &'static str, Vec<Condition>)> {
    const EXEC: u64 = libc::PROT_EXEC as u64;
    const THREAD: u64 = libc::CLONE_THREAD as u64;
    #[allow(clippy::unnecessary_cast, reason = "with musl it is an i32")]
    const FIONBIO: u64 = libc::FIONBIO as u64;
    let own = u64::from(std::process::id());
    let prctl = [libc::PR_SET_NAME, libc::PR_SET_VMA, libc::PR_GET_DUMPABLE];
    let prctl = prctl.map(|option| Condition::equals(0, u64::from(option.unsigned_abs())));
    vec![
        ("clone", libc::SYS_clone, "threads", vec![Condition::bits(0, THREAD, THREAD)]),
        ("ioctl", libc::SYS_ioctl, "FIONBIO", vec![Condition::equals(1, FIONBIO)]),
        ("mmap", libc::SYS_mmap, "memory without code", vec![Condition::bits(2, EXEC, 0)]),
        ("mprotect", libc::SYS_mprotect, "memory without code", vec![Condition::bits(2, EXEC, 0)]),
        ("prctl", libc::SYS_prctl, "names of threads and memory", prctl.into()),
        ("prlimit64", libc::SYS_prlimit64, "reading", vec![Condition::null(2)]),
        (
            "setsockopt",
            libc::SYS_setsockopt,
            "SOL_SOCKET",
            vec![Condition::equals(1, u64::from(libc::SOL_SOCKET.unsigned_abs()))],
        ),
        (
            "socket",
            libc::SYS_socket,
            "AF_UNIX",
            vec![Condition::equals(0, u64::from(libc::AF_UNIX.unsigned_abs()))],
        ),
        ("tgkill", libc::SYS_tgkill, "own threads", vec![Condition::equals(0, own)]),
    ]
}

/// Applies the filters to the process.
///
/// # Errors
///
/// What the system or the processor lacks.
pub(super) fn restrict() -> Result<(), String> {
    let target = std::env::consts::ARCH;
    let target: TargetArch =
        target.try_into().map_err(|_| format!("no filter for the processor {target}"))?;
    // Without it, the C library starts threads by `clone`, whose flags a filter can see.
    let clone3 = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let absent = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let absent = filter(clone3.clone(), SeccompAction::Allow, absent, target)?;
    let mut rules = clone3;
    rules.extend(ALLOWED.iter().chain(OLD).map(|&(_, number)| (number, Vec::new())));
    for (_, number, _, conditions) in conditional() {
        let alternatives = conditions.into_iter().map(|condition| {
            let Condition { argument, length, operator, value } = condition;
            let condition = SeccompCondition::new(argument, length, operator, value)?;
            SeccompRule::new(vec![condition])
        });
        let alternatives: Result<Vec<_>, _> = alternatives.collect();
        rules.insert(number, alternatives.map_err(|error| error.to_string())?);
    }
    let allowed = filter(rules, SeccompAction::KillProcess, SeccompAction::Allow, target)?;
    for program in [absent, allowed] {
        apply_filter_all_threads(&program).map_err(|error| match error {
            Error::Prctl(error) | Error::Seccomp(error) => format!("no seccomp: {error}"),
            other => other.to_string(),
        })?;
    }
    Ok(())
}

fn filter(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    otherwise: SeccompAction,
    action: SeccompAction,
    target: TargetArch,
) -> Result<BpfProgram, String> {
    let filter = SeccompFilter::new(rules, otherwise, action, target);
    filter.and_then(BpfProgram::try_from).map_err(|error| error.to_string())
}

/// The allowed calls, in lines.
pub(super) fn text() -> String {
    let mut names: Vec<String> =
        ALLOWED.iter().chain(OLD).map(|(name, _)| (*name).to_owned()).collect();
    names.extend(conditional().into_iter().map(|(name, _, what, _)| format!("{name} ({what})")));
    names.sort();
    let mut text = String::new();
    let mut line = String::from(" ");
    for name in names {
        if line.len() + name.len() > 78 {
            text += &format!("{line}\n");
            line = String::from(" ");
        }
        line += &format!(" {name}");
    }
    text + &line + "\n"
}
