//! Peer: RSA signatures of libgcrypt, which blinds them. Keys, digests and signatures are
//! S-expressions; a request makes that of its digest, and takes the number out of the answer.

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::ptr::{self, NonNull};

use super::Libgcrypt;
use crate::library::Open;
use crate::{Direction, Failed, Peer, RsaKey, Signature, Signer, Signing};

/// Its functions for public keys. Most return zero or an error's number.
pub(super) struct PublicKeys {
    /// Where to store the expression, its text, its length, whether to find the length.
    new: unsafe extern "C" fn(*mut *mut c_void, *const c_void, usize, c_int) -> c_uint,
    release: unsafe extern "C" fn(*mut c_void),
    find_token: unsafe extern "C" fn(*mut c_void, *const c_char, usize) -> *mut c_void,
    nth_data: unsafe extern "C" fn(*mut c_void, c_int, *mut usize) -> *const u8,
    /// Where to store the signature, data, key.
    sign: unsafe extern "C" fn(*mut *mut c_void, *mut c_void, *mut c_void) -> c_uint,
    /// Signature, data, key.
    verify: unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void) -> c_uint,
}

impl PublicKeys {
    pub(super) fn find(library: &Open) -> Result<Self, String> {
        Ok(Self {
            // SAFETY: the type is that of gcrypt.h; the library stays open beside it.
            new: unsafe { library.symbol(c"gcry_sexp_new") }?,
            // SAFETY: as above.
            release: unsafe { library.symbol(c"gcry_sexp_release") }?,
            // SAFETY: as above.
            find_token: unsafe { library.symbol(c"gcry_sexp_find_token") }?,
            // SAFETY: as above.
            nth_data: unsafe { library.symbol(c"gcry_sexp_nth_data") }?,
            // SAFETY: as above.
            sign: unsafe { library.symbol(c"gcry_pk_sign") }?,
            // SAFETY: as above.
            verify: unsafe { library.symbol(c"gcry_pk_verify") }?,
        })
    }
}

pub(super) fn signer(
    names: [&'static str; 2],
    found: &Result<&'static Libgcrypt, String>,
) -> Peer<dyn Signer> {
    Peer::signer(names, found, |library, direction, key| {
        Key::new(&library.public_keys, direction, key)
    })
}

/// An S-expression, freed on drop.
struct Expression {
    functions: &'static PublicKeys,
    expression: NonNull<c_void>,
}

impl Expression {
    /// From its canonical form.
    fn new(functions: &'static PublicKeys, canonical: &[u8]) -> Result<Self, Failed> {
        let mut made = ptr::null_mut();
        // SAFETY: there are so many bytes, which the library copies.
        let status = unsafe {
            (functions.new)(&raw mut made, canonical.as_ptr().cast(), canonical.len(), 0)
        };
        Failed::unless(status == 0)?;
        Self::made(functions, made)
    }

    fn made(functions: &'static PublicKeys, made: *mut c_void) -> Result<Self, Failed> {
        Ok(Self { functions, expression: NonNull::new(made).ok_or(Failed)? })
    }

    const fn as_ptr(&self) -> *mut c_void {
        self.expression.as_ptr()
    }

    /// The list that begins with `name`.
    fn list(&self, name: &CStr) -> Result<Self, Failed> {
        // SAFETY: a valid expression; a length of zero stands for that of the text.
        let found = unsafe { (self.functions.find_token)(self.as_ptr(), name.as_ptr(), 0) };
        Self::made(self.functions, found)
    }

    /// The bytes of the value of a list.
    fn value(&self) -> Result<&[u8], Failed> {
        let mut length = 0;
        // SAFETY: a valid expression.
        let bytes = unsafe { (self.functions.nth_data)(self.as_ptr(), 1, &raw mut length) };
        Failed::unless(!bytes.is_null())?;
        // SAFETY: the library gives that many bytes, which live as long as the expression.
        Ok(unsafe { core::slice::from_raw_parts(bytes, length) })
    }
}

impl Drop for Expression {
    fn drop(&mut self) {
        // SAFETY: the library made it, and there is no other owner.
        unsafe { (self.functions.release)(self.as_ptr()) };
    }
}

// SAFETY: an expression belongs to no thread; the library does not change it.
unsafe impl Send for Expression {}

struct Key(Expression);

impl Key {
    fn new(
        functions: &'static PublicKeys,
        direction: Direction,
        key: &RsaKey<'_>,
    ) -> Result<Self, Failed> {
        let mut numbers = vec![("n", key.n), ("e", key.e)];
        let kind = match direction {
            Direction::Decrypt => "10:public-key",
            Direction::Encrypt => {
                numbers.push(("d", key.d));
                if let Some([p, q, _, _, qinv]) = key.crt {
                    // Its u is the inverse of its p modulo its q.
                    numbers.extend([("p", q), ("q", p), ("u", qinv)]);
                }
                "11:private-key"
            }
        };
        let mut text = format!("({kind}(3:rsa").into_bytes();
        for (name, number) in numbers {
            // A zero before it, because numbers have a sign.
            text.extend(format!("(1:{name}{}:\0", number.len() + 1).into_bytes());
            text.extend(number);
            text.push(b')');
        }
        text.extend(b"))");
        let key = Expression::new(functions, &text);
        text.fill(0);
        key.map(Self)
    }

    #[inline]
    fn data(&self, digest: &[u8; 32]) -> Result<Expression, Failed> {
        let mut text =
            *b"(4:data(5:flags5:pkcs1)(4:hash6:sha25632:................................))";
        let start = text.len() - 2 - digest.len();
        text[start..start + digest.len()].copy_from_slice(digest);
        Expression::new(self.0.functions, &text)
    }
}

impl Signing for Key {
    #[inline]
    fn sign(&mut self, signature: &mut Signature<'_>) -> Result<(), Failed> {
        let data = self.data(signature.digest)?;
        let functions = self.0.functions;
        let mut made = ptr::null_mut();
        // SAFETY: valid expressions.
        let status = unsafe { (functions.sign)(&raw mut made, data.as_ptr(), self.0.as_ptr()) };
        Failed::unless(status == 0)?;
        let made = Expression::made(functions, made)?.list(c"s")?;
        let bytes = made.value()?;
        let out = &mut *signature.signature;
        let zeros = out.len().checked_sub(bytes.len()).ok_or(Failed)?;
        out[..zeros].fill(0);
        out[zeros..].copy_from_slice(bytes);
        Ok(())
    }

    #[inline]
    fn verify(&mut self, signature: &mut Signature<'_>) -> Result<(), Failed> {
        let data = self.data(signature.digest)?;
        let functions = self.0.functions;
        let bytes = &*signature.signature;
        let mut text = format!("(7:sig-val(3:rsa(1:s{}:\0", bytes.len() + 1).into_bytes();
        text.extend(bytes);
        text.extend(b")))");
        let made = Expression::new(functions, &text)?;
        // SAFETY: valid expressions.
        let status = unsafe { (functions.verify)(made.as_ptr(), data.as_ptr(), self.0.as_ptr()) };
        Failed::unless(status == 0)
    }
}
