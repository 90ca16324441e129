//! Connections by the libssl of each libcrypto, with the module on one end. The program `openssl`
//! is the system's only.

use core::ffi::CStr;
use core::time::Duration;
use std::net::UdpSocket;
use std::thread;

use crate::curves::in_two_jobs;
use crate::evp::{Context, Jobs, Quic, Side, Ssl, Step, certificate, connect};
use crate::{everywhere_with_rsa, everywhere_with_rsa_alone};

const ENDS: [[&CStr; 2]; 2] =
    [[c"?provider=lanecrypt", c"provider=default"], [c"provider=default", c"?provider=lanecrypt"]];

const SUITES: [&CStr; 3] =
    [c"TLS_AES_128_GCM_SHA256", c"TLS_AES_256_GCM_SHA384", c"TLS_CHACHA20_POLY1305_SHA256"];

const SUITES_OF_1_2: [&CStr; 5] = [
    c"ECDHE-RSA-AES128-GCM-SHA256",
    c"ECDHE-RSA-AES256-GCM-SHA384",
    c"ECDHE-RSA-CHACHA20-POLY1305",
    c"ECDHE-RSA-AES128-SHA256",
    c"ECDHE-RSA-AES256-SHA",
];

/// A key with its certificate; says so if there is no program that makes them.
fn has_certificate(kind: &str) -> bool {
    has_certificate_of(kind, &["rsa:3072"])
}

fn has_certificate_of(kind: &str, arguments: &[&str]) -> bool {
    let made = certificate(kind, arguments);
    if !made {
        println!("SKIPPED openssl-program: apt install openssl");
    }
    made
}

fn data(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 7 % 251).to_le_bytes()[0]).collect()
}

