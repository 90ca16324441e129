//! RSA signatures of libcrypto.

use core::ffi::{CStr, c_int, c_long, c_uint, c_void};
use core::fmt;
use core::ptr::{self, NonNull};

use crate::build::Build;
use crate::functions::Rsa;
use crate::rsa_numbers::{native, private_key_der, public_key_der, wipe};
use crate::{Error, Libcrypto, RsaNumbers};

/// How digests become numbers.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "libcrypto needs to know no more")]
pub struct RsaPadding {
    /// The name of the hash function, such as `sha256`.
    pub digest: &'static CStr,
    /// The length of the salt of PSS in bytes; none for PKCS#1 v1.5.
    pub salt_length: Option<usize>,
}

impl RsaPadding {
    /// PKCS#1 v1.5 with SHA-256.
    pub const PKCS1V15_SHA256: Self = Self { digest: c"sha256", salt_length: None };
}

/// What a context does with its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "signatures have no other side")]
pub enum Side {
    /// It makes signatures.
    Sign,
    /// It checks signatures.
    Verify,
}

/// An RSA key in a context for one side (`EVP_PKEY_CTX`). libcrypto wipes the key when it is
/// dropped.
pub struct RsaContext {
    build: &'static Build,
    context: NonNull<c_void>,
    side: Side,
}

/// An `EVP_PKEY`, freed on drop; a context keeps a reference of its own.
struct Key {
    rsa: &'static Rsa,
    key: NonNull<c_void>,
}

/// An entry of a list of parameters, `OSSL_PARAM`; numbers have the machine's byte order.
#[repr(C)]
struct Param {
    key: *const core::ffi::c_char,
    data_type: c_uint,
    data: *mut c_void,
    data_size: usize,
    return_size: usize,
}

/// `OSSL_PARAM_UNSIGNED_INTEGER`.
const UNSIGNED_INTEGER: c_uint = 2;
/// `EVP_PKEY_KEYPAIR`.
const KEY_PAIR: c_int = 0x87;
/// `EVP_PKEY_PUBLIC_KEY`.
const PUBLIC_KEY: c_int = 0x86;
/// `EVP_PKEY_RSA`.
const TYPE_RSA: c_int = 6;

impl Libcrypto {
    /// A key with its padding. libcrypto checks little of it.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`] if n or e is empty, or d of a key that is to sign.
    /// [`Error::Unsupported`] if the build is too old: before 3.0 a private key needs its primes.
    /// [`Error::Failed`] if libcrypto refuses the key or the padding.
    pub fn rsa(
        &self,
        numbers: &RsaNumbers<'_>,
        padding: &RsaPadding,
        side: Side,
    ) -> Result<RsaContext, Error> {
        let build = self.build();
        let rsa = build.functions.rsa.as_ref().ok_or(Error::Unsupported)?;
        let &RsaNumbers { n, e, d, .. } = numbers;
        if n.is_empty() || e.is_empty() || (d.is_empty() && side == Side::Sign) {
            return Err(Error::KeyLength);
        }
        let key = if rsa.fromdata.is_some() {
            Key::of_numbers(build, rsa, numbers)?
        } else {
            Key::of_der(build, rsa, numbers)?
        };
        RsaContext::new(build, rsa, &key, padding, side)
    }
}

