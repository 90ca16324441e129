//! Key exchange, signatures and encapsulation by short keys, from 3.0 on; ML-KEM from 3.5 on.

use core::ffi::{CStr, c_char, c_int, c_long, c_void};
use core::fmt;
use core::ptr::{self, NonNull};

use crate::build::Build;
use crate::functions::PublicKeys;
use crate::rsa_numbers::wipe;
use crate::{Error, Libcrypto};

/// A type of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyType {
    /// X25519: keys of 32 bytes.
    X25519,
    /// Ed25519: seeds and public keys of 32 bytes.
    Ed25519,
    /// P-256: scalars of 32 bytes, points of 65 bytes.
    P256,
    /// ML-KEM-768: expanded decapsulation keys of 2400 bytes, encapsulation keys of 1184.
    MlKem768,
}

/// `EVP_PKEY_EC`.
const TYPE_EC: c_int = 408;

impl KeyType {
    const fn name(self) -> &'static CStr {
        match self {
            Self::X25519 => c"X25519",
            Self::Ed25519 => c"ED25519",
            Self::P256 => c"EC",
            Self::MlKem768 => c"ML-KEM-768",
        }
    }
}

impl Libcrypto {
    /// Makes new keys of a type.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the build has no such keys.
    pub fn generator(&self, of: KeyType) -> Result<Generator, Error> {
        let library = Library::of(self)?;
        // SAFETY: both texts end with a zero byte, or are null; null stands for the default
        // library context.
        let context = unsafe {
            (library.functions.EVP_PKEY_CTX_new_from_name)(
                ptr::null_mut(),
                of.name().as_ptr(),
                library.properties(),
            )
        };
        let context = library.context(context).or(Err(Error::Unsupported))?;
        // SAFETY: the context was just made.
        let status = unsafe { (library.functions.EVP_PKEY_keygen_init)(context.as_ptr()) };
        library.build.check(status == 1)?;
        if of == KeyType::P256 {
            // SAFETY: the context makes keys; the name ends with a zero byte.
            let status = unsafe {
                (library.functions.EVP_PKEY_CTX_set_group_name)(context.as_ptr(), c"P-256".as_ptr())
            };
            library.build.check(status == 1)?;
        }
        Ok(Generator { context, of })
    }

    /// A private key; `public` belongs to it.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the build has no such keys; [`Error::KeyLength`] if one of them
    /// has another length; [`Error::Failed`] if libcrypto refuses.
    pub fn private_key(
        &self,
        of: KeyType,
        private: &[u8],
        public: &[u8],
    ) -> Result<SecretKey, Error> {
        let library = Library::of(self)?;
        if of != KeyType::P256 {
            return library.raw(of, library.functions.EVP_PKEY_new_raw_private_key_ex, private);
        }
        if private.len() != 32 || public.len() != 65 {
            return Err(Error::KeyLength);
        }
        // RFC 5915.
        let parts: [&[u8]; 4] = [
            b"\x30\x77\x02\x01\x01\x04\x20",
            private,
            b"\xa0\x0a\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\xa1\x44\x03\x42\x00",
            public,
        ];
        let mut der = parts.concat();
        let mut next = der.as_ptr();
        let length = c_long::try_from(der.len()).map_err(|_| Error::KeyLength)?;
        // SAFETY: there are `length` bytes, and libcrypto only moves the pointer within them.
        let key = unsafe {
            (library.functions.d2i_PrivateKey)(TYPE_EC, ptr::null_mut(), &raw mut next, length)
        };
        wipe(&mut der);
        library.key(of, key)
    }

    /// A public key.
    ///
    /// # Errors
    ///
    /// Same as [`Libcrypto::private_key`].
    pub fn public_key(&self, of: KeyType, public: &[u8]) -> Result<SecretKey, Error> {
        let library = Library::of(self)?;
        if of != KeyType::P256 {
            return library.raw(of, library.functions.EVP_PKEY_new_raw_public_key_ex, public);
        }
        if public.len() != 65 {
            return Err(Error::KeyLength);
        }
        // RFC 5480.
        let head = b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\
            \x3d\x03\x01\x07\x03\x42\x00";
        let der = [head, public].concat();
        let mut next = der.as_ptr();
        let length = c_long::try_from(der.len()).map_err(|_| Error::KeyLength)?;
        // SAFETY: there are `length` bytes, and libcrypto only moves the pointer within them.
        let key = unsafe { (library.functions.d2i_PUBKEY)(ptr::null_mut(), &raw mut next, length) };
        library.key(of, key)
    }
}

/// A build that has the functions.
#[derive(Clone, Copy)]
struct Library {
    build: &'static Build,
    functions: &'static PublicKeys,
}

