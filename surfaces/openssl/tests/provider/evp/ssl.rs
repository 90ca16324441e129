//! Libssl, found at run time, as far as tests and examples call it.

#![allow(
    clippy::multiple_unsafe_ops_per_block,
    reason = "each is a call of libssl, whose manual has the rules"
)]

use core::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};
use core::ptr;
use std::ffi::CString;
use std::net::UdpSocket;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::{Context, Crypto, modules, target};

type Raw = *mut c_void;
type Bytes = *const u8;
/// What chooses among the protocols that a client offers.
type Choose = unsafe extern "C" fn(Raw, *mut Bytes, *mut u8, Bytes, c_uint, Raw) -> c_int;

functions! {
    /// The functions of one libssl.
    Ssl;
    BIO_new_bio_pair(*mut Raw, usize, *mut Raw, usize) -> c_int;
    SSL_CTX_ctrl(Raw, c_int, c_long, Raw) -> c_long;
    SSL_CTX_free(Raw);
    SSL_CTX_new_ex(Raw, *const c_char, Raw) -> Raw;
    SSL_CTX_set_cipher_list(Raw, *const c_char) -> c_int;
    SSL_CTX_set_ciphersuites(Raw, *const c_char) -> c_int;
    SSL_CTX_set_num_tickets(Raw, usize) -> c_int;
    SSL_CTX_use_PrivateKey_file(Raw, *const c_char, c_int) -> c_int;
    SSL_CTX_use_certificate_file(Raw, *const c_char, c_int) -> c_int;
    SSL_do_handshake(Raw) -> c_int;
    SSL_free(Raw);
    SSL_new(Raw) -> Raw;
    SSL_read(Raw, *mut u8, c_int) -> c_int;
    SSL_set_accept_state(Raw);
    SSL_set_bio(Raw, Raw, Raw);
    SSL_set_connect_state(Raw);
    SSL_write(Raw, Bytes, c_int) -> c_int;
    TLS_method() -> Raw;
}

functions! {
    /// Those for QUIC, from 3.5 on.
    Quic;
    OSSL_QUIC_client_method() -> Raw;
    OSSL_QUIC_server_method() -> Raw;
    SSL_CTX_set_alpn_select_cb(Raw, Choose, Raw);
    SSL_accept_connection(Raw, u64) -> Raw;
    SSL_connect(Raw) -> c_int;
    SSL_listen(Raw) -> c_int;
    SSL_new_listener(Raw, u64) -> Raw;
    SSL_read_ex(Raw, *mut u8, usize, *mut usize) -> c_int;
    SSL_set_alpn_protos(Raw, Bytes, c_uint) -> c_int;
    SSL_set_fd(Raw, c_int) -> c_int;
    SSL_shutdown(Raw) -> c_int;
    SSL_stream_conclude(Raw, u64) -> c_int;
    SSL_write_ex(Raw, Bytes, usize, *mut usize) -> c_int;
}

/// The libssl that belongs to a libcrypto.
fn path(crypto: &Crypto) -> PathBuf {
    match crypto.name {
        "system" => PathBuf::from("libssl.so.3"),
        _ => target().join("peers/libssl-newest.so"),
    }
}

impl Ssl {
    /// The libssl that belongs to a libcrypto, if it is here.
    pub(crate) fn of(crypto: &Crypto) -> Option<Self> {
        let found = Self::load(crypto.name, &path(crypto));
        if found.is_none() {
            match crypto.name {
                "system" => println!("SKIPPED openssl: apt install libssl3"),
                _ => println!("SKIPPED openssl-newest: make peers"),
            }
        }
        found
    }
}

impl Quic {
    /// The same for QUIC.
    pub(crate) fn of(crypto: &Crypto) -> Option<Self> {
        // The system's may be older than QUIC.
        if crypto.name == "system" { None } else { Self::load(crypto.name, &path(crypto)) }
    }
}

/// A key and a certificate by the program `openssl`; says no if it is not here.
pub(crate) fn certificate(kind: &str, arguments: &[&str]) -> bool {
    let [key, pem] = ["key", "pem"].map(|end| modules().join(format!("{kind}.{end}")));
    let mut command = Command::new("openssl");
    command.args(["req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-newkey"]);
    command.args(arguments).arg("-keyout").arg(key).arg("-out").arg(pem);
    command.output().is_ok_and(|output| output.status.success())
}

/// The settings of an end.
pub(crate) struct Side<'s> {
    ssl: &'s Ssl,
    raw: Raw,
}

/// `SSL_FILETYPE_PEM`.
const PEM: c_int = 1;
/// `SSL_CTRL_SET_GROUPS_LIST`.
const SET_GROUPS: c_int = 92;
/// `SSL_CTRL_SET_MAX_PROTO_VERSION`, and the version.
const SET_LATEST: c_int = 124;
const TLS_1_2: c_long = 0x303;