impl Key {
    /// From 3.0 on.
    fn of_numbers(
        build: &'static Build,
        rsa: &'static Rsa,
        numbers: &RsaNumbers<'_>,
    ) -> Result<Self, Error> {
        let functions = rsa.fromdata.as_ref().ok_or(Error::Unsupported)?;
        let mut values = native(numbers);
        let mut params: Vec<Param> = values
            .iter_mut()
            .map(|(name, bytes)| Param {
                key: name.as_ptr(),
                data_type: UNSIGNED_INTEGER,
                data: bytes.as_mut_ptr().cast(),
                data_size: bytes.len(),
                return_size: 0,
            })
            .collect();
        params.push(Param {
            key: ptr::null(),
            data_type: 0,
            data: ptr::null_mut(),
            data_size: 0,
            return_size: 0,
        });
        // SAFETY: the name ends with a zero byte; null stands for the default library context.
        let context = unsafe {
            (functions.EVP_PKEY_CTX_new_from_name)(ptr::null_mut(), c"RSA".as_ptr(), ptr::null())
        };
        let context = NonNull::new(context).ok_or_else(|| build.failed(Error::Unsupported))?;
        let mut key = ptr::null_mut();
        // SAFETY: the context was just made.
        let mut status = unsafe { (functions.EVP_PKEY_fromdata_init)(context.as_ptr()) };
        if status == 1 {
            // SAFETY: the list ends with an empty entry, and its numbers outlive the call.
            status = unsafe {
                (functions.EVP_PKEY_fromdata)(
                    context.as_ptr(),
                    &raw mut key,
                    if numbers.d.is_empty() { PUBLIC_KEY } else { KEY_PAIR },
                    params.as_mut_ptr().cast(),
                )
            };
        }
        // SAFETY: the context is not used again.
        unsafe { (rsa.EVP_PKEY_CTX_free)(context.as_ptr()) };
        for (_, bytes) in &mut values {
            wipe(bytes);
        }
        let key = NonNull::new(key).filter(|_| status == 1);
        Ok(Self { rsa, key: key.ok_or_else(|| build.failed(Error::Failed))? })
    }

    /// By the DER of PKCS#1, which all versions read.
    fn of_der(
        build: &'static Build,
        rsa: &'static Rsa,
        numbers: &RsaNumbers<'_>,
    ) -> Result<Self, Error> {
        let (der, read) = match numbers.d {
            [] => (Some(public_key_der(numbers)), rsa.d2i_PublicKey),
            _ => (private_key_der(numbers), rsa.d2i_PrivateKey),
        };
        let mut der = der.ok_or(Error::Unsupported)?;
        let length = c_long::try_from(der.len()).map_err(|_| Error::KeyLength)?;
        let mut next = der.as_ptr();
        // SAFETY: there are `length` bytes, and libcrypto only moves the pointer within them.
        let key = unsafe { read(TYPE_RSA, ptr::null_mut(), &raw mut next, length) };
        wipe(&mut der);
        let key = NonNull::new(key).ok_or_else(|| build.failed(Error::Failed))?;
        Ok(Self { rsa, key })
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: this is one of the references to the key, and it is not used again.
        unsafe { (self.rsa.EVP_PKEY_free)(self.key.as_ptr()) };
    }
}

impl RsaContext {
    fn new(
        build: &'static Build,
        rsa: &'static Rsa,
        key: &Key,
        padding: &RsaPadding,
        side: Side,
    ) -> Result<Self, Error> {
        // SAFETY: the key is valid; there is no engine. The context takes a reference to it.
        let context = unsafe { (rsa.EVP_PKEY_CTX_new)(key.key.as_ptr(), ptr::null_mut()) };
        let context = NonNull::new(context).ok_or_else(|| build.failed(Error::Failed))?;
        let made = Self { build, context, side };
        let init = match side {
            Side::Sign => rsa.EVP_PKEY_sign_init,
            Side::Verify => rsa.EVP_PKEY_verify_init,
        };
        // SAFETY: the context was just made.
        build.check(unsafe { init(context.as_ptr()) } == 1)?;
        let salt = padding.salt_length.map(|length| format!("{length}\0"));
        let salt = salt.as_ref().and_then(|text| CStr::from_bytes_with_nul(text.as_bytes()).ok());
        let mode = if salt.is_some() { c"pss" } else { c"pkcs1" };
        let settings = [(c"rsa_padding_mode", mode), (c"digest", padding.digest)];
        for (name, value) in settings.into_iter().chain(salt.map(|salt| (c"rsa_pss_saltlen", salt)))
        {
            // SAFETY: the context is ready for its operation; both texts end with a zero byte.
            let status = unsafe {
                (rsa.EVP_PKEY_CTX_ctrl_str)(context.as_ptr(), name.as_ptr(), value.as_ptr())
            };
            build.check(status > 0)?;
        }
        Ok(made)
    }

