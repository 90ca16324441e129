//! What OpenSSL and its providers agree on: tables, parameters and numbers of
//! `openssl/core.h` and `openssl/core_dispatch.h`. They are the same in all versions from 3.0 on;
//! later versions add numbers, which older ones skip.

use core::ffi::{c_char, c_int, c_uint, c_void};
use core::mem::transmute;
use core::ptr;

/// A function of a table; its type follows from its number.
pub(crate) type Function = unsafe extern "C" fn();

/// An entry of a table of functions. The number 0 ends a table.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Dispatch {
    pub(crate) id: c_int,
    pub(crate) function: Option<Function>,
}

/// An algorithm: its names with colons between, its properties, its functions, a description. An
/// entry without names ends a list.
#[repr(C)]
pub(crate) struct Algorithm {
    pub(crate) names: *const c_char,
    pub(crate) properties: *const c_char,
    pub(crate) functions: *const Dispatch,
    pub(crate) description: *const c_char,
}

/// A parameter that is asked for, set or described. An entry without a key ends a list.
#[repr(C)]
pub(crate) struct Param {
    pub(crate) key: *const c_char,
    pub(crate) data_type: c_uint,
    pub(crate) data: *mut c_void,
    pub(crate) data_size: usize,
    pub(crate) return_size: usize,
}

/// Types of parameters.
pub(crate) const INTEGER: c_uint = 1;
pub(crate) const UNSIGNED: c_uint = 2;
pub(crate) const UTF8: c_uint = 4;
pub(crate) const OCTETS: c_uint = 5;
pub(crate) const UTF8_POINTER: c_uint = 6;
pub(crate) const OCTETS_POINTER: c_uint = 7;

/// A table that is only read. OpenSSL reads it from any thread.
#[repr(transparent)]
pub(crate) struct Table<T>(pub(crate) T);

// SAFETY: nothing changes a table, and its pointers are to constants and functions.
unsafe impl<T> Sync for Table<T> {}

/// The functions of a cipher or a generator take and return what C does: pointers, sizes, numbers.
pub(crate) type Context = *mut c_void;
pub(crate) type NewCipher = unsafe extern "C" fn(*mut c_void) -> Context;
pub(crate) type Init =
    unsafe extern "C" fn(Context, *const u8, usize, *const u8, usize, *const Param) -> c_int;
pub(crate) type Update =
    unsafe extern "C" fn(Context, *mut u8, *mut usize, usize, *const u8, usize) -> c_int;
pub(crate) type Final = unsafe extern "C" fn(Context, *mut u8, *mut usize, usize) -> c_int;
pub(crate) type Free = unsafe extern "C" fn(Context);
pub(crate) type Duplicate = unsafe extern "C" fn(Context) -> Context;
pub(crate) type GetParams = unsafe extern "C" fn(*mut Param) -> c_int;
pub(crate) type GetContextParams = unsafe extern "C" fn(Context, *mut Param) -> c_int;
pub(crate) type SetContextParams = unsafe extern "C" fn(Context, *const Param) -> c_int;
pub(crate) type Described = unsafe extern "C" fn(*mut c_void) -> *const Param;
pub(crate) type DescribedContext = unsafe extern "C" fn(Context, *mut c_void) -> *const Param;
pub(crate) type NewGenerator =
    unsafe extern "C" fn(*mut c_void, *mut c_void, *const Dispatch) -> Context;
pub(crate) type Instantiate =
    unsafe extern "C" fn(Context, c_uint, c_int, *const u8, usize, *const Param) -> c_int;
pub(crate) type Status = unsafe extern "C" fn(Context) -> c_int;
pub(crate) type Generate =
    unsafe extern "C" fn(Context, *mut u8, usize, c_uint, c_int, *const u8, usize) -> c_int;
pub(crate) type Reseed =
    unsafe extern "C" fn(Context, c_int, *const u8, usize, *const u8, usize) -> c_int;
pub(crate) type Nonce = unsafe extern "C" fn(Context, *mut u8, c_uint, usize, usize) -> usize;
pub(crate) type GetSeed = unsafe extern "C" fn(
    Context,
    *mut *mut u8,
    c_int,
    usize,
    usize,
    c_int,
    *const u8,
    usize,
) -> usize;
pub(crate) type ClearSeed = unsafe extern "C" fn(Context, *mut u8, usize);
pub(crate) type Teardown = unsafe extern "C" fn(*mut c_void);
pub(crate) type ProviderParams = unsafe extern "C" fn(*mut c_void, *mut Param) -> c_int;
pub(crate) type Capabilities =
    unsafe extern "C" fn(*mut c_void, *const c_char, Option<Take>, *mut c_void) -> c_int;
