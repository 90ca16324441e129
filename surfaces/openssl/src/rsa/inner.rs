//! RSA of OpenSSL's default provider: its tables of functions.

use core::ffi::{CStr, c_char, c_int, c_void};

use crate::abi::{self, Algorithm, Context, Dispatch, incoming};
use crate::library::functions;

functions! {
    /// What finds a provider's tables.
    Functions {
        EVP_KEYMGMT_fetch: fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;
        EVP_KEYMGMT_free: fn(*mut c_void);
        EVP_KEYMGMT_get0_provider: fn(*const c_void) -> *mut c_void;
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
        set_params: abi::SetContextParams = 4,
        settable_params: abi::DescribedContext = 5,
        make: abi::MakeKey = 6,
        end: abi::Free = 7,
        free: abi::Free = 10,
        get_params: abi::GetContextParams = 11,
        gettable_params: abi::Described = 12,
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

/// The default provider's RSA.
pub(super) struct Inner {
    functions: Functions,
    /// A method of the provider, which keeps it from going away.
    method: *mut c_void,
    /// What the provider's functions take as their own.
    pub(super) context: *mut c_void,
    pub(super) keys: Keys,
    pub(super) signatures: Signatures,
}

impl Inner {
    /// Finds it in a library context.
    pub(super) fn find(functions: &Functions, context: *mut c_void) -> Option<Self> {
        let Functions { EVP_KEYMGMT_fetch: fetch, EVP_KEYMGMT_free: free, .. } = functions;
        // SAFETY: a library context and two strings.
        let method = unsafe { fetch(context, c"RSA".as_ptr(), c"provider=default".as_ptr()) };
        if method.is_null() {
            return None;
        }
        // SAFETY: a method.
        let provider = unsafe { (functions.EVP_KEYMGMT_get0_provider)(method) };
        let tables = [abi::KEYS, abi::SIGNATURES].map(|operation| {
            // SAFETY: a provider that a method holds.
            unsafe { table(functions, provider, operation) }
        });
        let [Some(keys), Some(signatures)] = tables else {
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
            // SAFETY: the provider's table for signatures.
            signatures: unsafe { Signatures::read(signatures) },
        })
    }

    /// A context for signatures, or null.
    pub(super) fn new_signature(&self, properties: *const c_char) -> Context {
        // SAFETY: the provider's own context, and null or a string.
        self.signatures
            .new
            .map_or(core::ptr::null_mut(), |new| unsafe { new(self.context, properties) })
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: the method was fetched in `find`.
        unsafe { (self.functions.EVP_KEYMGMT_free)(self.method) };
    }
}

/// The functions of a provider for RSA.
///
/// # Safety
///
/// The provider is one, and is held.
unsafe fn table(
    functions: &Functions,
    provider: *mut c_void,
    operation: c_int,
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
        if names.to_bytes().split(|&byte| byte == b':').any(|name| name == b"RSA") {
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