    #[inline]
    fn functions(&self) -> Result<&'static Rsa, Error> {
        self.build.functions.rsa.as_ref().ok_or(Error::Unsupported)
    }

    /// Signs a digest into `signature`, which is as long as the modulus.
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if it has another length; [`Error::Failed`] if libcrypto refuses, or
    /// if this is a context for [`Side::Verify`].
    #[inline]
    pub fn sign(&mut self, digest: &[u8], signature: &mut [u8]) -> Result<(), Error> {
        let rsa = self.functions()?;
        if self.side != Side::Sign {
            return Err(Error::Failed);
        }
        let mut length = signature.len();
        // SAFETY: the context signs; libcrypto writes at most `length` bytes and refuses if that
        // is too short.
        let status = unsafe {
            (rsa.EVP_PKEY_sign)(
                self.context.as_ptr(),
                signature.as_mut_ptr(),
                &raw mut length,
                digest.as_ptr(),
                digest.len(),
            )
        };
        self.build.check(status == 1)?;
        if length == signature.len() { Ok(()) } else { Err(Error::DataLength) }
    }

    /// Checks the signature of a digest.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if it is wrong, or if this is a context for [`Side::Sign`].
    #[inline]
    pub fn verify(&mut self, digest: &[u8], signature: &[u8]) -> Result<(), Error> {
        let rsa = self.functions()?;
        if self.side != Side::Verify {
            return Err(Error::Failed);
        }
        // SAFETY: the context verifies; both lengths are those of the slices.
        let status = unsafe {
            (rsa.EVP_PKEY_verify)(
                self.context.as_ptr(),
                signature.as_ptr(),
                signature.len(),
                digest.as_ptr(),
                digest.len(),
            )
        };
        self.build.check(status == 1)
    }
}

impl Drop for RsaContext {
    fn drop(&mut self) {
        if let Some(rsa) = &self.build.functions.rsa {
            // SAFETY: the context was made by libcrypto and is not used again.
            unsafe { (rsa.EVP_PKEY_CTX_free)(self.context.as_ptr()) };
        }
    }
}

// SAFETY: a context belongs to no thread; it is only used through `&mut`, and libcrypto counts the
// references to its key atomically.
unsafe impl Send for RsaContext {}