pub(crate) type Query = unsafe extern "C" fn(*mut c_void, c_int, *mut c_int) -> *const Algorithm;

/// Keys: what `keymgmt` stands for in OpenSSL. They and what makes them are pointers of the
/// provider.
pub(crate) type NewKey = unsafe extern "C" fn(*mut c_void) -> Context;
pub(crate) type BeginKey = unsafe extern "C" fn(*mut c_void, c_int, *const Param) -> Context;
pub(crate) type MakeKey = unsafe extern "C" fn(Context, Option<Function>, *mut c_void) -> Context;
pub(crate) type SetTemplate = unsafe extern "C" fn(Context, Context) -> c_int;
pub(crate) type OperationName = unsafe extern "C" fn(c_int) -> *const c_char;
pub(crate) type Select = unsafe extern "C" fn(Context, c_int) -> c_int;
pub(crate) type Validate = unsafe extern "C" fn(Context, c_int, c_int) -> c_int;
pub(crate) type Match = unsafe extern "C" fn(Context, Context, c_int) -> c_int;
pub(crate) type Import = unsafe extern "C" fn(Context, c_int, *const Param) -> c_int;
pub(crate) type Types = unsafe extern "C" fn(c_int) -> *const Param;
/// What takes parameters that are exported.
pub(crate) type Take = unsafe extern "C" fn(*const Param, *mut c_void) -> c_int;
pub(crate) type Export = unsafe extern "C" fn(Context, c_int, Option<Take>, *mut c_void) -> c_int;
pub(crate) type DuplicateKey = unsafe extern "C" fn(Context, c_int) -> Context;

/// A key that another part of the provider has made, by reference.
pub(crate) type LoadKey = unsafe extern "C" fn(*const c_void, usize) -> Context;

/// Decoders and stores: what they read, and who takes it.
pub(crate) type DoesSelection = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;
pub(crate) type Decode = unsafe extern "C" fn(
    Context,
    *mut c_void,
    c_int,
    Option<Take>,
    *mut c_void,
    Option<Function>,
    *mut c_void,
) -> c_int;
pub(crate) type OpenStore = unsafe extern "C" fn(*mut c_void, *const c_char) -> Context;
pub(crate) type LoadStored = unsafe extern "C" fn(
    Context,
    Option<Take>,
    *mut c_void,
    Option<Function>,
    *mut c_void,
) -> c_int;

/// Key exchange.
pub(crate) type SetPeer = unsafe extern "C" fn(Context, *mut c_void) -> c_int;
pub(crate) type Derive = unsafe extern "C" fn(Context, *mut u8, *mut usize, usize) -> c_int;

pub(crate) type NewSignature = unsafe extern "C" fn(*mut c_void, *const c_char) -> Context;
pub(crate) type InitSignature = unsafe extern "C" fn(Context, *mut c_void, *const Param) -> c_int;
pub(crate) type Sign =
    unsafe extern "C" fn(Context, *mut u8, *mut usize, usize, *const u8, usize) -> c_int;
pub(crate) type Verify = unsafe extern "C" fn(Context, *const u8, usize, *const u8, usize) -> c_int;
pub(crate) type InitDigest =
    unsafe extern "C" fn(Context, *const c_char, *mut c_void, *const Param) -> c_int;
pub(crate) type UpdateDigest = unsafe extern "C" fn(Context, *const u8, usize) -> c_int;
pub(crate) type EndVerify = unsafe extern "C" fn(Context, *const u8, usize) -> c_int;
pub(crate) type DescribedDigest = unsafe extern "C" fn(Context) -> *const Param;

/// A constructor for an entry, which checks the type of its function.
macro_rules! entries {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $id:literal;)+) => {
        impl Dispatch {
            /// The end of a table.
            pub(crate) const END: Self = Self { id: 0, function: None };

            $($(#[$doc])*
            pub(crate) const fn $name(function: $type) -> Self {
                // SAFETY: all pointers to functions have one form. The caller of the table turns it
                // back into the type that belongs to the number.
                let function = unsafe { transmute::<$type, Function>(function) };
                Self { id: $id, function: Some(function) }
            })+
        }
    };
}

