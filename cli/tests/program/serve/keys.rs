//! Keys in the settings: versions, keys that wrap others, nonces, limits.

use std::fs;

use lanecrypt_ciphers::{Algorithm, Cipher};
use lanecrypt_device::{Client, ConnectError, Error, RejectReason};
use lanecrypt_testing::numbers::hex;

use super::{end, output, secret, serve, serve_by};
use crate::support::{Folder, assert_one_line, lanecrypt, shell};

fn connect(socket: &str) -> Client {
    Client::connect(socket).expect("it listens")
}

/// Why the daemon does not start with these settings.
fn refused(folder: &Folder, settings: &str, about: &str) {
    let config = secret(folder, "wrong.toml", settings.as_bytes());
    let socket = folder.path("other");
    let output = output(lanecrypt(&["serve", "--socket", &socket, "--config", &config]));
    assert_one_line(&output, 1, about);
}

#[test]
fn the_current_version_seals_and_each_opens() {
    let folder = Folder::new("serve-versions");
    let socket = folder.path("socket");
    for version in [1, 2, 3_u8] {
        secret(&folder, &version.to_string(), &[version; 32]);
    }
    let key = |more: &str| {
        format!(
            "[[key]]\nname = \"k\"\nalgorithm = \"aes-256-gcm\"\nversions = [\n\
             {{ version = \"a\", file = \"1\" }}, {{ version = \"b\", file = \"2\" }},\n\
             {{ version = \"c\", file = \"3\" }} ]\n{more}\n"
        )
    };
    for (more, current) in [("", 3), ("current = \"b\"", 2)] {
        let config = secret(&folder, "config.toml", key(more).as_bytes());
        let daemon = serve(&["--socket", &socket, "--config", &config]);
        let mut client = connect(&socket);
        let session = client.named_session("k").expect("it is for this user");
        for version in [1, 2, 3_u8] {
            let cipher = Cipher::new(Algorithm::AES_256_GCM, &[version; 32]).expect("a key");
            let mut packet = [5; 40];
            cipher.seal(&[1; 12], b"", &mut packet).expect("it is short");
            assert_eq!(client.open(session, &[1; 12], b"", &mut packet).expect("old"), [5; 24]);
            let nonce = client.seal_next(session, b"", &mut packet).expect("it is served");
            assert_eq!(cipher.open(&nonce, b"", &mut packet).is_ok(), version == current);
        }
        end(daemon);
    }
    refused(&folder, &key("current = \"d\""), "there is no version d");
    refused(&folder, &key("file = \"1\""), "of each version");
    refused(&folder, &key("").replace("\"b\"", "\"a\""), "two versions have the name a");
    let other = key("").replace("aes-256-gcm", "aes-128-gcm");
    refused(&folder, &other, "key k: wrong key length");
}

#[test]
fn wrapped_keys_need_the_key_that_wraps_them() {
    let folder = Folder::new("serve-wrapped");
    let socket = folder.path("socket");
    let plain = secret(&folder, "plain", &[7; 32]);
    let (root, derived) = (folder.path("root"), folder.path("derived"));
    let (by_root, by_words) = (folder.path("by root"), folder.path("by words"));
    for arguments in [
        &["keygen", &root][..],
        &["keygen", &derived, "--passphrase"],
        &["keygen", &by_root, "--wrapped-by", &root, "--from", &plain],
    ] {
        assert!(output(lanecrypt(arguments)).status.success(), "{arguments:?}");
    }
    // A weak one, so that the test is fast.
    let weak = fs::read_to_string(&derived).expect("it is text").replace("m=262144", "m=256");
    assert!(weak.starts_with("$argon2id$v=19$m=256,t=3,p=1$") && weak.ends_with('\n'), "{weak}");
    secret(&folder, "derived", weak.as_bytes());
    secret(&folder, "words", b"correct horse battery staple\n");
    let script = |command: &str, words: &str| {
        let (folder, words) = (folder.path(""), folder.path(words));
        shell(&format!("cd '{folder}' && \"$lanecrypt\" {command} --passphrase-fd 3 3<'{words}'"))
    };
    let wrapped = script("keygen 'by words' --wrapped-by derived --from plain", "words");
    assert!(wrapped.status.success(), "{wrapped:?}");
    for path in [&by_root, &by_words] {
        let bytes = fs::read(path).expect("it is there");
        assert_eq!(bytes.len(), 40, "RFC 5649");
        assert!(!bytes.windows(8).any(|part| part == [7; 8]));
    }
    let key = |name: &str, file: &str, wrapping: &str| {
        format!(
            "[[key]]\nname = \"{name}\"\nalgorithm = \"aes-256-gcm\"\nfile = \"{file}\"\n\
             wrapped_by = \"the {wrapping}\"\n\
             [[key]]\nname = \"the {wrapping}\"\nalgorithm = \"aes-256-wrap\"\n\
             file = \"{wrapping}\"\n"
        )
    };
    let by_passphrase = key("two", "by words", "derived");
    let both = key("one", "by root", "root") + &by_passphrase;
    let config = secret(&folder, "config.toml", both.as_bytes());
    let mut command = std::process::Command::new("sh");
    command
        .args([
            "-c",
            "exec \"$1\" serve --socket \"$2\" --config \"$3\" --passphrase-fd 3 3<\"$4\"",
        ])
        .args(["sh", env!("CARGO_BIN_EXE_lanecrypt"), &socket, &config, &folder.path("words")]);
    let daemon = serve_by(command);
    let mut client = connect(&socket);
    let cipher = Cipher::new(Algorithm::AES_256_GCM, &[7; 32]).expect("a key");
    for name in ["one", "two"] {
        let session = client.named_session(name).expect("it is for this user");
        let mut packet = [5; 40];
        let nonce = client.seal_next(session, b"", &mut packet).expect("it is served");
        assert_eq!(cipher.open(&nonce, b"", &mut packet).expect("authentic"), [5; 24]);
    }
    for name in ["the root", "the derived"] {
        let denied = client.named_session(name);
        assert_eq!(denied, Err(Error::Denied(RejectReason::Name)), "it only wraps");
    }
    end(daemon);

    refused(&folder, &by_passphrase, "use --passphrase-fd");
    let other = |wrapping: &str| key("one", "by root", wrapping);
    refused(&folder, &other("plain"), "by another key, or was changed");
    let neither = "neither a key of 32 bytes, nor a file for a passphrase";
    refused(&folder, &other("words"), neither);
    let unnamed = other("root").replace("name = \"the root\"", "name = \"another\"");
    refused(&folder, &unnamed, "no aes-256-wrap key the root");
    secret(&folder, "wrong words", b"correct horse battery stable\n");
    let refused = script("serve --socket other --config config.toml", "wrong words");
    assert_one_line(&refused, 1, "by another key, or was changed");
}