type NewRaw = unsafe extern "C" fn(
    *mut c_void,
    *const c_char,
    *const c_char,
    *const u8,
    usize,
) -> *mut c_void;

impl Library {
    fn of(libcrypto: &Libcrypto) -> Result<Self, Error> {
        let build = libcrypto.build();
        let functions = build.functions.public_keys.as_ref().ok_or(Error::Unsupported)?;
        Ok(Self { build, functions })
    }

    #[inline]
    fn properties(self) -> *const c_char {
        self.build.properties().map_or(ptr::null(), CStr::as_ptr)
    }

    /// A key of its bytes.
    #[inline]
    fn raw(self, of: KeyType, new: NewRaw, bytes: &[u8]) -> Result<SecretKey, Error> {
        // SAFETY: both texts end with a zero byte, or are null; there are so many bytes.
        let key = unsafe {
            new(ptr::null_mut(), of.name().as_ptr(), self.properties(), bytes.as_ptr(), bytes.len())
        };
        self.key(of, key)
    }

    /// Takes a key that was made, or null.
    #[inline]
    fn key(self, of: KeyType, key: *mut c_void) -> Result<SecretKey, Error> {
        let key = NonNull::new(key).ok_or_else(|| self.build.failed(Error::Failed))?;
        Ok(SecretKey { library: self, key, of })
    }

    /// Takes a context that was made, or null.
    #[inline]
    fn context(self, context: *mut c_void) -> Result<Context, Error> {
        let context = NonNull::new(context).ok_or_else(|| self.build.failed(Error::Failed))?;
        Ok(Context { library: self, context })
    }
}

/// An `EVP_PKEY_CTX`.
struct Context {
    library: Library,
    context: NonNull<c_void>,
}

impl Context {
    #[inline]
    const fn as_ptr(&self) -> *mut c_void {
        self.context.as_ptr()
    }
}

impl Drop for Context {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: libcrypto made it, and there is no other owner.
        unsafe { (self.library.functions.EVP_PKEY_CTX_free)(self.as_ptr()) };
    }
}

// SAFETY: a context belongs to no thread; it is only used through `&mut`, and libcrypto counts the
// references to its key atomically.
unsafe impl Send for Context {}

/// Makes new keys, with a context that is kept.
pub struct Generator {
    context: Context,
    of: KeyType,
}

impl Generator {
    /// Makes a new key.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if there is no entropy.
    #[inline]
    pub fn generate(&mut self) -> Result<SecretKey, Error> {
        let library = self.context.library;
        let mut key = ptr::null_mut();
        // SAFETY: the context makes keys; libcrypto writes the pointer.
        let status =
            unsafe { (library.functions.EVP_PKEY_generate)(self.context.as_ptr(), &raw mut key) };
        library.build.check(status == 1)?;
        library.key(self.of, key)
    }
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator").field("of", &self.of).finish_non_exhaustive()
    }
}

/// A private or public key (`EVP_PKEY`), which libcrypto wipes when it is dropped.
pub struct SecretKey {
    library: Library,
    key: NonNull<c_void>,
    of: KeyType,
}

impl SecretKey {
    /// Writes the public key.
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if it has another length; [`Error::Failed`] if libcrypto refuses.
    #[inline]
    pub fn public(&self, to: &mut [u8]) -> Result<(), Error> {
        let mut length = 0;
        // SAFETY: a key of the library, which writes at most as many bytes as there are; the name
        // ends with a zero byte.
        let status = unsafe {
            (self.library.functions.EVP_PKEY_get_octet_string_param)(
                self.key.as_ptr(),
                c"pub".as_ptr(),
                to.as_mut_ptr(),
                to.len(),
                &raw mut length,
            )
        };
        self.library.build.check(status == 1)?;
        if length == to.len() { Ok(()) } else { Err(Error::DataLength) }
    }

    /// A context of this key; null stands for the default library context.
    #[inline]
    fn context(&self) -> Result<Context, Error> {
        let library = self.library;
        // SAFETY: a key of the library; the context takes a reference to it.
        let context = unsafe {
            (library.functions.EVP_PKEY_CTX_new_from_pkey)(
                ptr::null_mut(),
                self.key.as_ptr(),
                library.properties(),
            )
        };
        library.context(context)
    }

    /// Derives shared secrets, with a context that is kept.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if the key is for something else.
    pub fn into_deriver(self) -> Result<Deriver, Error> {
        let context = self.context()?;
        // SAFETY: the context was just made.
        let status = unsafe { (self.library.functions.EVP_PKEY_derive_init)(context.as_ptr()) };
        self.library.build.check(status == 1)?;
        Ok(Deriver { key: self, context })
    }

