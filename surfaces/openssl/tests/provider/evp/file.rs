//! Keys from files and stores, and the errors that say why there is none.

use core::ffi::{CStr, c_int, c_void};
use core::ptr;
use std::ffi::CString;

use super::{Context, Key};

impl Context {
    /// The key of a PEM file: the next private or public one.
    pub(crate) fn read(&self, pem: &[u8], private: bool) -> Result<Key<'_>, String> {
        let crypto = self.crypto;
        let length = c_int::try_from(pem.len()).expect("it is short");
        // SAFETY: so many bytes, which outlive the file.
        let file = unsafe { (crypto.BIO_new_mem_buf)(pem.as_ptr(), length) };
        let none = ptr::null_mut();
        let read = match private {
            true => crypto.PEM_read_bio_PrivateKey_ex,
            false => crypto.PEM_read_bio_PUBKEY_ex,
        };
        // SAFETY: a file, a context, and a string.
        let key = unsafe {
            read(file, ptr::null_mut(), none, none, self.raw, c"?provider=lanecrypt".as_ptr())
        };
        // SAFETY: it was made here.
        unsafe { (crypto.BIO_free)(file) };
        if key.is_null() { Err(self.errors()) } else { Ok(self.key(key)) }
    }

    /// The key of a store, which expects things of this kind.
    pub(crate) fn open(&self, uri: &str, expected: c_int) -> Result<Key<'_>, String> {
        let crypto = self.crypto;
        let uri = CString::new(uri).expect("no zero");
        let (none, query) = (ptr::null_mut(), c"?provider=lanecrypt".as_ptr());
        // SAFETY: strings and a context.
        let store = unsafe {
            let open = crypto.OSSL_STORE_open_ex;
            open(uri.as_ptr(), self.raw, query, none, none, ptr::null(), none, none)
        };
        if store.is_null() {
            return Err(self.errors());
        }
        // SAFETY: a store.
        assert_eq!(unsafe { (crypto.OSSL_STORE_expect)(store, expected) }, 1);
        let mut found = None;
        // SAFETY: a store.
        while unsafe { (crypto.OSSL_STORE_eof)(store) } == 0 {
            // SAFETY: a store.
            let info = unsafe { (crypto.OSSL_STORE_load)(store) };
            if info.is_null() {
                break;
            }
            // SAFETY: something of a store.
            let key = unsafe { (crypto.OSSL_STORE_INFO_get1_PKEY)(info) };
            // SAFETY: it was made here.
            unsafe { (crypto.OSSL_STORE_INFO_free)(info) };
            assert!(found.is_none(), "a name has one key");
            found = Some(self.key(key));
        }
        // SAFETY: it was made here.
        assert_eq!(unsafe { (crypto.OSSL_STORE_close)(store) }, 1);
        found.ok_or_else(|| self.errors())
    }

    /// The errors of this thread, with what they say. None are left.
    pub(crate) fn errors(&self) -> String {
        let crypto = self.crypto;
        let mut all = String::new();
        loop {
            let (mut data, none) = (ptr::null(), ptr::null_mut::<c_void>());
            // SAFETY: places, or none.
            let error = unsafe {
                let get = crypto.ERR_get_error_all;
                get(none.cast(), none.cast(), none.cast(), &raw mut data, none.cast())
            };
            if error == 0 {
                return all;
            }
            // SAFETY: an error.
            let reason = unsafe { (crypto.ERR_reason_error_string)(error) };
            for text in [reason, data] {
                if !text.is_null() {
                    // SAFETY: a string that stays until the next call.
                    all += &unsafe { CStr::from_ptr(text) }.to_string_lossy();
                    all.push_str("; ");
                }
            }
        }
    }
}