/// RFC 7748, section 6.1, with the bytes of a key in its file; the other algorithms with PEM.
#[test]
fn keys_of_key_exchange_are_settings() {
    let folder = Folder::new("serve-exchange");
    let socket = folder.path("socket");
    let key = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a";
    secret(&folder, "one", &hex(key));
    let point = "-----BEGIN PRIVATE KEY-----\n\
                 MEECAQAwEwYHKoZIzj0CAQYIKoZIzj0DAQcEJzAlAgEBBCADAwMDAwMDAwMDAwMD\n\
                 AwMDAwMDAwMDAwMDAwMDAwMDAw==\n-----END PRIVATE KEY-----\n";
    secret(&folder, "two", point.as_bytes());
    secret(&folder, "three", &[7; 64]);
    let key = |algorithm: &str, file: &str, more: &str| {
        format!(
            "[[key]]\nname = \"{file}\"\nalgorithm = \"{algorithm}\"\nfile = \"{file}\"\n{more}\n"
        )
    };
    let only = "operations = [\"agree\"]";
    let settings =
        key("x25519", "one", only) + &key("ecdh-p256", "two", "") + &key("ml-kem-768", "three", "");
    let config = secret(&folder, "config.toml", settings.as_bytes());
    let daemon = serve(&["--socket", &socket, "--config", &config]);
    let mut client = connect(&socket);
    let mut open = |name: &str| client.named_session(name).expect("it is for this user");
    let sessions = ["one", "two", "three"].map(&mut open);
    assert_eq!(sessions.map(|session| session.agreement_length()), [32; 3]);
    let other = hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
    let mut found = [0; 32];
    client.agree(sessions[0], &other, &mut found).expect("it is valid");
    let expected = hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
    assert_eq!(found[..], expected);
    assert_eq!(client.sign(sessions[0], b"", &mut [0; 64]), Err(Error::NotAllowed));
    client.agree(sessions[2], &[9; 1088], &mut found).expect("its length is right");
    end(daemon);

    refused(&folder, &key("x25519", "three", ""), "malformed key");
    refused(&folder, &key("ecdh-p256", "three", ""), "malformed key");
    refused(&folder, &key("ml-kem-768", "one", ""), "malformed key");
    refused(&folder, &key("x25519", "one", "operations = [\"sign\"]"), "cannot sign");
    let versions = "[[key]]\nname = \"k\"\nalgorithm = \"x25519\"\nversions = [\n\
                    { version = \"a\", file = \"one\" }, { version = \"b\", file = \"one\" } ]";
    refused(&folder, versions, "a key of key exchange has one version");
}

#[test]
fn nonces_of_clients_are_a_choice() {
    let folder = Folder::new("serve-nonces");
    let socket = folder.path("socket");
    secret(&folder, "key", &[7; 32]);
    let settings = |more: &str| {
        format!("[[key]]\nname = \"k\"\nalgorithm = \"aes-256-gcm\"\nfile = \"key\"\n{more}\n")
    };
    let config = secret(&folder, "config.toml", settings("nonces = \"client\"").as_bytes());
    let daemon = serve(&["--socket", &socket, "--config", &config]);
    let mut client = connect(&socket);
    let session = client.named_session("k").expect("it is for this user");
    client.seal(session, &[1; 12], b"", &mut [0; 40]).expect("it is allowed");
    end(daemon);
    let one_way = settings("nonces = \"client\"\noperations = [\"seal\"]");
    refused(&folder, &one_way, "its algorithm needs both operations");
    refused(&folder, &settings("nonces = \"random\""), "random");
    let raw = settings("").replace("aes-256-gcm", "aes-256-cbc");
    refused(&folder, &raw, "the nonces of its algorithm come from clients");
}

#[test]
fn limits_are_settings() {
    let folder = Folder::new("serve-limits");
    let socket = folder.path("socket");
    let limits = b"[limits]\nclients = 1\nsessions = 1\narena = 8192\nmemory = 1000000\n";
    let config = secret(&folder, "config.toml", limits);
    let daemon = serve(&["--socket", &socket, "--config", &config]);
    let mut client = connect(&socket);
    assert_eq!(client.longest(), 8192);
    client.generated_session(Algorithm::AES_128_GCM).expect("the first");
    let second = client.generated_session(Algorithm::AES_128_GCM);
    assert_eq!(second, Err(Error::Denied(RejectReason::Sessions)));
    let other = Client::<Vec<u8>>::connect(&socket).map(drop);
    assert!(matches!(other, Err(ConnectError::Refused(RejectReason::Clients))), "{other:?}");
    end(daemon);
    refused(&folder, "[limits]\nclient = 1\n", "unknown field `client`");
}