impl<'s> Side<'s> {
    /// With the algorithms of these properties, and with a key of this kind and its certificate.
    pub(crate) fn new(ssl: &'s Ssl, context: &Context, properties: &CStr, kind: &str) -> Self {
        // SAFETY: no argument.
        let method = unsafe { (ssl.TLS_method)() };
        Self::with_method(ssl, context, properties, kind, method)
    }

    fn with_method(
        ssl: &'s Ssl,
        context: &Context,
        properties: &CStr,
        kind: &str,
        method: Raw,
    ) -> Self {
        let [key, certificate] = ["key", "pem"].map(|end| {
            let path = modules().join(format!("{kind}.{end}"));
            CString::new(path.to_str().expect("UTF-8")).expect("no zero")
        });
        // SAFETY: a library context, strings, and a method, which is a constant.
        unsafe {
            let raw = (ssl.SSL_CTX_new_ex)(context.raw, properties.as_ptr(), method);
            assert!(!raw.is_null());
            assert_eq!((ssl.SSL_CTX_set_num_tickets)(raw, 0), 1);
            assert_eq!((ssl.SSL_CTX_use_certificate_file)(raw, certificate.as_ptr(), PEM), 1);
            assert_eq!((ssl.SSL_CTX_use_PrivateKey_file)(raw, key.as_ptr(), PEM), 1);
            Self { ssl, raw }
        }
    }

    /// With this suite of TLS 1.3.
    pub(crate) fn suite(self, suite: &CStr) -> Self {
        // SAFETY: settings and a string.
        assert_eq!(unsafe { (self.ssl.SSL_CTX_set_ciphersuites)(self.raw, suite.as_ptr()) }, 1);
        self
    }

    /// With these groups for key exchange; says no if libssl does not know them.
    pub(crate) fn groups(self, groups: &CStr) -> Option<Self> {
        let groups = groups.as_ptr().cast_mut().cast();
        // SAFETY: settings; the control takes a string.
        let set = unsafe { (self.ssl.SSL_CTX_ctrl)(self.raw, SET_GROUPS, 0, groups) };
        (set == 1).then_some(self)
    }

    /// With this suite of TLS 1.2, and no later version.
    pub(crate) fn suite_of_1_2(self, suite: &CStr) -> Self {
        // SAFETY: settings and a string.
        assert_eq!(unsafe { (self.ssl.SSL_CTX_set_cipher_list)(self.raw, suite.as_ptr()) }, 1);
        // SAFETY: settings; the control takes a number.
        let set =
            unsafe { (self.ssl.SSL_CTX_ctrl)(self.raw, SET_LATEST, TLS_1_2, ptr::null_mut()) };
        assert_eq!(set, 1);
        self
    }
}

impl Drop for Side<'_> {
    fn drop(&mut self) {
        // SAFETY: made here; connections hold it themselves.
        unsafe { (self.ssl.SSL_CTX_free)(self.raw) };
    }
}

/// A client and a server that have shaken hands, in memory.
pub(crate) struct Connection<'s> {
    ssl: &'s Ssl,
    ends: [Raw; 2],
}

/// Connects a client with a server.
pub(crate) fn connect<'s>([client, server]: [&Side<'s>; 2]) -> Connection<'s> {
    let ssl = client.ssl;
    // SAFETY: settings, places for the buffers, and what they give.
    unsafe {
        let ends = [client, server].map(|side| (ssl.SSL_new)(side.raw));
        assert!(!ends.iter().any(|end| end.is_null()));
        let (mut one, mut other) = (ptr::null_mut(), ptr::null_mut());
        let made = (ssl.BIO_new_bio_pair)(&raw mut one, 1 << 16, &raw mut other, 1 << 16);
        assert_eq!(made, 1);
        (ssl.SSL_set_bio)(ends[0], one, one);
        (ssl.SSL_set_bio)(ends[1], other, other);
        (ssl.SSL_set_connect_state)(ends[0]);
        (ssl.SSL_set_accept_state)(ends[1]);
        let mut done = [false; 2];
        for _ in 0..10 {
            done = ends.map(|end| (ssl.SSL_do_handshake)(end) == 1);
            if done == [true; 2] {
                break;
            }
        }
        assert_eq!(done, [true; 2], "no handshake");
        Connection { ssl, ends }
    }
}

