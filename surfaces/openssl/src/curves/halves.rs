//! The halves of a key, as they are used here, and as the default provider exports and imports
//! them.

use core::ffi::{CStr, c_int, c_void};
use core::ptr;
use std::sync::{Arc, OnceLock};

use lanecrypt_pk::{p256, x25519};
use zeroize::Zeroizing;

use crate::abi::{DOMAIN, OCTETS, PRIVATE, PUBLIC, Param, UNSIGNED, UTF8};
use crate::fallback::Keys;
use crate::params::Settings;
use crate::stack::with_room;

/// The curves whose operations are done here.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Curve {
    P256,
    X25519,
}

impl Curve {
    /// The names of the group, of which OpenSSL uses the first.
    fn groups(self) -> &'static [&'static CStr] {
        match self {
            Self::P256 => &[c"prime256v1", c"P-256", c"secp256r1", c"1.2.840.10045.3.1.7"],
            Self::X25519 => &[c"x25519"],
        }
    }

    /// Whether a group is this one.
    pub(super) fn is(self, group: &[u8]) -> bool {
        self.groups().iter().any(|name| name.to_bytes().eq_ignore_ascii_case(group))
    }

    /// What OpenSSL tells of keys: bits, bits of security, and the most bytes that an operation
    /// gives.
    pub(super) fn sizes(self) -> [u32; 3] {
        match self {
            Self::P256 => [256, 128, 72],
            Self::X25519 => [253, 128, 32],
        }
    }
}

/// A public key.
#[derive(Clone)]
pub(super) enum Public {
    P256(Arc<p256::PublicKey>),
    X25519(x25519::PublicKey),
}

impl Public {
    /// A key of its bytes, if it is good.
    pub(super) fn new(curve: Curve, bytes: &[u8]) -> Option<Self> {
        Some(match curve {
            Curve::P256 => {
                let read = with_room(|| p256::PublicKey::from_sec1_bytes(bytes))?;
                Self::P256(Arc::new(read.ok()?))
            }
            Curve::X25519 => Self::X25519(x25519::PublicKey::from_bytes(bytes.try_into().ok()?)),
        })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::P256(key) => key.as_sec1_bytes(),
            Self::X25519(key) => key.as_bytes(),
        }
    }
}

/// A private key.
#[expect(clippy::large_enum_variant, reason = "each is behind a pointer")]
pub(super) enum Secret {
    P256(p256::SecretKey, OnceLock<Option<p256::SigningKey>>),
    X25519(x25519::SecretKey),
}

impl Secret {
    /// A key of its bytes, for P-256 the most significant one first.
    pub(super) fn new(curve: Curve, bytes: &[u8; 32]) -> Option<Self> {
        Some(match curve {
            Curve::P256 => Self::P256(p256::SecretKey::from_bytes(bytes).ok()?, OnceLock::new()),
            Curve::X25519 => Self::X25519(x25519::SecretKey::from_bytes(bytes)),
        })
    }

    /// The same key for signatures.
    pub(super) fn signing(&self) -> Option<&p256::SigningKey> {
        let Self::P256(key, signing) = self else { return None };
        signing.get_or_init(|| p256::SigningKey::from_bytes(key.as_bytes()).ok()).as_ref()
    }

    fn bytes(&self) -> &[u8; 32] {
        match self {
            Self::P256(key, _) => key.as_bytes(),
            Self::X25519(key) => key.as_bytes(),
        }
    }
}

/// What there is of a key.
#[derive(Clone, Default)]
pub(super) struct Halves {
    pub(super) public: Option<Public>,
    pub(super) secret: Option<Arc<Secret>>,
}

/// What the default provider exports.
struct Exported {
    curve: Curve,
    is_other_curve: bool,
    public: Option<Vec<u8>>,
    secret: Option<Zeroizing<[u8; 32]>>,
}

impl Halves {
    /// Reads a key of the default provider; none if it is not one for us.
    ///
    /// # Safety
    ///
    /// The key is one of these functions.
    pub(super) unsafe fn read(curve: Curve, keys: &Keys, key: *mut c_void) -> Option<Self> {
        let (has, export) = (keys.has?, keys.export?);
        // SAFETY: the caller says so.
        let has = |half| unsafe { has(key, half) } == 1;
        let half = |half| if has(half) { half } else { 0 };
        let selection = half(PRIVATE) | half(PUBLIC);
        if selection == 0 {
            return None;
        }
        let is_other_curve = curve == Curve::P256;
        let mut exported = Exported { curve, is_other_curve, public: None, secret: None };
        let place = (&raw mut exported).cast();
        // SAFETY: the caller says so, and `take` gets what it wants.
        if unsafe { export(key, selection | DOMAIN, Some(take), place) } != 1
            || exported.is_other_curve
        {
            return None;
        }
        let public = exported.public.map(|bytes| Public::new(curve, &bytes).ok_or(()));
        let secret = exported.secret.map(|bytes| Secret::new(curve, &bytes).ok_or(()));
        Some(Self {
            public: public.transpose().ok()?,
            secret: secret.transpose().ok()?.map(Arc::new),
        })
    }

