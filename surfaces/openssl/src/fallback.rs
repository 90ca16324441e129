//! What OpenSSL's default provider does with keys of a type: its tables of functions.
//!
//! Keys of ours hold keys of that provider, or can be turned into one. What is not done here is
//! done there, as without the module.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use std::sync::OnceLock;

use crate::abi::{self, Algorithm, Context, Core, Dispatch, incoming};
use crate::asynchronous::Jobs;
use crate::errors::{Failure, Reporter};
use crate::library::{Library, functions};

functions! {
    /// What finds a provider's tables.
    Functions {
        EVP_KEYMGMT_fetch: fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;
        EVP_KEYMGMT_free: fn(*mut c_void);
        EVP_KEYMGMT_get0_provider: fn(*const c_void) -> *mut c_void;
        OSSL_PROVIDER_get_capabilities:
            fn(*const c_void, *const c_char, Option<abi::Take>, *mut c_void) -> c_int;
        OSSL_PROVIDER_get0_provider_ctx: fn(*const c_void) -> *mut c_void;
        OSSL_PROVIDER_query_operation: fn(*const c_void, c_int, *mut c_int) -> *const Algorithm;
        OSSL_PROVIDER_unquery_operation: fn(*const c_void, c_int, *const Algorithm);
    }
}

incoming! {
    /// Functions for keys.
    Keys {
        new: abi::NewKey = 1,
        begin: abi::BeginKey = 2,
        set_template: abi::SetTemplate = 3,
        set_making_params: abi::SetContextParams = 4,
        settable_making_params: abi::DescribedContext = 5,
        make: abi::MakeKey = 6,
        end: abi::Free = 7,
        free: abi::Free = 10,
        get_params: abi::GetContextParams = 11,
        gettable_params: abi::Described = 12,
        set_params: abi::SetContextParams = 13,
        settable_params: abi::Described = 14,
        has: abi::Select = 21,
        validate: abi::Validate = 22,
        matches: abi::Match = 23,
        import: abi::Import = 40,
        export: abi::Export = 42,
        duplicate: abi::DuplicateKey = 44,
    }
}

incoming! {
    /// Functions for signatures.
    Signatures {
        new: abi::NewSignature = 1,
        init_sign: abi::InitSignature = 2,
        sign: abi::Sign = 3,
        init_verify: abi::InitSignature = 4,
        verify: abi::Verify = 5,
        init_recover: abi::InitSignature = 6,
        recover: abi::Sign = 7,
        init_digest_sign: abi::InitDigest = 8,
        update_digest_sign: abi::UpdateDigest = 9,
        end_digest_sign: abi::Final = 10,
        init_digest_verify: abi::InitDigest = 12,
        update_digest_verify: abi::UpdateDigest = 13,
        end_digest_verify: abi::EndVerify = 14,
        free: abi::Free = 16,
        duplicate: abi::Duplicate = 17,
        get_params: abi::GetContextParams = 18,
        gettable_params: abi::DescribedContext = 19,
        set_params: abi::SetContextParams = 20,
        settable_params: abi::DescribedContext = 21,
        get_digest_params: abi::GetContextParams = 22,
        gettable_digest_params: abi::DescribedDigest = 23,
        set_digest_params: abi::SetContextParams = 24,
        settable_digest_params: abi::DescribedDigest = 25,
    }
}

incoming! {
    /// Functions for key exchange.
    Exchanges {
        new: abi::NewKey = 1,
        init: abi::InitSignature = 2,
        derive: abi::Derive = 3,
        set_peer: abi::SetPeer = 4,
        free: abi::Free = 5,
        duplicate: abi::Duplicate = 6,
        set_params: abi::SetContextParams = 7,
        settable_params: abi::DescribedContext = 8,
        get_params: abi::GetContextParams = 9,
        gettable_params: abi::DescribedContext = 10,
    }
}

/// How OpenSSL calls a type of keys, and what is done with them.
pub(crate) struct Names {
    pub(crate) keys: &'static CStr,
    pub(crate) signatures: Option<&'static CStr>,
    pub(crate) exchanges: Option<&'static CStr>,
}

/// What is needed of the library that loaded the module for keys of a type. Keys and contexts hold
/// it.
pub(crate) struct Fallback {
    pub(crate) reporter: Reporter,
    pub(crate) jobs: Option<Jobs>,
    functions: Functions,
    names: Names,
    /// Found with the first key: providers may not look for others while they are loaded.
    inner: OnceLock<Inner>,
}

// SAFETY: handles and functions of libcrypto may be used by many threads.
unsafe impl Send for Fallback {}
// SAFETY: the same.
unsafe impl Sync for Fallback {}

impl Fallback {
    /// For the library of these functions and this handle; none if it does not have what it takes.
    pub(crate) fn new(handle: *const c_void, core: Core, names: Names) -> Option<Self> {
        let library = Library::of(&core)?;
        Some(Self {
            reporter: Reporter { handle, core },
            jobs: Jobs::find(&library),
            functions: Functions::find(&library)?,
            names,
            inner: OnceLock::new(),
        })
    }

