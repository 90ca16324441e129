//! `lanecrypt check` and `lanecrypt info`: the protocol of JSON lines, and that nonsense has an
//! answer.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use lanecrypt_ciphers::Algorithm;
use serde_json::{Value, json};

use crate::support::{assert_one_line, errors, lanecrypt, run};

pub(crate) fn check(input: &[u8]) -> Vec<Value> {
    let output = run(lanecrypt(&["check"]), input);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert!(output.stderr.is_empty(), "{}", errors(&output));
    let lines = str::from_utf8(&output.stdout).expect("text").lines();
    lines.map(|line| serde_json::from_str(line).expect(line)).collect()
}

pub(crate) fn ask(request: &Value) -> Value {
    let mut answers = check(format!("{request}\n").as_bytes());
    assert_eq!(answers.len(), 1, "{request}");
    answers.remove(0)
}

/// The example of RFC 8439, section 2.4.2, with changes.
fn rfc8439(changes: &Value) -> Value {
    let mut request = json!({
        "id": "rfc", "alg": "chacha20-ietf", "op": "encrypt", "counter": 1,
        "key": "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F",
        "iv": "000000000000004a00000000",
        "data": "4c616469657320616e642047656e746c656d656e",
    });
    for (name, value) in changes.as_object().expect("an object") {
        request[name] = value.clone();
    }
    request
}

const RFC8439_ANSWER: &str = "6e2e359a2568f98041ba0728dd0d6981e97e7aec";

#[test]
fn answers_are_right() {
    let same = [
        json!({}),
        json!({ "op": "decrypt" }),
        json!({ "chunks": [1, 0, 18, 1] }),
        json!({ "chunks": [20] }),
        json!({ "skip": 64, "counter": 0 }),
        json!({ "skip": 64, "counter": null, "aad": "", "unknown": [{}] }),
    ];
    for changes in same {
        let answer = ask(&rfc8439(&changes));
        assert_eq!(answer, json!({ "id": "rfc", "out": RFC8439_ANSWER }), "{changes}");
    }
}

/// The first two blocks of an example of SP 800-38A (F.2.1), with changes.
fn sp800_38a(changes: &Value) -> Value {
    let mut request = json!({
        "id": "nist", "alg": "aes-128-cbc", "op": "encrypt",
        "key": "2b7e151628aed2a6abf7158809cf4f3c", "iv": "000102030405060708090a0b0c0d0e0f",
        "data": SP800_38A_PLAIN,
    });
    for (name, value) in changes.as_object().expect("an object") {
        request[name] = value.clone();
    }
    request
}

const SP800_38A_PLAIN: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51";
const SP800_38A_CIPHER: &str = "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2";

#[test]
fn blocks_go_both_ways_in_any_pieces() {
    for chunks in [json!(null), json!([32]), json!([16, 16]), json!([1, 0, 30, 1]), json!([17, 15])]
    {
        let there = sp800_38a(&json!({ "chunks": chunks }));
        assert_eq!(ask(&there), json!({ "id": "nist", "out": SP800_38A_CIPHER }), "{chunks}");
        let back = json!({ "op": "decrypt", "data": SP800_38A_CIPHER, "chunks": chunks });
        assert_eq!(ask(&sp800_38a(&back))["out"], SP800_38A_PLAIN, "{chunks}");
    }
    let right = [
        // FIPS 197, appendix C.1.
        (
            json!({ "alg": "aes-128-ecb", "key": "000102030405060708090a0b0c0d0e0f", "iv": null }),
            "00112233445566778899aabbccddeeff",
            "69c4e0d86a7b0430d8cdb78070b4c55a",
        ),
        // Set 1, vector 0 of NESSIE.
        (
            json!({ "alg": "serpent-128-ecb", "key": format!("80{}", "00".repeat(15)), "iv": "" }),
            "00000000000000000000000000000000",
            "264e5481eff42a4606abda06c0bfda3d",
        ),
        // The variable key test of SP 800-20, with one key, three times one key, and twice.
        (
            json!({ "alg": "des-ecb", "key": "8001010101010101", "iv": null }),
            "0000000000000000",
            "95a8d72813daa94d",
        ),
        (
            json!({ "alg": "3des-ecb", "key": "8001010101010101".repeat(3), "iv": null }),
            "0000000000000000",
            "95a8d72813daa94d",
        ),
        (
            json!({ "alg": "3des-cbc", "key": "8001010101010101".repeat(2), "iv": "00".repeat(8) }),
            "0000000000000000",
            "95a8d72813daa94d",
        ),
        (json!({ "alg": "null", "key": null, "iv": null }), "0123456789", "0123456789"),
        (
            json!({ "alg": "null", "key": "", "iv": "", "chunks": [0, 5] }),
            "0123456789",
            "0123456789",
        ),
    ];
    for (changes, plain, cipher) in right {
        for (operation, from, to) in [("encrypt", plain, cipher), ("decrypt", cipher, plain)] {
            let mut request = sp800_38a(&changes);
            request["op"] = json!(operation);
            request["data"] = json!(from);
            assert_eq!(ask(&request)["out"], to, "{request}");
        }
    }
}