    /// A new key of the default provider, or null.
    ///
    /// # Safety
    ///
    /// The functions and the context are those of one provider.
    pub(super) unsafe fn write(
        &self,
        curve: Curve,
        keys: &Keys,
        context: *mut c_void,
    ) -> *mut c_void {
        let (Some(new), Some(import), Some(free)) = (keys.new, keys.import, keys.free) else {
            return ptr::null_mut();
        };
        // SAFETY: the caller says so.
        let key = unsafe { new(context) };
        let is_empty = self.public.is_none() && self.secret.is_none();
        if key.is_null() || (is_empty && curve == Curve::X25519) {
            return key;
        }
        let mut selection = DOMAIN;
        let param = |name: &'static CStr, data_type, data: &[u8]| {
            let mut param = Param::described(name.as_ptr(), data_type, data.len());
            param.data = data.as_ptr().cast_mut().cast();
            param
        };
        let mut params = [const { Param::END }; 4];
        let mut place = params.iter_mut();
        let mut add = |param| {
            if let Some(place) = place.next() {
                *place = param;
            }
        };
        if curve == Curve::P256 {
            add(param(c"group", UTF8, curve.groups()[0].to_bytes()));
        }
        if let Some(public) = &self.public {
            add(param(c"pub", OCTETS, public.bytes()));
            selection |= PUBLIC;
        }
        let secret = self.secret.as_ref().map(|secret| Zeroizing::new(*secret.bytes()));
        let secret = secret.map(|mut bytes| {
            if curve == Curve::P256 && cfg!(target_endian = "little") {
                bytes.reverse();
            }
            bytes
        });
        if let Some(bytes) = &secret {
            let data_type = if curve == Curve::P256 { UNSIGNED } else { OCTETS };
            add(param(c"priv", data_type, &bytes[..]));
            selection |= PRIVATE;
        }
        // SAFETY: a key of the function, and a list.
        if unsafe { import(key, selection, params.as_ptr()) } == 1 {
            return key;
        }
        // SAFETY: a key of the function, which nobody else has.
        unsafe { free(key) };
        ptr::null_mut()
    }

    /// Those of a selection.
    pub(super) fn select(&self, selection: c_int) -> Self {
        Self {
            public: self.public.clone().filter(|_| selection & PUBLIC != 0),
            secret: self.secret.clone().filter(|_| selection & PRIVATE != 0),
        }
    }

    /// Whether there is all of a selection.
    pub(super) fn has(&self, selection: c_int) -> bool {
        let has = |half, is_there: bool| selection & half == 0 || is_there;
        has(PUBLIC, self.public.is_some()) && has(PRIVATE, self.secret.is_some())
    }
}

/// Copies what is exported. `place` is [`Exported`].
unsafe extern "C" fn take(params: *const Param, place: *mut c_void) -> c_int {
    // SAFETY: `read` passes it.
    let Some(exported) = (unsafe { place.cast::<Exported>().as_mut() }) else { return 0 };
    // SAFETY: a list of the default provider's.
    for setting in unsafe { Settings::new(params) } {
        let name = setting.name();
        if name.is(c"group") {
            let is_ours = setting.text().is_some_and(|group| exported.curve.is(group));
            exported.is_other_curve = !is_ours;
        } else if name.is(c"pub") {
            exported.public = setting.octets().map(<[u8]>::to_vec);
        } else if name.is(c"priv") {
            exported.secret = match exported.curve {
                Curve::P256 => setting.number_bytes().and_then(big_endian),
                Curve::X25519 => {
                    setting.octets().and_then(|bytes| Some(Zeroizing::new(bytes.try_into().ok()?)))
                }
            };
        }
    }
    1
}

/// A number of at most 256 bits, the most significant byte first.
fn big_endian(bytes: &[u8]) -> Option<Zeroizing<[u8; 32]>> {
    let mut number = Zeroizing::new([0; 32]);
    for at in 0..bytes.len().max(32) {
        // From the least significant byte on.
        let place = if cfg!(target_endian = "little") {
            bytes.get(at)
        } else {
            bytes.len().checked_sub(at + 1).and_then(|at| bytes.get(at))
        };
        let byte = *place.unwrap_or(&0);
        match number.get_mut(31_usize.wrapping_sub(at)) {
            Some(place) => *place = byte,
            None if byte == 0 => {}
            None => return None,
        }
    }
    Some(number)
}
