//! Files that name a key of the daemon, for programs that read their keys from files.

use core::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use base64ct::{Base64, Encoding as _};
use lanecrypt_device::{Client, Error, RejectReason};
use lanecrypt_rsa::PublicKey;

/// As much of the encoded text as a line has.
const LINE: usize = 64;

/// The file for the key of this name, in the daemon at this socket if one is named.
///
/// # Errors
///
/// No daemon has such a key or such a socket.
pub(super) fn file(name: &str, socket: Option<&Path>) -> Result<String, String> {
    let uri = uri(name, socket)?;
    let encoded = Base64::encode_string(uri.as_bytes());
    let mut text = String::from("-----BEGIN LANECRYPT KEY-----\n");
    let mut rest = &encoded[..];
    while !rest.is_empty() {
        let (line, others) = rest.split_at(rest.len().min(LINE));
        let _ = writeln!(text, "{line}");
        rest = others;
    }
    text.push_str("-----END LANECRYPT KEY-----\n");
    Ok(text)
}

/// Asks the daemon for the key, as programs do that take it: what it is.
///
/// # Errors
///
/// Why programs would have no such key.
pub(super) fn check(name: &str, socket: Option<&Path>) -> Result<String, String> {
    let socket = socket.map_or_else(lanecrypt_device::default_path, Path::to_owned);
    let at = socket.display();
    let mut client: Client = Client::connect(&socket).map_err(|error| error.with_path(&socket))?;
    let of_key = |reason: &dyn core::fmt::Display| format!("{at}: key {name}: {reason}");
    let session = client.named_session(name).map_err(|error| of_key(&error))?;
    let public = client.public_key(session).map_err(|error| match error {
        Error::Denied(RejectReason::Algorithm) => of_key(&"it is not an RSA key"),
        error => of_key(&error),
    })?;
    let key = PublicKey::from_spki_der(&public).map_err(|error| of_key(&error))?;
    Ok(format!("{at}: key {name}: RSA, {} bits\n", key.bits()))
}

fn uri(name: &str, socket: Option<&Path>) -> Result<String, String> {
    if name.is_empty() || name.contains('\0') {
        return Err("a key has a name".into());
    }
    let mut uri = format!("lanecrypt:{}", encoded(name.as_bytes()));
    if let Some(socket) = socket {
        // Programs run in other folders.
        if !socket.is_absolute() {
            return Err(format!("{}: the path of the socket is not absolute", socket.display()));
        }
        let _ = write!(uri, "?socket={}", encoded(socket.as_os_str().as_bytes()));
    }
    Ok(uri)
}

/// Bytes as they stand in a URI (RFC 3986, section 2).
fn encoded(bytes: &[u8]) -> String {
    let mut text = String::new();
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            text.push(byte.into());
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sockets() {
        assert_eq!(uri("web", None).as_deref(), Ok("lanecrypt:web"));
        let socket = Some(Path::new("/run/a b"));
        assert_eq!(uri("x?%ö", socket).as_deref(), Ok("lanecrypt:x%3F%25%C3%B6?socket=/run/a%20b"));
        assert!(uri("", None).is_err() && uri("web", Some(Path::new("here"))).is_err());
    }

    #[test]
    fn lines() {
        let text = file(&"n".repeat(100), None).expect("it has a name");
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.first(), Some(&"-----BEGIN LANECRYPT KEY-----"));
        assert_eq!(lines.last(), Some(&"-----END LANECRYPT KEY-----"));
        let lines = &lines[1..lines.len() - 1];
        assert!(lines.len() == 3 && lines.iter().all(|line| line.len() <= LINE));
        let content = Base64::decode_vec(&lines.concat()).expect("it is encoded");
        assert!(content.starts_with(b"lanecrypt:nnn") && content.len() == 110);
    }
}