#[test]
fn blocks_that_must_be_refused_are() {
    let refused = [
        (json!({ "data": "00".repeat(31) }), "wrong data length"),
        (json!({ "data": "00".repeat(33), "chunks": [16, 17] }), "wrong data length"),
        (json!({ "data": "00".repeat(31), "op": "decrypt" }), "wrong data length"),
        (json!({ "iv": null }), "wrong nonce length"),
        (json!({ "iv": "00".repeat(15) }), "wrong nonce length"),
        (json!({ "iv": "00".repeat(15), "op": "decrypt" }), "wrong nonce length"),
        (json!({ "key": "00".repeat(24) }), "aes-128-cbc: a key of 24 bytes where 16 are needed"),
        (
            json!({ "alg": "serpent-192-cbc" }),
            "serpent-192-cbc: a key of 16 bytes where 24 are needed",
        ),
        (json!({ "alg": "des-cbc" }), "des-cbc: a key of 16 bytes where 8 are needed"),
        (json!({ "alg": "3des-cbc" }), "wrong nonce length"),
        (
            json!({ "alg": "3des-cbc", "key": "00".repeat(8) }),
            "3des-cbc: a key of 8 bytes where 16 or 24 are needed",
        ),
        (
            json!({ "alg": "3des-cbc", "key": "00".repeat(32) }),
            "3des-cbc: a key of 32 bytes where 16 or 24 are needed",
        ),
        (json!({ "alg": "null", "iv": null }), "null: a key of 16 bytes where none is needed"),
        (json!({ "alg": "null", "key": "" }), "null: a nonce of 16 bytes where none is needed"),
        (json!({ "counter": 1 }), "counter: aes-128-cbc has none"),
        (json!({ "skip": 1 }), "skip: aes-128-cbc has none"),
        (json!({ "op": "open" }), "op: aes-128-cbc does not open"),
        (json!({ "chunks": [16, 15] }), "chunks: their sum is not the length of the data"),
        (json!({ "alg": "aes-128-cfb" }), "unsupported"),
        (json!({ "alg": "serpent-ecb" }), "unsupported"),
        (json!({ "alg": "tdes-cbc" }), "unsupported"),
    ];
    for (changes, reason) in refused {
        assert_eq!(ask(&sp800_38a(&changes))["err"], reason, "{changes}");
    }
}

