//! Functions of the libcrypto that has loaded the module, found at run time.
//!
//! A process may hold several. The right one is where the functions are that it has passed: a name
//! counts only if it is found in the same file.

use core::ffi::{CStr, c_void};
use core::mem::MaybeUninit;
use core::ptr;

use crate::abi::{Core, Function};

/// The file that a libcrypto is in: a library or the program itself.
pub(crate) struct Library {
    handle: *mut c_void,
    base: *mut c_void,
}

impl Library {
    /// The one whose functions these are.
    pub(crate) fn of(core: &Core) -> Option<Self> {
        let passed: *const c_void = core.get_params? as *const c_void;
        let info = located(passed)?;
        let flags = libc::RTLD_LAZY | libc::RTLD_LOCAL | libc::RTLD_NOLOAD;
        // SAFETY: the name of a file that is loaded. The count of its users grows by one for ever.
        let mut handle = unsafe { libc::dlopen(info.dli_fname, flags) };
        if handle.is_null() {
            // A program that has libcrypto inside goes by another name.
            // SAFETY: no name is the program.
            handle = unsafe { libc::dlopen(ptr::null(), libc::RTLD_LAZY) };
        }
        (!handle.is_null()).then_some(Self { handle, base: info.dli_fbase })
    }

    /// A function by its name.
    pub(crate) fn function(&self, name: &CStr) -> Option<Function> {
        // SAFETY: a library that is loaded and a name.
        let found = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        if found.is_null() || located(found)?.dli_fbase != self.base {
            return None;
        }
        // SAFETY: the address of a function, which the caller gives its type.
        Some(unsafe { core::mem::transmute::<*mut c_void, Function>(found) })
    }
}

/// Which file an address is in.
fn located(address: *const c_void) -> Option<libc::Dl_info> {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked for, and there is room for the answer.
    if unsafe { libc::dladdr(address, info.as_mut_ptr()) } == 0 {
        return None;
    }
    // SAFETY: it has been filled in.
    Some(unsafe { info.assume_init() })
}

/// A group of functions of a libcrypto with their types.
macro_rules! functions {
    ($(#[$doc:meta])* $name:ident {
        $($function:ident: fn($($argument:ty),*) $(-> $result:ty)?;)+
    }) => {
        $(#[$doc])*
        #[allow(non_snake_case)]
        #[derive(Clone, Copy)]
        pub(crate) struct $name {
            $(pub(crate) $function: unsafe extern "C" fn($($argument),*) $(-> $result)?,)+
        }

        impl $name {
            /// Finds them, if the library has them all.
            pub(crate) fn find(library: &$crate::library::Library) -> Option<Self> {
                Some(Self {
                    $($function: {
                        const NAME: &core::ffi::CStr = match core::ffi::CStr::from_bytes_with_nul(
                            concat!(stringify!($function), "\0").as_bytes(),
                        ) {
                            Ok(name) => name,
                            Err(_) => panic!("a name has no zero"),
                        };
                        let function = library.function(NAME)?;
                        // SAFETY: the manual says that the function of this name has this type.
                        unsafe {
                            core::mem::transmute::<
                                $crate::abi::Function,
                                unsafe extern "C" fn($($argument),*) $(-> $result)?,
                            >(function)
                        }
                    },)+
                })
            }
        }
    };
}

pub(crate) use functions;
