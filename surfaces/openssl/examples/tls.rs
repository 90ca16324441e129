//! Measures TLS 1.3 in memory, both ends with the module and both without it, in one run: records,
//! and whole handshakes.
//!
//! ```text
//! cargo run --release -p lanecrypt-openssl --example tls [milliseconds of a row]
//! ```
//!
//! A record is written by the client and read by the server, through a pair of buffers of libcrypto.
//! Keys and certificates are made by the program `openssl`. Contenders take turns, and a figure is the
//! median of many rounds. Libssl is the system's, and that of `make peers` if it is there.

#![allow(
    clippy::multiple_unsafe_ops_per_block,
    reason = "each is a call of libssl, whose manual has the rules"
)]

#[allow(dead_code, unused_imports)]
#[path = "../tests/provider/evp/mod.rs"]
mod evp;

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use core::time::Duration;
use std::ffi::CString;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use evp::{Context, libraries, modules};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

type Raw = *mut c_void;

macro_rules! functions {
    ($($name:ident($($arg:ty),*) $(-> $out:ty)?;)+) => {
        /// The functions of one libssl.
        #[allow(non_snake_case)]
        struct Ssl {
            $($name: unsafe extern "C" fn($($arg),*) $(-> $out)?,)+
        }

        impl Ssl {
            fn load(path: &Path) -> Option<Self> {
                // SAFETY: libssl may be loaded at any time.
                let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.ok()?;
                // Never closed.
                let library = Box::leak(Box::new(library));
                Some(Self {
                    $($name: {
                        // SAFETY: the manual says that the function has this type.
                        let found = unsafe { library.get(stringify!($name).as_bytes()) };
                        *found.expect(stringify!($name))
                    },)+
                })
            }
        }
    };
}

functions! {
    BIO_new_bio_pair(*mut Raw, usize, *mut Raw, usize) -> c_int;
    SSL_CTX_free(Raw);
    SSL_CTX_new_ex(Raw, *const c_char, Raw) -> Raw;
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
    SSL_write(Raw, *const u8, c_int) -> c_int;
    TLS_method() -> Raw;
}

/// `SSL_FILETYPE_PEM`.
const PEM: c_int = 1;

/// The settings of both ends.
struct Settings<'s> {
    ssl: &'s Ssl,
    raw: Raw,
}

impl<'s> Settings<'s> {
    /// With the algorithms of these properties, and the key and the certificate in a folder.
    fn new(ssl: &'s Ssl, context: &Context, properties: &CStr, suite: &CStr, kind: &str) -> Self {
        let [key, certificate] = ["key", "pem"].map(|end| {
            let path = modules().join(format!("{kind}.{end}"));
            CString::new(path.to_str().expect("UTF-8")).expect("no zero")
        });
        // SAFETY: a library context, and strings; the method is a constant.
        unsafe {
            let raw = (ssl.SSL_CTX_new_ex)(context.raw, properties.as_ptr(), (ssl.TLS_method)());
            assert!(!raw.is_null());
            assert_eq!((ssl.SSL_CTX_set_ciphersuites)(raw, suite.as_ptr()), 1);
            assert_eq!((ssl.SSL_CTX_set_num_tickets)(raw, 0), 1);
            assert_eq!((ssl.SSL_CTX_use_certificate_file)(raw, certificate.as_ptr(), PEM), 1);
            assert_eq!((ssl.SSL_CTX_use_PrivateKey_file)(raw, key.as_ptr(), PEM), 1);
            Self { ssl, raw }
        }
    }

    /// A client and a server that have shaken hands.
    fn connect(&self) -> Connection<'s> {
        let ssl = self.ssl;
        // SAFETY: settings, places for the buffers, and what they give.
        unsafe {
            let [client, server] = [(); 2].map(|()| (ssl.SSL_new)(self.raw));
            assert!(!client.is_null() && !server.is_null());
            let (mut one, mut other) = (ptr::null_mut(), ptr::null_mut());
            let made = (ssl.BIO_new_bio_pair)(&raw mut one, 1 << 16, &raw mut other, 1 << 16);
            assert_eq!(made, 1);
            (ssl.SSL_set_bio)(client, one, one);
            (ssl.SSL_set_bio)(server, other, other);
            (ssl.SSL_set_connect_state)(client);
            (ssl.SSL_set_accept_state)(server);
            let mut done = [false; 2];
            for _ in 0..10 {
                done = [client, server].map(|end| (ssl.SSL_do_handshake)(end) == 1);
                if done == [true; 2] {
                    break;
                }
            }
            assert_eq!(done, [true; 2], "no handshake");
            Connection { ssl, client, server }
        }
    }
}

impl Drop for Settings<'_> {
    fn drop(&mut self) {
        // SAFETY: made here; connections hold it themselves.
        unsafe { (self.ssl.SSL_CTX_free)(self.raw) };
    }
}

struct Connection<'s> {
    ssl: &'s Ssl,
    client: Raw,
    server: Raw,
}