#[test]
fn what_must_be_refused_is() {
    let refused = [
        (json!({ "alg": "rot13" }), "unsupported"),
        (json!({ "alg": "aes-128-ccm", "op": "seal", "key": "zz" }), "unsupported"),
        (json!({ "alg": "aes-256-ecb", "op": "decrypt", "iv": null }), "counter: "),
        (json!({ "alg": null }), "alg: missing"),
        (json!({ "alg": 7 }), "alg: not a string"),
        (json!({ "op": null }), "op: missing"),
        (json!({ "op": "explode" }), "op: unknown"),
        (json!({ "op": "seal" }), "op: chacha20-ietf does not seal"),
        (json!({ "key": null }), "key: missing"),
        (json!({ "key": "00" }), "chacha20-ietf: a key of 1 byte where 32 are needed"),
        (
            json!({ "key": "000102030405060708090a0b0c0d0e0f" }),
            "chacha20-ietf: a key of 16 bytes where 32 are needed",
        ),
        (json!({ "key": "0" }), "key: not hexadecimal"),
        (json!({ "key": "+1" }), "key: not hexadecimal"),
        (json!({ "key": "éé" }), "key: not hexadecimal"),
        (json!({ "iv": null }), "chacha20-ietf: a nonce of 0 bytes where 12 are needed"),
        (
            json!({ "iv": "0000000000000000" }),
            "chacha20-ietf: a nonce of 8 bytes where 12 are needed",
        ),
        (json!({ "data": null }), "data: missing"),
        (json!({ "data": ["00"] }), "data: not a string"),
        (json!({ "skip": -1 }), "skip: not a whole number"),
        (json!({ "skip": 0.5 }), "skip: not a whole number"),
        (json!({ "skip": "0" }), "skip: not a whole number"),
        (json!({ "skip": u64::MAX }), "keystream exhausted"),
        (json!({ "skip": (1_u64 << 38) - 64 }), "keystream exhausted"),
        (json!({ "counter": u64::MAX }), "chacha20-ietf: keystream exhausted"),
        (json!({ "counter": 1_u64 << 32 }), "chacha20-ietf: keystream exhausted"),
        (json!({ "counter": u32::MAX, "skip": 45 }), "keystream exhausted"),
        (json!({ "chunks": [19] }), "chunks: their sum"),
        (json!({ "chunks": [20, 1] }), "chunks: their sum"),
        (json!({ "chunks": [u64::MAX, 21] }), "chunks: their sum"),
        (json!({ "chunks": [-1, 21] }), "chunks: not a list"),
        (json!({ "chunks": 20 }), "chunks: not a list"),
        (json!({ "aad": "00" }), "aad: "),
        (json!({ "taglen": 16 }), "taglen: chacha20-ietf has none"),
        (json!({ "alg": "aes-256-ctr", "iv": "00".repeat(16) }), "counter: "),
        (json!({ "alg": "aes-256-ecb", "iv": null, "counter": 0 }), "wrong data length"),
        (json!({ "alg": "aes-256-ecb", "iv": null, "counter": 0, "skip": 16 }), "skip: "),
        (
            json!({ "alg": "aes-256-ecb", "iv": "00", "counter": 0, "data": "" }),
            "wrong nonce length",
        ),
    ];
    for (changes, reason) in refused {
        let answer = ask(&rfc8439(&changes));
        let error = answer["err"].as_str().expect("an error");
        assert!(error.starts_with(reason), "{changes}: {answer}");
        assert_eq!(answer["id"], "rfc");
        assert_eq!(answer.get("out"), None);
    }
    // The last bytes are still there.
    let last = json!({ "counter": u32::MAX, "skip": 44 });
    assert!(ask(&rfc8439(&last))["out"].is_string());
}

#[test]
fn huge_positions_answer_at_once() {
    for (algorithm, nonce) in [("chacha20-djb", 8), ("salsa20/20", 8), ("aes-256-ctr", 16)] {
        let skip = rfc8439(&json!({
            "alg": algorithm, "iv": "ff".repeat(nonce), "skip": u64::MAX, "counter": 0,
        }));
        assert!(ask(&skip)["out"].is_string(), "{algorithm}");
    }
}

/// The first case of RFC 6229, with changes.
fn rfc6229(changes: &Value) -> Value {
    let mut request = json!({
        "id": "rfc", "alg": "arc4", "op": "encrypt", "key": "0102030405", "data": "00".repeat(16),
    });
    for (name, value) in changes.as_object().expect("an object") {
        request[name] = value.clone();
    }
    request
}

