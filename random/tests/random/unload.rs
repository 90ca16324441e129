//! Unloading: a library that contains the generators stays, so that threads that drew from it may
//! end later than it is closed, and loading it again uses up nothing.

use core::ffi::{CStr, c_char, c_void};
use core::mem::transmute;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Barrier};
use std::thread;

use crate::common::{maps, windows};
use lanecrypt_testing::harness::Case;

pub(crate) const CASES: &[Case] = &[Case("unload::threads_outlive_a_closed_library", outlive)];

/// What the library `examples/plugin.rs` offers.
type Draw = unsafe extern "C" fn(*mut u8, usize);

/// The library: the file that the environment names, which `make test` has built beside all
/// examples, or built here as this test was built.
fn library() -> PathBuf {
    if let Some(file) = std::env::var_os("LANECRYPT_PLUGIN").filter(|file| !file.is_empty()) {
        return file.into();
    }
    let program = std::env::current_exe().expect("a running program has a file");
    let profile = program.ancestors().nth(2).expect("<target>/<profile>/deps/<program>");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--example", "plugin", "--manifest-path"]);
    cargo.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
    cargo.args(["--profile", if cfg!(debug_assertions) { "dev" } else { "release" }]);
    cargo.arg("--target-dir").arg(profile.parent().expect("<target>/<profile>"));
    assert!(cargo.status().is_ok_and(|status| status.success()), "{cargo:?}");
    profile.join("examples/libplugin.so")
}

fn open(path: &CStr) -> (*mut c_void, Draw) {
    // SAFETY: the library runs nothing when it is loaded but what all of these programs do.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!handle.is_null(), "{path:?} cannot be loaded");
    let name: *const c_char = c"draw".as_ptr();
    // SAFETY: the handle is open, and the name ends with a zero byte.
    let function = unsafe { libc::dlsym(handle, name) };
    assert!(!function.is_null());
    // SAFETY: the library's function of this name has this type.
    (handle, unsafe { transmute::<*mut c_void, Draw>(function) })
}

fn draw(function: Draw) -> Vec<u8> {
    let mut out = vec![0; 40];
    // SAFETY: the pointer and the length describe memory that may be written.
    unsafe { function(out.as_mut_ptr(), out.len()) };
    out
}

/// A thread that draws and ends later.
fn draw_and_wait(
    function: Draw,
    drawn: &Arc<Barrier>,
    end: &Arc<Barrier>,
) -> thread::JoinHandle<Vec<u8>> {
    let (drawn, end) = (Arc::clone(drawn), Arc::clone(end));
    thread::spawn(move || {
        let record = draw(function);
        drawn.wait();
        end.wait();
        record
    })
}

fn close(handle: *mut c_void) {
    // SAFETY: the handle is open, and nobody calls into the library any more.
    assert_eq!(unsafe { libc::dlclose(handle) }, 0);
}

/// How many keys of thread-specific data there are to be had.
fn keys() -> usize {
    let mut key = 0;
    // SAFETY: the pointer is to a key; there is no destructor.
    let mut more = || unsafe { libc::pthread_key_create(&raw mut key, None) == 0 }.then_some(key);
    let keys: Vec<_> = core::iter::from_fn(&mut more).collect();
    for &key in &keys {
        // SAFETY: the key was made above and never used.
        unsafe { libc::pthread_key_delete(key) };
    }
    keys.len()
}

fn outlive() {
    let path = CString::new(library().as_os_str().as_bytes()).expect("paths have no zero bytes");
    let keys_before = keys();
    let mut mapped = 0;
    let mut records = Vec::new();
    // One thread lives longer than all cycles, one as long as each.
    let (first, function) = open(&path);
    let (drawn, end) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let longest = draw_and_wait(function, &drawn, &end);
    drawn.wait();
    close(first);
    for cycle in 0..1000 {
        let (handle, function) = open(&path);
        let closed = Arc::new(Barrier::new(2));
        let thread = draw_and_wait(function, &drawn, &closed);
        drawn.wait();
        close(handle);
        closed.wait();
        records.push(thread.join().expect("it only draws"));
        if cycle == 10 {
            mapped = maps::wiped_on_fork().iter().map(|mapping| mapping.length).sum();
        }
    }
    end.wait();
    records.push(longest.join().expect("it only draws"));
    let at_end: usize = maps::wiped_on_fork().iter().map(|mapping| mapping.length).sum();
    assert_eq!(at_end, mapped, "loading it again maps memory again");
    // Those of the library, and of the standard library for threads.
    assert!(keys() + 8 >= keys_before, "loading it again takes keys again");
    windows::assert_unique("a library", records.iter().map(Vec::as_slice));
}