    /// Makes a secret and its ciphertext, under this encapsulation key.
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if one of them has another length; [`Error::Failed`] if libcrypto
    /// refuses.
    #[inline]
    pub fn encapsulate(&self, ciphertext: &mut [u8], secret: &mut [u8]) -> Result<(), Error> {
        let Library { build, functions } = self.library;
        let context = self.context()?;
        // SAFETY: the context was just made; there are no parameters.
        let status =
            unsafe { (functions.EVP_PKEY_encapsulate_init)(context.as_ptr(), ptr::null()) };
        build.check(status == 1)?;
        let (mut of_ciphertext, mut of_secret) = (ciphertext.len(), secret.len());
        // SAFETY: the context encapsulates; libcrypto writes at most these lengths.
        let status = unsafe {
            (functions.EVP_PKEY_encapsulate)(
                context.as_ptr(),
                ciphertext.as_mut_ptr(),
                &raw mut of_ciphertext,
                secret.as_mut_ptr(),
                &raw mut of_secret,
            )
        };
        build.check(status == 1)?;
        let is_full = (of_ciphertext, of_secret) == (ciphertext.len(), secret.len());
        if is_full { Ok(()) } else { Err(Error::DataLength) }
    }

    /// The secret of a ciphertext, for this decapsulation key.
    ///
    /// # Errors
    ///
    /// Same as [`SecretKey::encapsulate`].
    #[inline]
    pub fn decapsulate(&self, ciphertext: &[u8], secret: &mut [u8]) -> Result<(), Error> {
        let Library { build, functions } = self.library;
        let context = self.context()?;
        // SAFETY: the context was just made; there are no parameters.
        let status =
            unsafe { (functions.EVP_PKEY_decapsulate_init)(context.as_ptr(), ptr::null()) };
        build.check(status == 1)?;
        let mut length = secret.len();
        // SAFETY: the context decapsulates; libcrypto writes at most this length.
        let status = unsafe {
            (functions.EVP_PKEY_decapsulate)(
                context.as_ptr(),
                secret.as_mut_ptr(),
                &raw mut length,
                ciphertext.as_ptr(),
                ciphertext.len(),
            )
        };
        build.check(status == 1)?;
        if length == secret.len() { Ok(()) } else { Err(Error::DataLength) }
    }

    /// Makes signatures, or checks them with a public key.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if keys of this type do not sign.
    pub fn into_signer(self) -> Result<PublicKeySigner, Error> {
        let Library { build, functions } = self.library;
        let context = match self.of {
            KeyType::Ed25519 => {
                // SAFETY: takes no arguments.
                let context = unsafe { (functions.EVP_MD_CTX_new)() };
                let context = NonNull::new(context).ok_or_else(|| build.failed(Error::Failed))?;
                Sides::Message(MessageContext { library: self.library, context })
            }
            KeyType::P256 => {
                let (sign, verify) = (self.context()?, self.context()?);
                // SAFETY: the context was just made. With a public key it fails, and so do its
                // signatures.
                unsafe { (functions.EVP_PKEY_sign_init)(sign.as_ptr()) };
                // SAFETY: the context was just made.
                let status = unsafe { (functions.EVP_PKEY_verify_init)(verify.as_ptr()) };
                build.check(status == 1)?;
                Sides::Digest { sign, verify }
            }
            KeyType::X25519 | KeyType::MlKem768 => return Err(Error::Failed),
        };
        Ok(PublicKeySigner { key: self, context })
    }
}

impl Drop for SecretKey {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this is one of the references to the key, and it is not used again.
        unsafe { (self.library.functions.EVP_PKEY_free)(self.key.as_ptr()) };
    }
}

// SAFETY: a key belongs to no thread, and libcrypto counts the references to it atomically.
unsafe impl Send for SecretKey {}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretKey").field("of", &self.of).finish_non_exhaustive()
    }
}

/// Derives shared secrets of one private key.
pub struct Deriver {
    key: SecretKey,
    context: Context,
}

impl Deriver {
    /// Writes the secret that is shared with a public key, which comes as bytes.
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if the secret has another length; [`Error::Failed`] if the public key
    /// is not valid.
    #[inline]
    pub fn derive(&mut self, public: &[u8], secret: &mut [u8]) -> Result<(), Error> {
        let Library { build, functions } = self.key.library;
        // SAFETY: takes no arguments.
        let peer = self.key.library.key(self.key.of, unsafe { (functions.EVP_PKEY_new)() })?;
        // SAFETY: both are keys of the library.
        let mut status = unsafe {
            (functions.EVP_PKEY_copy_parameters)(peer.key.as_ptr(), self.key.key.as_ptr())
        };
        build.check(status == 1)?;
        // SAFETY: a key of the library, which reads so many bytes.
        status = unsafe {
            (functions.EVP_PKEY_set1_encoded_public_key)(
                peer.key.as_ptr(),
                public.as_ptr(),
                public.len(),
            )
        };
        build.check(status == 1)?;
        // SAFETY: the context derives; it takes a reference to the key.
        status = unsafe {
            (functions.EVP_PKEY_derive_set_peer)(self.context.as_ptr(), peer.key.as_ptr())
        };
        build.check(status == 1)?;
        let mut length = secret.len();
        // SAFETY: the context has its peer; libcrypto writes at most `length` bytes.
        status = unsafe {
            (functions.EVP_PKEY_derive)(self.context.as_ptr(), secret.as_mut_ptr(), &raw mut length)
        };
        build.check(status == 1)?;
        if length == secret.len() { Ok(()) } else { Err(Error::DataLength) }
    }
}

