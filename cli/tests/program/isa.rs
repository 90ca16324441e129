//! `lanecrypt speed --isa`: ours and the peers held to a level of instruction sets.

use serde_json::Value;

use crate::support::{assert_one_line, errors, lanecrypt, run};

/// What one row of ours says in JSON, with peers at hand.
fn measured(level: &str, environment: &[(&str, &str)]) -> Value {
    let only = "packets/lanecrypt/session/aes-128-gcm/seal/1500";
    let mut command = lanecrypt(&["speed", "packets", "--quick", "--isa", level, "--only", only]);
    command.args(["--budget", "20s", "--peers", "openssl,nettle,libgcrypt,ring,rustcrypto"]);
    command.args(["--json", "-"]).envs(environment.iter().copied());
    let output = run(command, b"");
    assert!(output.status.success(), "{}", errors(&output));
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().filter_map(Value::as_str).collect()
}

#[test]
fn a_level_that_cannot_be_is_refused() {
    let known = "portable";
    assert_one_line(&run(lanecrypt(&["speed", "--isa", "AVX2"]), b""), 2, known);
    let highest = lanecrypt_ciphers::Isa::of_processor().level().name();
    if let Some(above) = lanecrypt_ciphers::Level::built()
        .iter()
        .find(|level| !lanecrypt_ciphers::Isa::of_processor().has(**level))
    {
        let output = run(lanecrypt(&["speed", "--isa", above.name()]), b"");
        assert_one_line(&output, 2, &format!("this processor has no more than {highest}"));
    }
}

#[test]
fn ours_and_the_peers_are_held() {
    let results = measured("portable", &[("LANECRYPT_ISA", "ssse3")]);
    let machine = &results["machine"];
    assert_eq!(machine["isa"], "portable");
    assert_eq!(machine["hold"]["level"], "portable");
    let points = results["points"].as_array().expect("points");
    let levels: Vec<&Value> = points.iter().map(|point| &point["isa"]).collect();
    assert_eq!(levels, ["portable"]);
    if lanecrypt_ciphers::Isa::of_processor() == lanecrypt_ciphers::Isa::PORTABLE {
        return;
    }
    let [held, not_held] = ["held", "not_held"].map(|list| names(&machine["hold"][list]));
    assert!(not_held.contains(&"ring") && not_held.contains(&"rustcrypto"), "{machine}");
    // Libraries may be missing.
    #[cfg(target_arch = "x86_64")]
    for library in ["openssl", "nettle", "libgcrypt"] {
        assert!(!not_held.contains(&library), "{machine}");
    }
    assert!(held.iter().all(|source| !not_held.contains(source)));
}

#[test]
fn without_it_nothing_is_said_of_peers() {
    let only = "random/lanecrypt/*/u32/4/t1";
    let arguments = ["speed", "random", "--only", only, "--budget", "1s", "--peers", "none"];
    let mut command = lanecrypt(&arguments);
    command.args(["--json", "-"]).env("LANECRYPT_ISA", "portable");
    let output = run(command, b"");
    assert!(output.status.success(), "{}", errors(&output));
    let results: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(results["machine"]["isa"], "portable");
    assert!(results["machine"].get("hold").is_none());
}

#[cfg(target_arch = "x86_64")]
#[test]
fn masks_of_the_environment_are_kept_and_others_refused() {
    let results = measured("portable", &[("OPENSSL_ia32cap", "~0x10:~0x20000000")]);
    let not_held = names(&results["machine"]["hold"]["not_held"]);
    assert!(!not_held.contains(&"openssl"), "{not_held:?}");
    for (name, value) in [("OPENSSL_ia32cap", "0x1"), ("NETTLE_FAT_OVERRIDE", "aesni")] {
        let mut command = lanecrypt(&["speed", "--isa", "portable"]);
        command.env(name, value);
        assert_one_line(&run(command, b""), 2, name);
    }
}
