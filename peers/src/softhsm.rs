//! Peer: SoftHSM2, a token in software, by PKCS#11 v2.40.
//!
//! It is no [`Project`] whose ciphers every table measures, because it is set up by its process:
//! the environment names its settings (`SOFTHSM2_CONF`) and so the folder of its tokens. Whoever
//! measures it starts a process for it.

use core::ffi::{c_uchar, c_ulong, c_void};
use core::ptr;

use lanecrypt_kernels::Level;

use crate::ia32cap;
use crate::library::{Open, Search, Slot};
use crate::project::{Hold, NamedLibrary, Project};
use crate::{Failed, PeerLibraries};

const NAME: &str = "softhsm";
const SEARCH: Search = {
    const FILES: &[&str] = &["/usr/lib/softhsm/libsofthsm2.so", "libsofthsm2.so"];
    const HINT: &str = "apt install softhsm2 (or --peer-lib softhsm=PATH of a libsofthsm2.so)";
    // SAFETY: these are SoftHSM's names.
    unsafe { Search::new(NAME, FILES, HINT) }
};

/// The project, whose library a user may name.
pub(crate) struct SoftHsm2;

impl Project for SoftHsm2 {
    fn source(&self) -> &'static str {
        SoftHsm::SOURCE
    }

    /// Its ciphers are OpenSSL's.
    fn hold(&self, level: Level) -> Hold {
        ia32cap::hold(level)
    }

    fn libraries(&self) -> &'static [NamedLibrary] {
        &[NamedLibrary { name: NAME, open: |libraries| library(libraries).map(drop) }]
    }
}

/// A result of PKCS#11, `CK_RV`; zero is success. Other numbers and lengths have the same type.
type Number = c_ulong;

const CKU_SO: Number = 0;
const CKU_USER: Number = 1;
const CKF_RW_SESSION: Number = 2;
const CKF_SERIAL_SESSION: Number = 4;
const CKO_SECRET_KEY: Number = 4;
const CKK_AES: Number = 0x1f;
const CKM_AES_CBC: Number = 0x1082;
const CKA_CLASS: Number = 0;
const CKA_TOKEN: Number = 1;
const CKA_PRIVATE: Number = 2;
const CKA_VALUE: Number = 0x11;
const CKA_KEY_TYPE: Number = 0x100;
const CKA_SENSITIVE: Number = 0x103;
const CKA_ENCRYPT: Number = 0x104;

/// Of the token, which lasts as long as its folder, and whoever can read that has its keys.
const PIN: &[u8] = b"1234";
/// A label has 32 characters.
const LABEL: &[u8; 32] = b"lanecrypt speed                 ";

/// `CK_ATTRIBUTE`.
#[repr(C)]
struct Attribute {
    kind: Number,
    value: *const c_void,
    length: Number,
}

impl Attribute {
    fn new<T: ?Sized>(kind: Number, value: &T) -> Self {
        let length = number(size_of_val(value));
        Self { kind, value: ptr::from_ref(value).cast(), length }
    }
}

/// `CK_MECHANISM`.
#[repr(C)]
struct Mechanism {
    kind: Number,
    parameter: *const c_void,
    length: Number,
}

/// The functions that are called, with the types of pkcs11.h.
struct Functions {
    initialize: unsafe extern "C" fn(*mut c_void) -> Number,
    slots: unsafe extern "C" fn(c_uchar, *mut Number, *mut Number) -> Number,
    init_token: unsafe extern "C" fn(Number, *const c_uchar, Number, *const c_uchar) -> Number,
    open_session:
        unsafe extern "C" fn(Number, Number, *mut c_void, *mut c_void, *mut Number) -> Number,
    login: unsafe extern "C" fn(Number, Number, *const c_uchar, Number) -> Number,
    logout: unsafe extern "C" fn(Number) -> Number,
    init_pin: unsafe extern "C" fn(Number, *const c_uchar, Number) -> Number,
    create: unsafe extern "C" fn(Number, *const Attribute, Number, *mut Number) -> Number,
    encrypt_init: unsafe extern "C" fn(Number, *const Mechanism, Number) -> Number,
    encrypt:
        unsafe extern "C" fn(Number, *const c_uchar, Number, *mut c_uchar, *mut Number) -> Number,
    random: unsafe extern "C" fn(Number, *mut c_uchar, Number) -> Number,
    _library: Open,
}

/// The system's library, or the one at the given path. Nothing of it has been called.
fn library(libraries: &PeerLibraries) -> Result<&'static Functions, String> {
    static SOFTHSM: Slot<Functions> = Slot::new();
    SOFTHSM.open(libraries, NAME, |_| {
        let library = SEARCH.open(libraries)?;
        macro_rules! symbol {
            ($name:literal) => {
                // SAFETY: the field of `Functions` that it becomes has its type in pkcs11.h, and
                // the library stays open beside it.
                unsafe { library.symbol($name) }?
            };
        }
        Ok(Functions {
            initialize: symbol!(c"C_Initialize"),
            slots: symbol!(c"C_GetSlotList"),
            init_token: symbol!(c"C_InitToken"),
            open_session: symbol!(c"C_OpenSession"),
            login: symbol!(c"C_Login"),
            logout: symbol!(c"C_Logout"),
            init_pin: symbol!(c"C_InitPIN"),
            create: symbol!(c"C_CreateObject"),
            encrypt_init: symbol!(c"C_EncryptInit"),
            encrypt: symbol!(c"C_Encrypt"),
            random: symbol!(c"C_GenerateRandom"),
            _library: library,
        })
    })
}

/// A session with a new token of SoftHSM2, for one thread.
pub struct SoftHsm {
    functions: &'static Functions,
    session: Number,
    /// The output of a call.
    out: Vec<u8>,
}

