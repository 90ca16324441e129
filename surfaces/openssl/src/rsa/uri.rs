//! The URI of a key that lives in a daemon: `lanecrypt:NAME`, or `lanecrypt:NAME?socket=/path`.
//!
//! Bytes that have a meaning in URIs are written as `%3F` (RFC 3986, section 2.1), in names and in
//! paths.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

/// The longest URI in bytes.
pub(super) const LONGEST: usize = 4096;

/// The scheme with its colon.
const SCHEME: &[u8] = b"lanecrypt:";

/// Which key is meant.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Uri {
    /// Its name in the daemon.
    pub(super) name: String,
    /// The daemon's socket, if it is named.
    pub(super) socket: Option<PathBuf>,
}

/// Whether it is a URI of ours, well-formed or not.
pub(super) fn is_ours(text: &[u8]) -> bool {
    text.split_at_checked(SCHEME.len())
        .is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case(SCHEME))
}

impl Uri {
    /// Reads a URI; none if it is not one of these.
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        if text.len() > LONGEST || !is_ours(text) {
            return None;
        }
        let text = text.get(SCHEME.len()..)?;
        let (name, query) = match text.iter().position(|&byte| byte == b'?') {
            Some(at) => (text.get(..at)?, text.get(at + 1..)),
            None => (text, None),
        };
        let name = String::from_utf8(decoded(name)?).ok()?;
        let socket = match query {
            None => None,
            Some(query) => {
                let path =
                    PathBuf::from(OsString::from_vec(decoded(query.strip_prefix(b"socket=")?)?));
                // What a relative one means would depend on the program.
                Some(path).filter(|path| path.is_absolute()).map(Some)?
            }
        };
        (!name.is_empty()).then_some(Self { name, socket })
    }
}

/// The bytes that a part of a URI stands for; none if it has bytes that URIs do not have there.
fn decoded(part: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.iter();
    while let Some(&byte) = rest.next() {
        match byte {
            b'%' => {
                let mut digit = || char::from(*rest.next()?).to_digit(16);
                let byte = u8::try_from(digit()? << 4 | digit()?).ok()?;
                // No name and no path has it.
                bytes.push(Some(byte).filter(|&byte| byte != 0)?);
            }
            b'?' | b'#' | b'&' | b'"' | b'<' | b'>' => return None,
            b'!'..=b'~' => bytes.push(byte),
            _ => return None,
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sockets() {
        let read = |text: &str| Uri::read(text.as_bytes()).map(|uri| (uri.name, uri.socket));
        let name = |name: &str| Some((name.to_owned(), None));
        assert_eq!(read("lanecrypt:web"), name("web"));
        assert_eq!(read("LaneCrypt:web"), name("web"));
        assert_eq!(read("lanecrypt:a/b:c=d%3f%25"), name("a/b:c=d?%"));
        assert_eq!(read("lanecrypt:sch%C3%B6n"), name("schön"));
        let socket = Some(PathBuf::from("/run/a b.sock"));
        assert_eq!(read("lanecrypt:web?socket=/run/a%20b.sock"), Some(("web".into(), socket)));
    }

    #[test]
    fn what_is_none() {
        let long = format!("lanecrypt:{}", "n".repeat(LONGEST));
        for text in [
            "",
            "lanecrypt",
            "lanecrypt:",
            "lanecrypt:?socket=/a",
            "file:web",
            "lanecrypt:web?",
            "lanecrypt:web?socket=",
            "lanecrypt:web?socket=a",
            "lanecrypt:web?other=/a",
            "lanecrypt:web?socket=/a?socket=/b",
            "lanecrypt:web?socket=/a&socket=/b",
            "lanecrypt:web#",
            "lanecrypt:web\n",
            "lanecrypt:w b",
            "lanecrypt:w\0b",
            "lanecrypt:%00",
            "lanecrypt:%",
            "lanecrypt:%1",
            "lanecrypt:%+1",
            "lanecrypt:%ff",
            "lanecrypt:schön",
            &long,
        ] {
            assert_eq!(Uri::read(text.as_bytes()), None, "{text}");
        }
    }
}