impl fmt::Debug for Deriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deriver").field("key", &self.key).finish_non_exhaustive()
    }
}

/// Makes or checks signatures of one key: Ed25519 of messages, ECDSA of digests.
pub struct PublicKeySigner {
    key: SecretKey,
    context: Sides,
}

enum Sides {
    Message(MessageContext),
    Digest { sign: Context, verify: Context },
}

/// An `EVP_MD_CTX`.
struct MessageContext {
    library: Library,
    context: NonNull<c_void>,
}

impl Drop for MessageContext {
    fn drop(&mut self) {
        // SAFETY: libcrypto made it, and there is no other owner.
        unsafe { (self.library.functions.EVP_MD_CTX_free)(self.context.as_ptr()) };
    }
}

// SAFETY: a context belongs to no thread; it is only used through `&mut`.
unsafe impl Send for MessageContext {}

impl PublicKeySigner {
    /// Signs a message by Ed25519, a digest by ECDSA. Returns the length of the signature; that of
    /// ECDSA is in DER, of at most 72 bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if libcrypto refuses, or there is no room.
    #[inline]
    pub fn sign(&mut self, message: &[u8], signature: &mut [u8]) -> Result<usize, Error> {
        let Library { build, functions } = self.key.library;
        let mut length = signature.len();
        let status = match &self.context {
            Sides::Digest { sign, .. } => {
                // SAFETY: a context of the library; both lengths are those of the slices.
                unsafe {
                    (functions.EVP_PKEY_sign)(
                        sign.as_ptr(),
                        signature.as_mut_ptr(),
                        &raw mut length,
                        message.as_ptr(),
                        message.len(),
                    )
                }
            }
            Sides::Message(MessageContext { context, .. }) => {
                // SAFETY: a context and a key of the library; there is no digest.
                let status = unsafe {
                    (functions.EVP_DigestSignInit_ex)(
                        context.as_ptr(),
                        ptr::null_mut(),
                        ptr::null(),
                        ptr::null_mut(),
                        self.key.library.properties(),
                        self.key.key.as_ptr(),
                        ptr::null(),
                    )
                };
                build.check(status == 1)?;
                // SAFETY: the context signs; both lengths are those of the slices.
                unsafe {
                    (functions.EVP_DigestSign)(
                        context.as_ptr(),
                        signature.as_mut_ptr(),
                        &raw mut length,
                        message.as_ptr(),
                        message.len(),
                    )
                }
            }
        };
        build.check(status == 1)?;
        Ok(length)
    }

    /// Checks a signature of a message by Ed25519, of a digest by ECDSA.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if it is wrong.
    #[inline]
    pub fn verify(&mut self, message: &[u8], signature: &[u8]) -> Result<(), Error> {
        let Library { build, functions } = self.key.library;
        let status = match &self.context {
            Sides::Digest { verify, .. } => {
                // SAFETY: the context verifies; both lengths are those of the slices.
                unsafe {
                    (functions.EVP_PKEY_verify)(
                        verify.as_ptr(),
                        signature.as_ptr(),
                        signature.len(),
                        message.as_ptr(),
                        message.len(),
                    )
                }
            }
            Sides::Message(MessageContext { context, .. }) => {
                // SAFETY: a context and a key of the library; there is no digest.
                let status = unsafe {
                    (functions.EVP_DigestVerifyInit_ex)(
                        context.as_ptr(),
                        ptr::null_mut(),
                        ptr::null(),
                        ptr::null_mut(),
                        self.key.library.properties(),
                        self.key.key.as_ptr(),
                        ptr::null(),
                    )
                };
                build.check(status == 1)?;
                // SAFETY: the context verifies; both lengths are those of the slices.
                unsafe {
                    (functions.EVP_DigestVerify)(
                        context.as_ptr(),
                        signature.as_ptr(),
                        signature.len(),
                        message.as_ptr(),
                        message.len(),
                    )
                }
            }
        };
        build.check(status == 1)
    }
}

impl fmt::Debug for PublicKeySigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicKeySigner").field("key", &self.key).finish_non_exhaustive()
    }
}