#[test]
fn streams_without_numbered_blocks_answer_what_they_can() {
    let right = [
        (json!({}), "b2396305f03dc027ccc3524a0a1118a8"),
        (json!({ "op": "decrypt", "iv": "", "counter": 0 }), "b2396305f03dc027ccc3524a0a1118a8"),
        (json!({ "skip": 4096 }), "ff25b58995996707e51fbdf08b34d875"),
        (json!({ "skip": 4096, "chunks": [1, 15] }), "ff25b58995996707e51fbdf08b34d875"),
    ];
    for (changes, out) in right {
        assert_eq!(ask(&rfc6229(&changes))["out"], out, "{changes}");
    }
    let hc128 = json!({ "alg": "hc128", "key": "00".repeat(16), "iv": "00".repeat(16) });
    // The first case of the specification.
    assert_eq!(ask(&rfc6229(&hc128))["out"], "82001573a003fd3b7fd72ffb0eaf63aa");

    let refused = [
        (json!({ "key": "01020304" }), "arc4: a key of 4 bytes where 5 to 256 are needed"),
        (json!({ "key": "00".repeat(257) }), "arc4: a key of 257 bytes where 5 to 256 are needed"),
        (json!({ "key": "" }), "arc4: a key of 0 bytes where 5 to 256 are needed"),
        (json!({ "iv": "00" }), "arc4: a nonce of 1 byte where none is needed"),
        (json!({ "counter": 1 }), "counter: arc4 has none"),
        (json!({ "skip": (1_u64 << 26) + 1 }), "position out of reach"),
        (json!({ "skip": 1_u64 << 60 }), "position out of reach"),
        (json!({ "skip": u64::MAX }), "position out of reach"),
        (json!({ "op": "seal" }), "op: arc4 does not seal"),
        (json!({ "alg": "rc4" }), "unsupported"),
        (json!({ "alg": "hc-128" }), "unsupported"),
        (json!({ "alg": "salsa20" }), "unsupported"),
        (json!({ "alg": "salsa20/16" }), "unsupported"),
        (json!({ "alg": "salsa20/20" }), "salsa20/20: a key of 5 bytes where 16 or 32 are needed"),
        (json!({ "alg": "hc128" }), "hc128: a key of 5 bytes where 16 are needed"),
        (
            json!({ "alg": "hc128", "key": "00".repeat(32) }),
            "hc128: a key of 32 bytes where 16 are needed",
        ),
        (
            json!({ "alg": "hc128", "key": "00".repeat(16) }),
            "hc128: a nonce of 0 bytes where 16 are needed",
        ),
    ];
    for (changes, reason) in refused {
        let answer = ask(&rfc6229(&changes));
        assert_eq!(answer["err"], reason, "{changes}");
    }
}

#[test]
fn nonsense_has_an_answer_and_the_next_line_too() {
    let good = rfc8439(&json!({})).to_string();
    let deep = "[".repeat(100_000);
    let nonsense: [&[u8]; 9] = [
        b"nonsense",
        b"{",
        b"[1,2]",
        b"\"text\"",
        b"{\"id\":1,}",
        b"\xff\xfe\x00",
        b"{\"id\":\"\xff\"}",
        deep.as_bytes(),
        b"{} {}",
    ];
    for line in nonsense {
        let answers = check(&[line, b"\n", good.as_bytes()].concat());
        assert_eq!(answers.len(), 2);
        assert!(answers[0]["err"].is_string() && answers[0]["id"].is_null(), "{answers:?}");
        assert_eq!(answers[1]["out"], RFC8439_ANSWER);
    }
    let long = "1234567890123456789012345678901234567890";
    let line = good.replace("\"rfc\"", long);
    let output = run(lanecrypt(&["check"]), line.as_bytes());
    assert!(str::from_utf8(&output.stdout).expect("text").contains(&format!("\"id\":{long},")));
    for id in [json!(null), json!(-3), json!("a\u{0}b"), json!([1, { "x": 2 }])] {
        assert_eq!(ask(&rfc8439(&json!({ "id": id })))["id"], id);
    }
}