impl Connection<'_> {
    /// From the client to the server.
    fn pass(&mut self, data: &[u8], came: &mut [u8]) {
        let length = c_int::try_from(data.len()).expect("it is short");
        // SAFETY: connections, and as many bytes as are said.
        let (written, read) = unsafe {
            let written = (self.ssl.SSL_write)(self.client, data.as_ptr(), length);
            (written, (self.ssl.SSL_read)(self.server, came.as_mut_ptr(), length))
        };
        assert_eq!((written, read), (length, length));
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        for end in [self.client, self.server] {
            // SAFETY: made in `connect`; it frees its buffers too.
            unsafe { (self.ssl.SSL_free)(end) };
        }
    }
}

/// The medians of the times of a call of each contender, in nanoseconds.
fn measure(contenders: &mut [Box<dyn FnMut() + '_>; 2], time: Duration) -> [f64; 2] {
    let mut samples = [const { Vec::new() }; 2];
    let mut batch = 1_u32;
    loop {
        let start = Instant::now();
        (0..batch).for_each(|_| contenders[0]());
        if start.elapsed() > Duration::from_micros(50) {
            break;
        }
        batch *= 2;
    }
    let end = Instant::now() + time;
    while Instant::now() < end || samples[0].len() < 21 {
        for (contender, samples) in contenders.iter_mut().zip(&mut samples) {
            let start = Instant::now();
            (0..batch).for_each(|_| contender());
            samples.push(start.elapsed().as_secs_f64() * 1e9 / f64::from(batch));
        }
    }
    samples.map(|mut samples| {
        samples.sort_unstable_by(f64::total_cmp);
        samples[samples.len() / 2]
    })
}

fn show(what: &str, [default, ours]: [f64; 2]) {
    println!("  {what:<36} {default:>10.0} {ours:>10.0} ns   {:.2} x", default / ours);
}

/// A key and a certificate by the program `openssl`, or none.
fn certificate(kind: &str, arguments: &[&str]) -> bool {
    let [key, pem] = ["key", "pem"].map(|end| modules().join(format!("{kind}.{end}")));
    let mut command = Command::new("openssl");
    command.args(["req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-newkey"]);
    command.args(arguments).arg("-keyout").arg(key).arg("-out").arg(pem);
    command.output().is_ok_and(|output| output.status.success())
}

const KINDS: [(&str, &[&str]); 3] = [
    ("ecdsa", &["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]),
    ("rsa-2048", &["rsa:2048"]),
    ("rsa-3072", &["rsa:3072"]),
];
const SUITES: [&CStr; 2] = [c"TLS_AES_128_GCM_SHA256", c"TLS_CHACHA20_POLY1305_SHA256"];
const SIZES: [usize; 4] = [64, 1400, 4096, 16384];

fn main() {
    let time = std::env::args().nth(1).and_then(|time| time.parse().ok()).unwrap_or(1000);
    let time = Duration::from_millis(time);
    for (kind, arguments) in KINDS {
        assert!(certificate(kind, arguments), "the program openssl makes certificates");
    }
    for crypto in libraries() {
        let path = match crypto.name {
            "system" => "libssl.so.3".into(),
            _ => modules().ancestors().nth(2).expect("target").join("peers/libssl-newest.so"),
        };
        let Some(ssl) = Ssl::load(&path) else {
            println!("SKIPPED libssl of {}: {} is not there", crypto.version(), path.display());
            continue;
        };
        println!("{}: default and lanecrypt", crypto.version());
        let context = Context::with_rsa(crypto);
        let both = |suite, kind| {
            [c"provider=default", c"?provider=lanecrypt"]
                .map(|properties| Settings::new(&ssl, &context, properties, suite, kind))
        };
        for suite in SUITES {
            let settings = both(suite, "ecdsa");
            for size in SIZES {
                let before = context.told(c"lanecrypt-messages");
                let mut contenders = settings.each_ref().map(|settings| -> Box<dyn FnMut()> {
                    let (mut connection, data) = (settings.connect(), vec![7; size]);
                    let mut came = vec![0; size];
                    connection.pass(&data, &mut came);
                    assert_eq!(came, data);
                    Box::new(move || {
                        came[size - 1] = 0;
                        connection.pass(&data, &mut came);
                        assert_eq!(came[size - 1], 7);
                    })
                });
                let figures = measure(&mut contenders, time);
                assert!(context.told(c"lanecrypt-messages") > before + 100, "ours took part");
                show(&format!("{}, {size} bytes", suite.to_string_lossy()), figures);
            }
        }
        for (kind, _) in KINDS {
            let settings = both(SUITES[0], kind);
            let mut contenders = settings
                .each_ref()
                .map(|settings| -> Box<dyn FnMut()> { Box::new(|| drop(settings.connect())) });
            show(&format!("handshake, {kind}"), measure(&mut contenders, time));
        }
    }
}