    /// What the default provider does, or an error on OpenSSL's stack.
    pub(crate) fn inner(&self) -> Option<&Inner> {
        if let Some(inner) = self.inner.get() {
            return Some(inner);
        }
        let found = self.reporter.core.context.and_then(|context| {
            // SAFETY: the handle belongs to the function.
            let context = unsafe { context(self.reporter.handle) };
            Inner::find(&self.functions, context, &self.names)
        });
        match found {
            Some(inner) => Some(self.inner.get_or_init(|| inner)),
            None => {
                self.reporter.fail(Failure::NoDefaultProvider);
                None
            }
        }
    }
}

/// What the default provider does with keys of a type.
pub(crate) struct Inner {
    functions: Functions,
    /// A method of the provider, which keeps it from going away.
    method: *mut c_void,
    /// What the provider's functions take as their own.
    pub(crate) context: *mut c_void,
    pub(crate) keys: Keys,
    pub(crate) signatures: Signatures,
    pub(crate) exchanges: Exchanges,
}

impl Inner {
    /// Finds it in a library context.
    fn find(functions: &Functions, context: *mut c_void, names: &Names) -> Option<Self> {
        let Functions { EVP_KEYMGMT_fetch: fetch, EVP_KEYMGMT_free: free, .. } = functions;
        // SAFETY: a library context and two strings.
        let method = unsafe { fetch(context, names.keys.as_ptr(), c"provider=default".as_ptr()) };
        if method.is_null() {
            return None;
        }
        // SAFETY: a method.
        let provider = unsafe { (functions.EVP_KEYMGMT_get0_provider)(method) };
        // Without a name there is nothing to find, and the table is empty.
        let table = |operation, name: Option<&CStr>| match name {
            // SAFETY: a provider that a method holds.
            Some(name) => unsafe { table(functions, provider, operation, name) },
            None => Some(ptr::null()),
        };
        let tables = (
            table(abi::KEYS, Some(names.keys)),
            table(abi::SIGNATURES, names.signatures),
            table(abi::EXCHANGES, names.exchanges),
        );
        let (Some(keys), Some(signatures), Some(exchanges)) = tables else {
            // SAFETY: the method was fetched here.
            unsafe { free(method) };
            return None;
        };
        Some(Self {
            functions: *functions,
            method,
            // SAFETY: a provider that a method holds.
            context: unsafe { (functions.OSSL_PROVIDER_get0_provider_ctx)(provider) },
            // SAFETY: the provider's table for keys.
            keys: unsafe { Keys::read(keys) },
            // SAFETY: none or the provider's table for signatures.
            signatures: unsafe { Signatures::read(signatures) },
            // SAFETY: none or the provider's table for key exchange.
            exchanges: unsafe { Exchanges::read(exchanges) },
        })
    }

    /// A context for signatures, or null.
    pub(crate) fn new_signature(&self, properties: *const c_char) -> Context {
        // SAFETY: the provider's own context, and null or a string.
        self.signatures.new.map_or(ptr::null_mut(), |new| unsafe { new(self.context, properties) })
    }
}

impl Inner {
    /// What the provider says of its capabilities.
    pub(crate) fn capabilities(
        &self,
        name: &CStr,
        take: abi::Take,
        argument: *mut c_void,
    ) -> c_int {
        // SAFETY: a method.
        let provider = unsafe { (self.functions.EVP_KEYMGMT_get0_provider)(self.method) };
        let get = self.functions.OSSL_PROVIDER_get_capabilities;
        // SAFETY: a provider, a string, and a function with its argument.
        unsafe { get(provider, name.as_ptr(), Some(take), argument) }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: the method was fetched in `find`.
        unsafe { (self.functions.EVP_KEYMGMT_free)(self.method) };
    }
}

/// The functions of a provider for an algorithm.
///
/// # Safety
///
/// The provider is one, and is held.
unsafe fn table(
    functions: &Functions,
    provider: *mut c_void,
    operation: c_int,
    wanted: &CStr,
) -> Option<*const Dispatch> {
    let mut do_not_store = 0;
    // SAFETY: a provider and a place for a number.
    let list = unsafe {
        (functions.OSSL_PROVIDER_query_operation)(provider, operation, &raw mut do_not_store)
    };
    let mut next = list;
    let mut found = None;
    // SAFETY: null or an entry of the list, of which none before was the last.
    while let Some(algorithm) = unsafe { next.as_ref() } {
        if algorithm.names.is_null() {
            break;
        }
        // SAFETY: the names are a string.
        let names = unsafe { CStr::from_ptr(algorithm.names) };
        if names.to_bytes().split(|&byte| byte == b':').any(|name| name == wanted.to_bytes()) {
            found = Some(algorithm.functions).filter(|table| !table.is_null());
            break;
        }
        next = next.wrapping_add(1);
    }
    // The tables are constants; only the list may be a temporary one.
    // SAFETY: what the query before has given.
    unsafe { (functions.OSSL_PROVIDER_unquery_operation)(provider, operation, list) };
    found
}
