//! The groups of TLS whose keys are ours. Libssl takes a group from the provider that has its keys,
//! so we tell those that the default provider tells.

use core::ffi::{CStr, c_char, c_int, c_void};

use crate::abi::{Param, Take};
use crate::context::Provider;
use crate::params::Settings;

/// Who gets the groups.
struct Taker {
    take: Take,
    argument: *mut c_void,
}

pub(crate) unsafe extern "C" fn capabilities(
    provider: *mut c_void,
    capability: *const c_char,
    take: Option<Take>,
    argument: *mut c_void,
) -> c_int {
    const GROUPS: &CStr = c"TLS-GROUP";
    // SAFETY: OpenSSL passes the provider.
    let provider = unsafe { provider.cast::<Provider>().as_ref() };
    let curves = provider.and_then(|provider| provider.curves.as_ref());
    let (Some(curves), Some(take), false) = (curves, take, capability.is_null()) else { return 1 };
    // SAFETY: OpenSSL passes a string.
    if unsafe { CStr::from_ptr(capability) } != GROUPS {
        return 1;
    }
    // Without the default provider there are no keys either.
    let Some(inner) = curves.ec.fallback.inner() else { return 1 };
    let mut taker = Taker { take, argument };
    inner.capabilities(GROUPS, take_ours, (&raw mut taker).cast())
}

/// Hands a group on if its keys are ours. `taker` is [`Taker`].
unsafe extern "C" fn take_ours(params: *const Param, taker: *mut c_void) -> c_int {
    // SAFETY: `capabilities` passes it.
    let Some(taker) = (unsafe { taker.cast::<Taker>().as_ref() }) else { return 0 };
    // SAFETY: a list of the default provider's.
    let is_ours = unsafe { Settings::new(params) }.any(|setting| {
        setting.name().is(c"tls-group-alg")
            && setting.text().is_some_and(|name| name == b"EC" || name == b"X25519")
    });
    if !is_ours {
        return 1;
    }
    // SAFETY: the list, and what belongs to the function.
    unsafe { (taker.take)(params, taker.argument) }
}