impl fmt::Debug for RsaContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RsaContext").field("side", &self.side).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        let digits = |pair: &[u8]| {
            let pair = core::str::from_utf8(pair).expect("ASCII");
            u8::from_str_radix(pair, 16).expect("hexadecimal")
        };
        text.as_bytes().chunks(2).map(digits).collect()
    }

    /// A key of 512 bits, a digest and its signature (`vectors/rsa.jsonl`).
    const KEY: [&str; 8] = [
        "f959487e776b2c7cf9eafac1e328d1534a066f869c8261c7ac13525696aa0c22\
         556f7d3aaf89e71dd5ccc737710b4e0df04434765f79ca6d6df80e07ea4cd9e9",
        "010001",
        "14c60f7819d2dffdf9844e27e119017782ef4e5354aeb81ebe834d94d130919a\
         1092adfc70f977519031f373fa6c8a2864a11fa43e548e8a699ae58f07fe9801",
        "fe4bfae51c218171ca5c011adbdfdc59595e7f4ad25957c51102a66fd44a76c1",
        "fb04d1b515d9a93bea44879185f44746be95fcefa1b821afabaa9cf449221529",
        "4960e559fd3f11da22f95f7c3f9c1e3a4e167d86baa1fb38ab4ae779f7793141",
        "78196a2c75f3da20ac8975438f0fbd3a7fdd4b536bd0a96d5f7915f75b364f61",
        "647123f09e4629f38c6781400511a57c8bf34089f6862c24b39cb8128a520736",
    ];
    const DIGEST: &str = "95e700957a6edc77fd8fcad5448baa1e59e4841bdcbdebd324906c0f2eec2aa5";
    const SIGNATURE: &str = "7fea816e731a933ff9dbe412eb4ada6876d27958cee8909f0c8f193ea9b37647\
        67c4b449cd79405d79371f38ae61ff0386b7b617c5b4aa54fdad137a8ccefb67";

    #[test]
    fn both_ways_to_make_a_key_give_the_known_signature() {
        let Ok(libcrypto) = Libcrypto::open() else {
            return println!("SKIPPED openssl: no libcrypto");
        };
        let build = libcrypto.build();
        let rsa = build.functions.rsa.as_ref().expect("it has RSA");
        let [n, e, d, p, q, dp, dq, qinv] = KEY.map(hex);
        let crt = Some([&p[..], &q, &dp, &dq, &qinv]);
        let numbers = RsaNumbers { n: &n, e: &e, d: &d, crt };
        let bare = RsaNumbers { crt: None, ..numbers };
        let keys = [
            Key::of_der(build, rsa, &numbers),
            Key::of_numbers(build, rsa, &numbers),
            Key::of_numbers(build, rsa, &bare),
        ];
        let padding = RsaPadding::PKCS1V15_SHA256;
        let digest: [u8; 32] = hex(DIGEST).try_into().expect("32 bytes");
        for (way, key) in keys.into_iter().enumerate() {
            let key = match key {
                Err(Error::Unsupported) if way > 0 && rsa.fromdata.is_none() => continue,
                key => key.unwrap_or_else(|error| panic!("{way}: {error}")),
            };
            let mut sign =
                RsaContext::new(build, rsa, &key, &padding, Side::Sign).expect("a good key");
            let mut verify =
                RsaContext::new(build, rsa, &key, &padding, Side::Verify).expect("a good key");
            let mut signature = [0; 64];
            assert_eq!(sign.sign(&digest, &mut signature), Ok(()));
            assert_eq!(signature[..], hex(SIGNATURE), "{way}");
            assert_eq!(verify.verify(&digest, &signature), Ok(()));
            signature[9] ^= 4;
            assert_eq!(verify.verify(&digest, &signature), Err(Error::Failed));
            assert_eq!(verify.verify(&digest, &[]), Err(Error::Failed));
            assert_eq!(sign.sign(&digest, &mut signature[1..]), Err(Error::Failed));
            assert_eq!(sign.sign(&digest, &mut [0; 65]), Err(Error::DataLength));
            // The other side's.
            assert_eq!(verify.sign(&digest, &mut signature), Err(Error::Failed));
            assert_eq!(sign.verify(&digest, &signature), Err(Error::Failed));
        }
        assert_eq!(Key::of_der(build, rsa, &bare).err(), Some(Error::Unsupported));
        let empty = RsaNumbers { n: &[], ..bare };
        assert_eq!(libcrypto.rsa(&empty, &padding, Side::Sign).err(), Some(Error::KeyLength));
        let public = RsaNumbers { d: &[], ..bare };
        assert_eq!(libcrypto.rsa(&public, &padding, Side::Sign).err(), Some(Error::KeyLength));
        let signature = hex(SIGNATURE);
        for key in [Key::of_der(build, rsa, &public), Key::of_numbers(build, rsa, &public)] {
            let key = match key {
                Err(Error::Unsupported) if rsa.fromdata.is_none() => continue,
                key => key.expect("a good key"),
            };
            let mut verify =
                RsaContext::new(build, rsa, &key, &padding, Side::Verify).expect("a good key");
            assert_eq!(verify.verify(&digest, &signature), Ok(()));
            assert_eq!(verify.verify(&[1; 32], &signature), Err(Error::Failed));
        }
        // Another hash function, and the other padding, with a salt of its length only.
        let sha1 = RsaPadding { digest: c"sha1", salt_length: None };
        let mut verify = libcrypto.rsa(&numbers, &sha1, Side::Verify).expect("a good key");
        assert_eq!(verify.verify(&digest[..20], &signature), Err(Error::Failed));
        let pss = |salt| RsaPadding { salt_length: Some(salt), ..padding };
        let mut signature = [0; 64];
        let mut sign = libcrypto.rsa(&numbers, &pss(20), Side::Sign).expect("a good key");
        assert_eq!(sign.sign(&digest, &mut signature), Ok(()));
        for (salt, outcome) in [(20, Ok(())), (19, Err(Error::Failed)), (0, Err(Error::Failed))] {
            let mut verify = libcrypto.rsa(&public, &pss(salt), Side::Verify).expect("a good key");
            assert_eq!(verify.verify(&digest, &signature), outcome, "{salt}");
        }
        let mut sign = libcrypto.rsa(&numbers, &pss(31), Side::Sign).expect("a good key");
        assert_eq!(sign.sign(&digest, &mut signature), Err(Error::Failed), "there is no room");
    }
}
