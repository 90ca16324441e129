//! `lanecrypt openssl`.

use std::fs;
use std::process::{Command, Output};

use crate::support::{Folder, assert_one_line, errors, lanecrypt};

fn output(mut command: Command) -> Output {
    command.output().expect("the program starts")
}

/// The configuration for a module and a base that are files of `folder`.
fn configuration(folder: &Folder, base: &str, arguments: &[&str]) -> Output {
    let paths = [folder.path("lanecrypt.so"), folder.path("openssl.cnf")];
    fs::write(&paths[0], "a module").expect("it can be written");
    fs::write(&paths[1], base).expect("it can be written");
    let all = [&["openssl", "--module", &paths[0], "--base", &paths[1]], arguments].concat();
    output(lanecrypt(&all))
}

#[test]
fn continues_the_base() {
    let folder = Folder::new("openssl-base");
    let base = "openssl_conf = init\n[init]\nproviders = all\nssl_conf = tls\n\
                [all]\ndefault = own\nlegacy = old\n[old]\nactivate = 1\n";
    let output = configuration(&folder, base, &["--for", "nginx"]);
    let text = String::from_utf8(output.stdout.clone()).expect("UTF-8");
    assert!(output.status.success(), "{}", errors(&output));
    assert!(text.contains(&format!("\n.include {}\n", folder.path("openssl.cnf"))), "{text}");
    assert!(text.contains("systemctl edit nginx"), "{text}");
    assert!(text.contains("\n[init]\nproviders = lanecrypt_providers\n"), "{text}");
    assert!(text.contains("\nlegacy = old\ndefault = lanecrypt_default\n"), "{text}");
    assert!(text.contains(&format!("\nmodule = {}\n", folder.path("lanecrypt.so"))), "{text}");
    assert!(!text.contains("random = "), "random numbers are only taken over when asked: {text}");

    let output = configuration(&folder, base, &["--random"]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.contains("\nrandom = lanecrypt_random\n"), "{text}");
    assert!(!text.contains("\ncurves = "), "curves are only taken over when asked: {text}");
    assert!(!text.contains("\nrsa = "), "RSA is only taken over when asked: {text}");

    let output = configuration(&folder, base, &["--rsa", "--curves"]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.contains("\nsoft_load = 1\nrsa = yes\ncurves = yes\n"), "{text}");
}

#[test]
fn names_keys_of_the_daemon() {
    let named = output(lanecrypt(&["openssl", "--key", "web"]));
    let text = String::from_utf8(named.stdout).expect("UTF-8");
    let content = "bGFuZWNyeXB0OndlYg==";
    let begin_and_end = ["-----BEGIN LANECRYPT KEY-----", "-----END LANECRYPT KEY-----"];
    assert_eq!(text, format!("{}\n{content}\n{}\n", begin_and_end[0], begin_and_end[1]));
    let socket = ["openssl", "--key", "web", "--socket"];
    let named = output(lanecrypt(&[&socket[..], &["/run/lanecrypt.sock"]].concat()));
    assert!(named.status.success());
    assert_one_line(&output(lanecrypt(&[&socket[..], &["here"]].concat())), 1, "not absolute");
    assert_one_line(&output(lanecrypt(&["openssl", "--key", ""])), 1, "has a name");
    assert_eq!(output(lanecrypt(&["openssl", "--key", "web", "--rsa"])).status.code(), Some(2));
    let asked = ["openssl", "--check", "--key", "web", "--socket", "/nowhere/lanecrypt.sock"];
    assert_one_line(&output(lanecrypt(&asked)), 1, "/nowhere/lanecrypt.sock: no such socket");
    assert_eq!(output(lanecrypt(&["openssl", "--socket", "/a"])).status.code(), Some(2));
}

#[test]
fn refuses_what_would_not_work() {
    let folder = Folder::new("openssl-refused");
    let base = "openssl_conf = i\n[i]\nalg_section = a\n[a]\ndefault_properties = fips=yes\n";
    assert_one_line(&configuration(&folder, base, &[]), 1, "not validated");

    let missing = output(lanecrypt(&["openssl", "--module", &folder.path("none.so")]));
    assert_one_line(&missing, 1, "none.so");
    let odd = folder.path("a#b.so");
    fs::write(&odd, "").expect("it can be written");
    assert_one_line(&output(lanecrypt(&["openssl", "--module", &odd])), 1, "such a path");
    assert_one_line(&output(lanecrypt(&["openssl", "--for", "emacs"])), 2, "emacs");
}

/// A module that OpenSSL cannot load leaves everything with its own code, and the check says so.
#[test]
fn the_check_says_that_nothing_is_taken_over() {
    if Command::new("openssl").arg("version").output().is_err() {
        println!("SKIPPED openssl-program: apt install openssl");
        return;
    }
    let folder = Folder::new("openssl-check");
    let output = configuration(&folder, "", &["--check"]);
    let text = String::from_utf8(output.stdout.clone()).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1), "{text}{}", errors(&output));
    assert!(errors(&output).contains("nothing is taken over"), "{}", errors(&output));
    assert!(text.contains("\nproviders     default\n"), "{text}");
    assert!(text.contains("AES-128-GCM (default)"), "{text}");
    assert!(text.contains("RSA signatures (default)"), "{text}");
}