/// A secret key of the token.
#[derive(Clone, Copy, Debug)]
pub struct TokenKey(Number);

impl SoftHsm {
    /// The project's name in the results.
    pub const SOURCE: &'static str = NAME;

    /// Whether the library is there; otherwise how to get it. Nothing of it is called.
    ///
    /// # Errors
    ///
    /// The hint for people.
    pub fn look(libraries: &PeerLibraries) -> Result<(), String> {
        library(libraries).map(drop)
    }

    /// Makes a token in the folder that the settings name, which should be empty, and logs in. Once
    /// in a process: it is the process that logs in.
    ///
    /// # Errors
    ///
    /// A reason for people: the library is missing, or refuses.
    pub fn open(libraries: &PeerLibraries) -> Result<Self, String> {
        let functions = library(libraries)?;
        // SAFETY: null stands for the usual settings; others may not be called before.
        check("C_Initialize", unsafe { (functions.initialize)(ptr::null_mut()) })?;
        let (mut slot, mut slots) = (0, 1);
        // SAFETY: the list has room for as many slots as the number says.
        check("C_GetSlotList", unsafe { (functions.slots)(0, &raw mut slot, &raw mut slots) })?;
        let (pin, length) = (PIN.as_ptr(), number(PIN.len()));
        // SAFETY: the PIN has that length, the label 32 bytes.
        check("C_InitToken", unsafe { (functions.init_token)(slot, pin, length, LABEL.as_ptr()) })?;
        let (mut session, flags) = (0, CKF_RW_SESSION | CKF_SERIAL_SESSION);
        let none = ptr::null_mut();
        // SAFETY: the last argument has room for a number; without a function there is no context.
        check("C_OpenSession", unsafe {
            (functions.open_session)(slot, flags, none, none, &raw mut session)
        })?;
        // SAFETY: the PIN has that length.
        check("C_Login", unsafe { (functions.login)(session, CKU_SO, pin, length) })?;
        // SAFETY: as above.
        check("C_InitPIN", unsafe { (functions.init_pin)(session, pin, length) })?;
        // SAFETY: takes a number only.
        check("C_Logout", unsafe { (functions.logout)(session) })?;
        // SAFETY: as for the other login.
        check("C_Login", unsafe { (functions.login)(session, CKU_USER, pin, length) })?;
        Ok(Self { functions, session, out: Vec::new() })
    }

    /// A private key for AES, which lives as long as the session.
    ///
    /// # Errors
    ///
    /// [`Failed`] if the token refuses it.
    pub fn aes_key(&self, key: &[u8]) -> Result<TokenKey, Failed> {
        let (yes, no) = (1_u8, 0_u8);
        let attributes = [
            Attribute::new(CKA_CLASS, &CKO_SECRET_KEY),
            Attribute::new(CKA_KEY_TYPE, &CKK_AES),
            Attribute::new(CKA_TOKEN, &no),
            Attribute::new(CKA_PRIVATE, &yes),
            Attribute::new(CKA_SENSITIVE, &yes),
            Attribute::new(CKA_ENCRYPT, &yes),
            Attribute::new(CKA_VALUE, key),
        ];
        let (list, count, mut handle) = (attributes.as_ptr(), number(attributes.len()), 0);
        // SAFETY: the list has as many attributes, whose values outlive the call.
        let made = unsafe { (self.functions.create)(self.session, list, count, &raw mut handle) };
        Failed::unless(made == 0)?;
        Ok(TokenKey(handle))
    }

    /// Encrypts whole blocks by AES in CBC mode: `C_EncryptInit` and `C_Encrypt`.
    ///
    /// # Errors
    ///
    /// [`Failed`] if a call fails.
    #[inline]
    pub fn encrypt_cbc(
        &mut self,
        key: TokenKey,
        iv: &[u8; 16],
        data: &mut [u8],
    ) -> Result<(), Failed> {
        let mechanism =
            Mechanism { kind: CKM_AES_CBC, parameter: iv.as_ptr().cast(), length: number(16) };
        // SAFETY: the parameter of this mechanism is a vector of 16 bytes.
        let begun =
            unsafe { (self.functions.encrypt_init)(self.session, &raw const mechanism, key.0) };
        Failed::unless(begun == 0)?;
        // PKCS#11 does not promise that one buffer may be both.
        self.out.resize(data.len(), 0);
        let (from, to) = (data.as_ptr(), self.out.as_mut_ptr());
        let (length, mut written) = (number(data.len()), number(self.out.len()));
        // SAFETY: both have that length, and the last argument says so of the output.
        let done =
            unsafe { (self.functions.encrypt)(self.session, from, length, to, &raw mut written) };
        Failed::unless(done == 0 && written == length)?;
        data.copy_from_slice(&self.out);
        Ok(())
    }

    /// Fills `out` with random bytes.
    ///
    /// # Errors
    ///
    /// [`Failed`] if the call fails.
    #[inline]
    pub fn fill(&mut self, out: &mut [u8]) -> Result<(), Failed> {
        let (to, length) = (out.as_mut_ptr(), number(out.len()));
        // SAFETY: the output has that length.
        Failed::unless(unsafe { (self.functions.random)(self.session, to, length) } == 0)
    }
}

impl core::fmt::Debug for SoftHsm {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SoftHsm").finish_non_exhaustive()
    }
}

fn number(number: usize) -> Number {
    Number::try_from(number).unwrap_or(Number::MAX)
}

fn check(function: &str, result: Number) -> Result<(), String> {
    if result == 0 { Ok(()) } else { Err(format!("{function} of SoftHSM fails here: {result:#x}")) }
}