#[test]
fn a_megabyte_goes_through() {
    let data = "ab".repeat(1 << 20);
    let answer = ask(&rfc8439(&json!({ "data": data })));
    let out = answer["out"].as_str().expect("an answer").to_owned();
    assert_eq!(ask(&rfc8439(&json!({ "data": out, "chunks": [65537, 983_039] })))["out"], data);
}

/// A program that waits for each answer before it asks again must not wait for ever.
#[test]
fn a_coprocess_can_talk_line_by_line() {
    let mut child = lanecrypt(&["check"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut ask = child.stdin.take().expect("a pipe");
    let mut answers = BufReader::new(child.stdout.take().expect("a pipe"));
    let request = rfc8439(&json!({})).to_string();
    // Each write ends in the middle of the next line.
    let (head, tail) = request.split_at(20);
    ask.write_all(head.as_bytes()).expect("it reads");
    for _ in 0..3 {
        ask.write_all(format!("{tail}\n{head}").as_bytes()).expect("it reads");
        let mut answer = String::new();
        answers.read_line(&mut answer).expect("it answers");
        assert!(answer.contains(RFC8439_ANSWER), "{answer}");
    }
    drop(ask);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn the_self_test_passes_at_every_cap() {
    for level in ["portable", "ssse3", "aesni", "avx2", "avx2vaes", "avx512"] {
        let mut command = lanecrypt(&["check", "--self-test"]);
        command.env("LANECRYPT_ISA", level);
        let output = run(command, b"");
        let text = str::from_utf8(&output.stdout).expect("text");
        assert!(output.status.success() && !text.contains("FAILED"), "{text}");
        // Poly1305 and five kinds of RSA beside the algorithms.
        assert_eq!(text.lines().count(), Algorithm::ALL.len() + 6, "{text}");
    }
}

/// Portable kernels have lanes for DES only, and the output names the source of the ranges.
#[test]
fn info_says_what_runs_side_by_side() {
    let mut command = lanecrypt(&["info", "--json"]);
    command.env("LANECRYPT_ISA", "portable");
    let output = run(command, b"");
    let info: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(info["engine"]["drivers"], json!(["software", "null"]));
    for row in info["engine"]["side_by_side"].as_array().expect("a list") {
        let name = row["algorithm"].as_str().expect("a name");
        assert!(name.contains("des-cbc"), "{name}");
        assert_eq!(row["operation"], "encrypt");
        assert!(row["requests"].as_u64() >= Some(2));
        assert!(row["shortest"].is_u64() && row["longest"].as_u64() != Some(u64::MAX));
        // On a busy machine, the built-in ranges may stay.
        assert!(row["source"] == "measured" || row["source"] == "built-in", "{row}");
    }
    let output = run(lanecrypt(&["info", "--all"]), b"");
    let text = str::from_utf8(&output.stdout).expect("text");
    assert!(text.contains("\nDrivers: software, null\n"), "{text}");
    // What is measured differs; that some messages run in lanes does not.
    let (_, table) = text.split_once("64 or more\n").expect("a table");
    let row = table.lines().next().expect("a row");
    let cells: Vec<_> = row.split_whitespace().rev().take(5).collect();
    assert!(cells.iter().any(|cell| *cell != "-"), "{text}");
    let is_range = |cell: &&str| ["-", "all"].contains(cell) || cell.as_bytes()[0].is_ascii_digit();
    assert!(cells.iter().all(is_range), "{text}");
}

#[test]
fn info_says_what_runs() {
    let mut command = lanecrypt(&["info", "--json"]);
    command.env("LANECRYPT_ISA", "portable");
    let output = run(command, b"");
    let info: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(info["isa"]["used"], "portable");
    assert_eq!(info["random"]["core"], "chacha20");
    assert!(info["kernel"]["vdso_getrandom"].is_boolean());
    let algorithms = info["algorithms"].as_array().expect("a list");
    assert!(algorithms.iter().any(|row| row["name"] == "aes-256-ctr"));
    for row in algorithms {
        let name = row["name"].as_str().expect("a name");
        assert_eq!(row["kernel"], "portable");
        let leaks = ["arc4", "hc128", "des-", "3des-"].iter().any(|start| name.starts_with(start));
        assert_eq!(row["constant_time"], !leaks, "{name}");
        assert_eq!(row["timing_leak"].is_null(), row["constant_time"] == true, "{name}");
        assert_eq!(row["broken"], name == "arc4" || name.starts_with("des-"), "{name}");
        assert!(row["lanes"].as_u64() >= Some(1), "{name}");
        for level in ["portable", "ssse3", "aesni", "avx2", "avx2vaes", "avx512"] {
            assert!(row["levels"][level]["lanes"].as_u64() >= Some(1), "{name}");
            assert!(row["levels"][level]["constant_time"].is_boolean(), "{name}");
        }
        for direction in ["encrypt", "decrypt"] {
            let rate = row["cycles_per_byte"][direction].as_f64().expect("a measured rate");
            assert!(rate.is_finite() && rate > 0.0, "{name}: {rate}");
        }
    }
    let arc4 = algorithms.iter().find(|row| row["name"] == "arc4").expect("a row");
    assert_eq!(arc4["key_lengths"], json!((5..=256).collect::<Vec<_>>()));
    // GHASH has a kernel where AES has none.
    let gcm = algorithms.iter().find(|row| row["name"] == "aes-128-gcm").expect("a row");
    for level in ["ssse3", "aesni", "avx512"] {
        assert_eq!(gcm["levels"][level]["kernel"], level);
    }
    let output = run(lanecrypt(&["info", "--all"]), b"");
    let text = str::from_utf8(&output.stdout).expect("text");
    for word in ["Processor", "Instruction set", "chacha20-ietf", "emptied in forked"] {
        assert!(text.contains(word), "{text}");
    }
    for (name, last) in [
        ("salsa20/12", " yes"),
        ("hc128", " no: indexes tables by secrets"),
        ("arc4", " no: indexes tables by secrets; broken, for study only"),
        ("des-cbc", " no: indexes tables by secrets (single blocks); broken, for study only"),
        ("3des-ctr", " no: indexes tables by secrets (single blocks)"),
        ("serpent-256-cbc", " yes"),
        ("aes-256-gcm", " yes"),
        ("aes-128-xts", " yes"),
        ("chacha20-poly1305", " yes"),
        ("xchacha20-poly1305", " yes"),
        ("null", " yes"),
    ] {
        let line = text.lines().find(|line| line.starts_with(name)).expect("a line");
        assert!(line.ends_with(last), "{line}");
    }
}

#[test]
fn info_fits_a_small_screen() {
    for level in ["portable", "avx512"] {
        let mut command = lanecrypt(&["info"]);
        command.env("LANECRYPT_ISA", level);
        let output = run(command, b"");
        let text = str::from_utf8(&output.stdout).expect("text");
        assert!(text.contains("Instruction set"), "{text}");
        assert!(text.lines().count() < 24, "a line is for the prompt: {text}");
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert_eq!(text.matches("   time\n").count(), 9, "{text}");
    }
}

#[test]
fn a_reader_that_leaves_is_no_failure_but_a_full_disk_is() {
    for arguments in [&["info"][..], &["check", "--self-test"], &["--help"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = lanecrypt(arguments).stdout(writer).stderr(Stdio::piped()).output();
        let output = output.expect("it ends");
        assert!(output.status.success() && output.stderr.is_empty(), "{}", errors(&output));

        let full = std::fs::File::options().write(true).open("/dev/full").expect("/dev/full");
        let output = lanecrypt(arguments).stdout(full).stderr(Stdio::piped()).output();
        assert_one_line(&output.expect("it ends"), 1, "No space left");
    }
}