entries! {
    new_cipher: NewCipher = 1;
    encrypt_init: Init = 2;
    decrypt_init: Init = 3;
    update: Update = 4;
    end: Final = 5;
    cipher: Update = 6;
    free: Free = 7;
    duplicate: Duplicate = 8;
    get_params: GetParams = 9;
    get_context_params: GetContextParams = 10;
    set_context_params: SetContextParams = 11;
    gettable_params: Described = 12;
    gettable_context_params: DescribedContext = 13;
    settable_context_params: DescribedContext = 14;

    new_generator: NewGenerator = 1;
    free_generator: Free = 2;
    instantiate: Instantiate = 3;
    uninstantiate: Status = 4;
    generate: Generate = 5;
    reseed: Reseed = 6;
    nonce: Nonce = 7;
    enable_locking: Status = 8;
    gettable_generator_params: DescribedContext = 12;
    get_generator_params: GetContextParams = 15;
    verify_zeroization: Status = 17;
    get_seed: GetSeed = 18;
    clear_seed: ClearSeed = 19;

    new_key: NewKey = 1;
    begin_key: BeginKey = 2;
    set_template: SetTemplate = 3;
    set_making_params: SetContextParams = 4;
    settable_making_params: DescribedContext = 5;
    make_key: MakeKey = 6;
    end_key: Free = 7;
    load_key: LoadKey = 8;
    free_key: Free = 10;
    get_key_params: GetContextParams = 11;
    gettable_key_params: Described = 12;
    set_key_params: SetContextParams = 13;
    settable_key_params: Described = 14;
    operation_name: OperationName = 20;
    has: Select = 21;
    validate: Validate = 22;
    matches: Match = 23;
    import: Import = 40;
    import_types: Types = 41;
    export: Export = 42;
    export_types: Types = 43;
    duplicate_key: DuplicateKey = 44;

    new_exchange: NewKey = 1;
    init_exchange: InitSignature = 2;
    derive: Derive = 3;
    set_peer: SetPeer = 4;
    free_exchange: Free = 5;
    duplicate_exchange: Duplicate = 6;
    set_exchange_params: SetContextParams = 7;
    settable_exchange_params: DescribedContext = 8;
    get_exchange_params: GetContextParams = 9;
    gettable_exchange_params: DescribedContext = 10;

    new_signature: NewSignature = 1;
    init_sign: InitSignature = 2;
    sign: Sign = 3;
    init_verify: InitSignature = 4;
    verify: Verify = 5;
    init_recover: InitSignature = 6;
    recover: Sign = 7;
    init_digest_sign: InitDigest = 8;
    update_digest_sign: UpdateDigest = 9;
    end_digest_sign: Final = 10;
    init_digest_verify: InitDigest = 12;
    update_digest_verify: UpdateDigest = 13;
    end_digest_verify: EndVerify = 14;
    free_signature: Free = 16;
    duplicate_signature: Duplicate = 17;
    get_signature_params: GetContextParams = 18;
    gettable_signature_params: DescribedContext = 19;
    set_signature_params: SetContextParams = 20;
    settable_signature_params: DescribedContext = 21;
    get_digest_params: GetContextParams = 22;
    gettable_digest_params: DescribedDigest = 23;
    set_digest_params: SetContextParams = 24;
    settable_digest_params: DescribedDigest = 25;

    new_decoder: NewKey = 1;
    free_decoder: Free = 2;
    does_selection: DoesSelection = 10;
    decode: Decode = 11;

    open_store: OpenStore = 1;
    settable_store_params: Described = 3;
    set_store_params: SetContextParams = 4;
    load_stored: LoadStored = 5;
    is_at_end: Status = 6;
    close_store: Status = 7;

    teardown: Teardown = 1024;
    gettable_provider_params: Described = 1025;
    get_provider_params: ProviderParams = 1026;
    query: Query = 1027;
    reasons: Reasons = 1029;
    capabilities: Capabilities = 1030;
}

/// A reason of errors: its number and its text. One without text ends a list.
#[repr(C)]
pub(crate) struct Reason {
    pub(crate) number: c_uint,
    pub(crate) text: *const c_char,
}

pub(crate) type Reasons = unsafe extern "C" fn(*mut c_void) -> *const Reason;

/// `OSSL_KEYMGMT_SELECT_...`: the halves of a key, both of them, and the curve.
pub(crate) const PRIVATE: c_int = 1;
pub(crate) const PUBLIC: c_int = 2;
pub(crate) const PAIR: c_int = 3;
pub(crate) const DOMAIN: c_int = 4;

