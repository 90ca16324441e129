//! Ciphers with one algorithm, chosen when the program is compiled.

use lanecrypt_kernels as kernels;
use lanecrypt_kernels::{Bytes, Isa, wipe};

use super::AeadCipher;
use super::key::SingleKey;
use crate::Algorithm;
use crate::table::algorithms;

#[expect(private_bounds, reason = "what it has is for this crate alone")]
impl<K: SingleKey> AeadCipher<K> {
    /// Its algorithm.
    pub const ALGORITHM: Algorithm = K::ALGORITHM;
    /// The length of keys in bytes.
    pub const KEY_LENGTH: usize = K::Key::LENGTH;
    /// The length of nonces in bytes.
    pub const NONCE_LENGTH: usize = K::Nonce::LENGTH;
    /// The length of tags in bytes, by which a sealed message is longer.
    pub const TAG_LENGTH: usize = K::FACTS.tag_length;

    /// Expands `key`, for the best kernels that this processor can run.
    #[must_use]
    #[inline]
    pub fn new(key: &K::Key) -> Self {
        Self::with_isa(Isa::detect(), key)
    }

    /// Same as [`new`](Self::new), with the kernels of `isa`.
    #[must_use]
    pub fn with_isa(isa: Isa, key: &K::Key) -> Self {
        // Clears what this leaves on the stack: the frames of setting a key, and above them the
        // value that is moved to the caller.
        let _cleared = K::cleared(sets_keys_shallowly::<K>(isa));
        Self::expand(isa, key)
    }

    /// Same as [`new`](Self::new), but on the heap. The key is expanded there, is wiped there on
    /// drop, and leaves no copy elsewhere.
    ///
    /// Moving a cipher leaves its old bytes behind, as with every value in Rust; here only the box
    /// is moved. Without an allocator, put a cipher with some other key in its final place, and
    /// call [`set_key`](Self::set_key) there.
    #[cfg(feature = "std")]
    #[must_use]
    #[inline]
    pub fn boxed(key: &K::Key) -> Box<Self> {
        Self::boxed_with_isa(Isa::detect(), key)
    }

    /// Same as [`boxed`](Self::boxed), with the kernels of `isa`.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn boxed_with_isa(isa: Isa, key: &K::Key) -> Box<Self> {
        let mut place = Box::new(Self::empty(isa));
        place.set_key(key);
        place
    }

    /// Replaces the key with another one, for the same kernels.
    ///
    /// This is cheaper than a new cipher, which is moved and after which the old one is wiped.
    pub fn set_key(&mut self, key: &K::Key) {
        self.rekey(key);
        let shallow = sets_keys_shallowly::<K>(self.key.isa());
        drop(wipe::SetUp::<{ wipe::SHALLOW }, { wipe::DEEP }>::new(shallow));
    }

    /// Not inlined, so that its caller can clear the stack that it used.
    #[inline(never)]
    fn rekey(&mut self, key: &K::Key) {
        self.key.set_key(key);
    }

    /// The value is moved once, to the caller, from the stack right below it.
    //
    // Not inlined, so that its caller can clear that stack.
    #[inline(never)]
    fn expand(isa: Isa, key: &K::Key) -> Self {
        let mut place = Self::empty(isa);
        place.rekey(key);
        place
    }

    /// A cipher without a key, which must be set before the cipher is used.
    //
    // Not inlined, so that functions that set keys do not use as much stack as this one.
    #[inline(never)]
    fn empty(isa: Isa) -> Self {
        Self { key: K::empty(isa) }
    }
}

/// Whether the set-up of a key uses little stack.
#[inline]
fn sets_keys_shallowly<K: SingleKey>(isa: Isa) -> bool {
    const { K::ALGORITHM.shallow_from() }.is_some_and(|level| isa.has(level))
}

/// Makes the types from the rows of the table.
macro_rules! typed {
    ({}
     aead { $($(#[doc = $doc:literal])+ $constant:ident = $number:literal $name:literal
              $primitive:ident $mode:ident [$($openssl:literal)*]
              $typed:ident: $kernel:ty $(, $lanes:ident)?;)+ }
     $($others:tt)*) => {
        $(
            $(#[doc = $doc])+
            ///
            /// It is an [`AeadCipher`] whose algorithm is chosen when the program is compiled.
            pub type $typed = AeadCipher<$kernel>;

            impl SingleKey for $kernel {
                const ALGORITHM: Algorithm = Algorithm::$constant;

                type Cleared = wipe::SetUp<
                    { wipe::below(size_of::<$typed>() + align_of::<$typed>(), wipe::SHALLOW) },
                    { wipe::below(size_of::<$typed>() + align_of::<$typed>(), wipe::DEEP) },
                >;

                #[inline(always)]
                fn cleared(shallow: bool) -> Self::Cleared {
                    wipe::SetUp::new(shallow)
                }
            }
        )+

        /// Calls a macro with the names of all types.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! typed_ciphers {
            ($make:ident!) => { $make! { $($typed)+ } };
        }

        /// Calls a macro with the names of those whose kernels have lanes.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! ciphers_with_lanes {
            ($make:ident!) => { $make! { $($([$lanes] $typed)?)+ } };
        }
    };
}

algorithms!(typed! {});
