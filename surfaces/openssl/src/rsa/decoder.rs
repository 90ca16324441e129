//! Decoders of files that name a key in a daemon.
//!
//! A file goes through two: the first takes the content out of the PEM, and the second makes the
//! key. What is between them has to look like DER, or OpenSSL would not let it pass. It is a string
//! of UTF-8 (ITU-T X.690, section 8.23).

use core::ffi::{c_char, c_int, c_void};

use super::key::{self, Key, of_provider};
use super::pem::{self, Found};
use super::uri;
use crate::abi::{Context, Dispatch, Function, INTEGER, OCTETS, PRIVATE, Param, Table, Take, UTF8};
use crate::errors::Failure;

/// From PEM to what looks like DER.
pub(crate) static PEM: Table<[Dispatch; 5]> = Table([
    Dispatch::new_decoder(new),
    Dispatch::free_decoder(free),
    Dispatch::does_selection(does_selection),
    Dispatch::decode(decode_pem),
    Dispatch::END,
]);

/// From that to a key.
pub(crate) static NAMES: Table<[Dispatch; 5]> = Table([
    Dispatch::new_decoder(new),
    Dispatch::free_decoder(free),
    Dispatch::does_selection(does_selection),
    Dispatch::decode(decode_name),
    Dispatch::END,
]);

/// How the properties of the second decoder call what the first one gives.
const STRUCTURE: &core::ffi::CStr = c"lanecrypt-uri";

/// The tag of a string.
const STRING: u8 = 0x0c;

/// A decoder knows nothing but its provider.
unsafe extern "C" fn new(provider: *mut c_void) -> Context {
    provider
}

unsafe extern "C" fn free(_: Context) {}

/// Who looks for a public key does not ask a daemon.
unsafe extern "C" fn does_selection(_: *mut c_void, selection: c_int) -> c_int {
    c_int::from(selection == 0 || selection & PRIVATE != 0)
}

/// 1 is the answer of a decoder that has found nothing for it.
const NOTHING: c_int = 1;

unsafe extern "C" fn decode_pem(
    context: Context,
    file: *mut c_void,
    _selection: c_int,
    take: Option<Take>,
    argument: *mut c_void,
    _ask: Option<Function>,
    _asker: *mut c_void,
) -> c_int {
    // SAFETY: what `new` gave.
    let Some((rsa, _)) = (unsafe { of_provider(context) }) else { return NOTHING };
    let (Some(read_line), Some(take)) = (rsa.fallback.reporter.core.read_line, take) else {
        return NOTHING;
    };
    let found = pem::read(|place| {
        let room = c_int::try_from(place.len()).unwrap_or(0);
        // SAFETY: a file of OpenSSL's, and a place with so much room.
        let read = unsafe { read_line(file, place.as_mut_ptr().cast::<c_char>(), room) };
        usize::try_from(read).unwrap_or(0)
    });
    let content = match found {
        Found::Nothing => return NOTHING,
        Found::Malformed => {
            rsa.fallback.reporter.fail_with(Failure::Uri, "LANECRYPT KEY");
            return 0;
        }
        Found::Content(content) => content,
    };
    let mut string = string_of(&content);
    // `OSSL_OBJECT_PKEY`
    let mut kind: c_int = 2;
    let param = |key: &'static core::ffi::CStr, data_type, data: *mut c_void, size| {
        let mut param = Param::described(key.as_ptr(), data_type, size);
        param.data = data;
        param
    };
    let structure = STRUCTURE.as_ptr().cast_mut().cast();
    let params = [
        param(c"type", INTEGER, (&raw mut kind).cast(), size_of::<c_int>()),
        param(c"data-structure", UTF8, structure, STRUCTURE.count_bytes()),
        param(c"data", OCTETS, string.as_mut_ptr().cast(), string.len()),
        Param::END,
    ];
    // SAFETY: a list, and what belongs to the function.
    unsafe { take(params.as_ptr(), argument) }
}

unsafe extern "C" fn decode_name(
    context: Context,
    file: *mut c_void,
    _selection: c_int,
    take: Option<Take>,
    argument: *mut c_void,
    _ask: Option<Function>,
    _asker: *mut c_void,
) -> c_int {
    // SAFETY: what `new` gave.
    let Some((rsa, _)) = (unsafe { of_provider(context) }) else { return NOTHING };
    let Some(read) = rsa.fallback.reporter.core.read else { return NOTHING };
    let content = content_of(|place| {
        let mut length = 0;
        let (to, room) = (place.as_mut_ptr().cast(), place.len());
        // SAFETY: a file of OpenSSL's, a place with so much room, and a place for a number.
        let read = unsafe { read(file, to, room, &raw mut length) };
        if read == 1 { length } else { 0 }
    });
    let Some(content) = content.filter(|content| uri::is_ours(content)) else { return NOTHING };
    let key = Key::of_daemon(rsa, &content);
    if key.is_null() {
        return 0;
    }
    // SAFETY: a new key, and what belongs to the function.
    unsafe { key::hand_on(key, take, argument) }
}

/// A string in DER. No content is longer than 64 KiB.
fn string_of(content: &[u8]) -> Vec<u8> {
    let [.., high, low] = content.len().to_be_bytes();
    let head: &[u8] = match content.len() {
        0..0x80 => &[STRING, low],
        0x80..0x100 => &[STRING, 0x81, low],
        _ => &[STRING, 0x82, high, low],
    };
    [head, content].concat()
}

/// The content of a string in DER; none if it is something else. `read` reads up to as much as the
/// place has, and says how much that was.
fn content_of(mut read: impl FnMut(&mut [u8]) -> usize) -> Option<Vec<u8>> {
    let mut fill = |place: &mut [u8]| {
        let mut done = 0;
        while let Some(rest) = place.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match read(rest) {
                0 => return None,
                length => done += length.min(rest.len()),
            }
        }
        Some(())
    };
    // Nearly all that comes here is something else.
    let mut head = [0; 2];
    fill(&mut head)?;
    let [tag, length] = head;
    if tag != STRING {
        return None;
    }
    let more = match length {
        0..=0x7f => 0,
        0x81 => 1,
        0x82 => 2,
        _ => return None,
    };
    let mut bytes = [0; size_of::<usize>()];
    match more {
        0 => bytes[bytes.len() - 1] = length,
        _ => {
            let at = bytes.len() - more;
            fill(&mut bytes[at..])?;
        }
    }
    let length = usize::from_be_bytes(bytes);
    if length > uri::LONGEST {
        return None;
    }
    let mut content = vec![0; length];
    fill(&mut content)?;
    Some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_back(string: &[u8]) -> Option<Vec<u8>> {
        let mut rest = string;
        content_of(|place| {
            // In pieces.
            let length = place.len().min(rest.len()).min(100);
            place[..length].copy_from_slice(&rest[..length]);
            rest = &rest[length..];
            length
        })
    }

    #[test]
    fn strings() {
        for length in [0, 1, 127, 128, 255, 256, uri::LONGEST] {
            let content = vec![7; length];
            let string = string_of(&content);
            assert_eq!(read_back(&string), Some(content), "{length}");
            for short in [0, 1, 2, 3, string.len() - 1] {
                if short < string.len() {
                    assert_eq!(read_back(&string[..short]), None, "{length} {short}");
                }
            }
        }
        assert_eq!(read_back(&string_of(&vec![7; uri::LONGEST + 1])), None);
        assert_eq!(read_back(b"\x30\x03abc"), None);
        assert_eq!(read_back(b"\x0c\x80abc\0\0"), None);
        assert_eq!(read_back(b"\x0c\x84\xff\xff\xff\xffabc"), None);
    }
}