/// Operations that are asked for.
pub(crate) const CIPHERS: c_int = 2;
pub(crate) const GENERATORS: c_int = 5;
pub(crate) const KEYS: c_int = 10;
pub(crate) const EXCHANGES: c_int = 11;
pub(crate) const SIGNATURES: c_int = 12;
pub(crate) const DECODERS: c_int = 21;
pub(crate) const STORES: c_int = 22;

/// A table of functions with their types, read from one that comes in. Those that it does not have
/// are none.
macro_rules! incoming {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty = $id:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default)]
        pub(crate) struct $name {
            $(pub(crate) $field: Option<$type>,)+
        }

        impl $name {
            /// Reads a table.
            ///
            /// # Safety
            ///
            /// `table` is null or a table of such functions, which ends with the number 0.
            pub(crate) unsafe fn read(table: *const $crate::abi::Dispatch) -> Self {
                let mut found = Self::default();
                let mut next = table;
                loop {
                    // SAFETY: null or an entry of the table, of which none before was the last.
                    let entry = unsafe { next.as_ref() };
                    let Some(entry) = entry else { return found };
                    match entry.id {
                        0 => return found,
                        $($id => {
                            found.$field = entry.function.map(|function| {
                                // SAFETY: the number says that the function has this type.
                                unsafe {
                                    core::mem::transmute::<$crate::abi::Function, $type>(function)
                                }
                            });
                        })+
                        _ => {}
                    }
                    next = next.wrapping_add(1);
                }
            }
        }
    };
}

pub(crate) use incoming;

incoming! {
    /// Functions of the library that loaded the module.
    Core {
        get_params: unsafe extern "C" fn(*const c_void, *mut Param) -> c_int = 2,
        context: unsafe extern "C" fn(*const c_void) -> *mut c_void = 4,
        new_error: unsafe extern "C" fn(*const c_void) = 5,
        locate_error:
            unsafe extern "C" fn(*const c_void, *const c_char, c_int, *const c_char) = 6,
        set_error: unsafe extern "C" fn(*const c_void, u32, *const c_char, *mut c_void) = 7,
        read: unsafe extern "C" fn(*mut c_void, *mut c_void, usize, *mut usize) -> c_int = 42,
        read_line: unsafe extern "C" fn(*mut c_void, *mut c_char, c_int) -> c_int = 49,
    }
}

impl Param {
    /// The end of a list.
    pub(crate) const END: Self = Self::described(ptr::null(), 0, 0);

    /// A parameter in a list of those that there are.
    pub(crate) const fn described(key: *const c_char, data_type: c_uint, size: usize) -> Self {
        let data = ptr::null_mut();
        Self { key, data_type, data, data_size: size, return_size: usize::MAX }
    }
}

/// A list of parameters that there are: names with their types.
macro_rules! described {
    ($($name:literal $type:ident),* $(,)?) => {{
        static LIST: $crate::abi::Table<&[$crate::abi::Param]> = $crate::abi::Table(&[
            $($crate::abi::described!(@ $name $type),)*
            $crate::abi::Param::END,
        ]);
        LIST.0.as_ptr()
    }};
    (@ $name:literal size) => {
        $crate::abi::Param::described($name.as_ptr(), $crate::abi::UNSIGNED, size_of::<usize>())
    };
    (@ $name:literal unsigned) => {
        $crate::abi::Param::described($name.as_ptr(), $crate::abi::UNSIGNED, size_of::<u32>())
    };
    (@ $name:literal wide) => {
        $crate::abi::Param::described($name.as_ptr(), $crate::abi::UNSIGNED, size_of::<u64>())
    };
    (@ $name:literal integer) => {
        $crate::abi::Param::described($name.as_ptr(), $crate::abi::INTEGER, size_of::<i32>())
    };
    (@ $name:literal number) => {
        $crate::abi::Param::described($name.as_ptr(), $crate::abi::UNSIGNED, 0)
    };
    (@ $name:literal octets) => {
        $crate::abi::Param::described($name.as_ptr(), $crate::abi::OCTETS, 0)
    };
    (@ $name:literal octets_pointer) => {
        $crate::abi::Param::described($name.as_ptr(), $crate::abi::OCTETS_POINTER, 0)
    };
    (@ $name:literal text_value) => {
        $crate::abi::Param::described($name.as_ptr(), $crate::abi::UTF8, 0)
    };
    (@ $name:literal text) => {
        $crate::abi::Param::described($name.as_ptr(), $crate::abi::UTF8_POINTER, 0)
    };
}

pub(crate) use described;