/// Records of many lengths in both directions.
fn exchange(name: &CStr, [client, server]: [Side<'_>; 2]) {
    let mut connection = connect([&client, &server]);
    for length in [1, 15, 16, 17, 100, 1400, 4096, 16383, 16384] {
        for from in [0, 1] {
            let (data, mut came) = (data(length), vec![0; length]);
            connection.pass(from, &data, &mut came);
            assert_eq!(came, data, "{name:?}, {length} bytes from {from}");
        }
    }
}

#[test]
fn connections_in_memory() {
    if !has_certificate("tls") {
        return;
    }
    everywhere_with_rsa(|context| {
        let Some(ssl) = Ssl::of(context.crypto) else { return };
        for ends in ENDS {
            let sides = || ends.map(|properties| Side::new(&ssl, context, properties, "tls"));
            for suite in SUITES {
                let before = context.counter(c"lanecrypt-messages");
                exchange(suite, sides().map(|side| side.suite(suite)));
                assert!(
                    context.counter(c"lanecrypt-messages") > before + 18,
                    "{suite:?}: not ours"
                );
            }
            for suite in SUITES_OF_1_2 {
                exchange(suite, sides().map(|side| side.suite_of_1_2(suite)));
            }
        }
    });
}

/// Certificates of curves, with the arguments that make them.
const CERTIFICATES: [(&str, &[&str]); 4] = [
    ("tls-p256", &["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]),
    ("tls-p384", &["ec", "-pkeyopt", "ec_paramgen_curve:P-384"]),
    ("tls-p521", &["ec", "-pkeyopt", "ec_paramgen_curve:secp521r1"]),
    ("tls-ed25519", &["ed25519"]),
];

/// Groups for key exchange. Not every libssl knows the last one.
const GROUPS: [&CStr; 6] =
    [c"X25519", c"P-256", c"P-384", c"secp521r1", c"X448", c"X25519MLKEM768"];

/// Every group with every certificate, outside of jobs and in two.
#[test]
fn handshakes_with_curves() {
    for (kind, arguments) in CERTIFICATES {
        if !has_certificate_of(kind, arguments) {
            return;
        }
    }
    everywhere_with_rsa(|context| {
        let Some(ssl) = Ssl::of(context.crypto) else { return };
        for ends in ENDS {
            for (kind, _) in CERTIFICATES {
                for group in GROUPS {
                    let sides = || {
                        let of = |properties| Side::new(&ssl, context, properties, kind);
                        let [client, server] = ends.map(|end| of(end).groups(group));
                        Some([client?, server?])
                    };
                    let Some(in_front) = sides() else {
                        assert_eq!(group, c"X25519MLKEM768");
                        context.errors();
                        continue;
                    };
                    exchange(group, in_front);
                    in_two_jobs(context, || exchange(group, sides().expect("known")));
                }
            }
            // In TLS 1.2, the group of the certificate is one of them.
            for groups in [c"X25519:P-256", c"P-256", c"P-384:P-256"] {
                let sides = || {
                    ends.map(|properties| {
                        let side = Side::new(&ssl, context, properties, CERTIFICATES[0].0);
                        let side = side.groups(groups).expect("known");
                        side.suite_of_1_2(c"ECDHE-ECDSA-AES128-GCM-SHA256")
                    })
                };
                exchange(groups, sides());
                in_two_jobs(context, || exchange(groups, sides()));
            }
        }
    });
}

/// Connections at the same time: secrets and signatures are made together.
#[test]
fn handshakes_in_jobs() {
    let kind = "tls-jobs";
    if !has_certificate_of(kind, CERTIFICATES[0].1) {
        return;
    }
    everywhere_with_rsa_alone(|context| {
        let Some(ssl) = Ssl::of(context.crypto) else { return };
        for group in [c"X25519", c"P-256"] {
            let [client, server] = [c"provider=default", c"?provider=lanecrypt"]
                .map(|end| Side::new(&ssl, context, end, kind).groups(group).expect("known"));
            let names = [
                c"lanecrypt-keys",
                c"lanecrypt-agreements",
                c"lanecrypt-signatures",
                c"lanecrypt-together",
            ];
            let before = names.map(|name| context.counter(name));
            let mut jobs = Jobs::new(context.crypto);
            for _ in 0..8 {
                jobs.add(|| drop(connect([&client, &server])));
            }
            // The secret and the signature.
            for step in [Step::Paused, Step::Paused, Step::Finished] {
                for number in 0..8 {
                    assert_eq!(jobs.step(number), step);
                }
            }
            let after = names.map(|name| context.counter(name));
            let done: Vec<_> =
                after.iter().zip(before).map(|(after, before)| after - before).collect();
            assert_eq!(done, [8, 8, 8, 16], "{group:?}");
        }
    });
}

#[test]
fn connections_by_quic() {
    if !has_certificate("quic") {
        return;
    }
    everywhere_with_rsa(|ours| {
        let crypto = ours.crypto;
        let (Some(quic), Some(ssl)) = (Quic::of(crypto), Ssl::of(crypto)) else { return };
        // What is lost on the way is sent again, but nobody may wait for ever.
        thread::spawn(|| {
            thread::sleep(Duration::from_secs(120));
            eprintln!("a connection by QUIC hangs");
            std::process::abort();
        });
        // Properties of settings do not reach the packets; those of the library do.
        let theirs = &Context::new(crypto);
        ours.prefer(c"?provider=lanecrypt");
        theirs.prefer(c"provider=default");
        for [client, server] in [[ours, theirs], [theirs, ours]] {
            for suite in SUITES {
                let sockets = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").expect("a socket"));
                let [from, to] = &sockets;
                from.connect(to.local_addr().expect("an address")).expect("connected");
                let before = ours.counter(c"lanecrypt-messages");
                let sent = data(100_000);
                let came = thread::scope(|scope| {
                    scope.spawn(|| quic.echo(&ssl, server, suite, to));
                    quic.ask(&ssl, client, suite, (from, &sent))
                });
                assert!(came == sent, "{suite:?}: {} bytes came back", came.len());
                let messages = ours.counter(c"lanecrypt-messages") - before;
                assert!(messages > 100, "{suite:?}: {messages} messages are ours");
            }
        }
    });
}