impl Connection<'_> {
    /// A record from one end, 0 for the client, to the other.
    pub(crate) fn pass(&mut self, from: usize, data: &[u8], came: &mut [u8]) {
        let length = c_int::try_from(data.len()).expect("it is short");
        let (writer, reader) = (self.ends[from], self.ends[1 - from]);
        // SAFETY: connections, and as many bytes as are said.
        let (written, read) = unsafe {
            let written = (self.ssl.SSL_write)(writer, data.as_ptr(), length);
            (written, (self.ssl.SSL_read)(reader, came.as_mut_ptr(), length))
        };
        assert_eq!((written, read), (length, length));
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        for end in self.ends {
            // SAFETY: made in `connect`; it frees its buffers too.
            unsafe { (self.ssl.SSL_free)(end) };
        }
    }
}

/// The one protocol that both ends of a connection by QUIC know, after its length.
const PROTOCOL: &[u8] = b"\x04test";

/// Takes the one protocol.
unsafe extern "C" fn choose(
    _: Raw,
    out: *mut Bytes,
    length: *mut u8,
    _: Bytes,
    _: c_uint,
    _: Raw,
) -> c_int {
    // SAFETY: libssl's places; the protocol is a constant.
    unsafe {
        out.write(PROTOCOL[1..].as_ptr());
        length.write(PROTOCOL[0]);
    }
    0
}

impl Quic {
    /// Sends back what one client sends on one stream of one connection.
    pub(crate) fn echo(&self, ssl: &Ssl, context: &Context, suite: &CStr, socket: &UdpSocket) {
        // SAFETY: no argument.
        let method = unsafe { (self.OSSL_QUIC_server_method)() };
        let side = Side::with_method(ssl, context, c"", "quic", method).suite(suite);
        // SAFETY: settings, a socket, and what they give.
        unsafe {
            (self.SSL_CTX_set_alpn_select_cb)(side.raw, choose, ptr::null_mut());
            let listener = (self.SSL_new_listener)(side.raw, 0);
            assert!(!listener.is_null());
            assert_eq!((self.SSL_set_fd)(listener, socket.as_raw_fd()), 1);
            assert_eq!((self.SSL_listen)(listener), 1);
            let connection = (self.SSL_accept_connection)(listener, 0);
            assert!(!connection.is_null());
            let came = self.read_all(connection);
            self.write_all(connection, &came);
            // Returns when the client has it all.
            let _ = (self.SSL_shutdown)(connection);
            (ssl.SSL_free)(connection);
            (ssl.SSL_free)(listener);
        }
    }

    /// Sends data to a server, and returns what it sends back.
    pub(crate) fn ask(
        &self,
        ssl: &Ssl,
        context: &Context,
        suite: &CStr,
        (socket, data): (&UdpSocket, &[u8]),
    ) -> Vec<u8> {
        // SAFETY: no argument.
        let method = unsafe { (self.OSSL_QUIC_client_method)() };
        let side = Side::with_method(ssl, context, c"", "quic", method).suite(suite);
        // SAFETY: settings, a socket, and what they give.
        unsafe {
            let connection = (ssl.SSL_new)(side.raw);
            assert!(!connection.is_null());
            let length = c_uint::try_from(PROTOCOL.len()).expect("it is short");
            assert_eq!((self.SSL_set_alpn_protos)(connection, PROTOCOL.as_ptr(), length), 0);
            assert_eq!((self.SSL_set_fd)(connection, socket.as_raw_fd()), 1);
            assert_eq!((self.SSL_connect)(connection), 1, "no handshake");
            self.write_all(connection, data);
            let back = self.read_all(connection);
            (ssl.SSL_free)(connection);
            back
        }
    }

    /// Writes data, and ends the stream.
    ///
    /// # Safety
    ///
    /// The connection is one.
    unsafe fn write_all(&self, connection: Raw, mut data: &[u8]) {
        while !data.is_empty() {
            let mut written = 0;
            // SAFETY: as many bytes as are said, and a place for a number.
            let done = unsafe {
                (self.SSL_write_ex)(connection, data.as_ptr(), data.len(), &raw mut written)
            };
            assert_eq!(done, 1);
            data = &data[written..];
        }
        // SAFETY: the caller says so.
        assert_eq!(unsafe { (self.SSL_stream_conclude)(connection, 0) }, 1);
    }

    /// Reads until the stream or the connection ends.
    ///
    /// # Safety
    ///
    /// The connection is one.
    unsafe fn read_all(&self, connection: Raw) -> Vec<u8> {
        let (mut all, mut part) = (Vec::new(), [0; 5000]);
        loop {
            let mut length = 0;
            // SAFETY: so much room, and a place for a number.
            let done = unsafe {
                (self.SSL_read_ex)(connection, part.as_mut_ptr(), part.len(), &raw mut length)
            };
            if done != 1 {
                return all;
            }
            all.extend_from_slice(&part[..length]);
        }
    }
}
