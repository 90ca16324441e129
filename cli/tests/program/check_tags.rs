//! `lanecrypt check`: messages with tags, codes of authentication, and XTS.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::check::{ask, check};

/// `request` with changes; a change to null takes the field out.
fn changed(request: &Value, changes: &Value) -> Value {
    let mut request = request.clone();
    for (name, value) in changes.as_object().expect("an object") {
        request[name] = value.clone();
    }
    request
}

const TEXT: &str = "98f4826f05a265e6dd2be82db241c0fbbbf9ffb1c173aa83964b7cf5393043736365253ddbc5db87\
    78371495da76d269e5db3e";
const TAG: &str = "291ef1982e4defedaa2249f898556b47";

/// A message of NIST's GCM vectors, with changes.
fn gcm(changes: &Value) -> Value {
    let request = json!({
        "id": 1, "alg": "aes-128-gcm", "op": "seal",
        "key": "fe47fcce5fc32665d2ae399e4eec72ba", "iv": "5adb9609dbaeb58cbd6e7275",
        "aad": "88319d6e1d3ffa5f987199166c8a9b56c2aeba5a",
        "data": "7c0e88c88899a779228465074797cd4c2e1498d259b54390b85e3eef1c02df60e743f1b840382c4b\
            ccaf3bafb4ca8429bea063",
    });
    changed(&request, changes)
}

/// The same message, to be opened.
fn opened(changes: &Value) -> Value {
    let request = gcm(&json!({ "op": "open", "data": format!("{TEXT}{TAG}") }));
    changed(&request, changes)
}

#[test]
fn messages_are_sealed_and_opened() {
    for changes in [
        json!({}),
        json!({ "taglen": 16, "skip": 0, "counter": null }),
        json!({ "chunks": [51] }),
        json!({ "chunks": [0, 1, 16, 17, 17] }),
    ] {
        assert_eq!(ask(&gcm(&changes)), json!({ "id": 1, "out": format!("{TEXT}{TAG}") }));
    }
    let data = gcm(&json!({}))["data"].clone();
    // The tag counts as data or does not.
    for chunks in [json!([]), json!([51]), json!([1, 50]), json!([67]), json!([20, 40, 7])] {
        assert_eq!(ask(&opened(&json!({ "chunks": chunks }))), json!({ "id": 1, "out": data }));
    }
    for bytes in [4, 8, 12, 13, 14, 15] {
        let packet = format!("{TEXT}{}", &TAG[..2 * bytes]);
        assert_eq!(ask(&gcm(&json!({ "taglen": bytes })))["out"], packet);
        let open = opened(&json!({ "taglen": bytes, "data": packet }));
        assert_eq!(ask(&open)["out"], data);
    }
}

#[test]
fn forgeries_are_refused() {
    let forged = [
        json!({ "data": format!("{TEXT}391ef1982e4defedaa2249f898556b47") }),
        json!({ "data": format!("{TEXT}391ef1982e4defedaa2249f898556b47"), "chunks": [51] }),
        json!({ "data": format!("18{}{TAG}", &TEXT[2..]) }),
        json!({ "data": format!("18{}{TAG}", &TEXT[2..]), "chunks": [50, 1] }),
        json!({ "data": &TAG[2..] }),
        json!({ "data": "" }),
        json!({ "data": "", "chunks": [] }),
        json!({ "aad": "" }),
        json!({ "aad": null }),
        json!({ "iv": "5adb9609dbaeb58cbd6e7274" }),
        json!({ "iv": "5adb9609dbaeb58cbd6e" }),
        json!({ "key": "ee47fcce5fc32665d2ae399e4eec72ba" }),
        json!({ "taglen": 15 }),
        json!({ "alg": "chacha20-poly1305", "key": "00".repeat(32) }),
        json!({ "alg": "xchacha20-poly1305", "key": "00".repeat(32), "iv": "00".repeat(24) }),
    ];
    for changes in forged {
        let answer = json!({ "id": 1, "err": "authentication failed" });
        assert_eq!(ask(&opened(&changes)), answer, "{changes}");
    }
}

#[test]
fn what_no_message_has_is_refused() {
    let refused = [
        (json!({ "op": "encrypt" }), "op: aes-128-gcm does not encrypt"),
        (json!({ "op": "mac" }), "op: aes-128-gcm does not mac"),
        (json!({ "op": null }), "op: missing"),
        (json!({ "op": "unseal" }), "op: unknown"),
        (json!({ "key": null }), "key: missing"),
        (json!({ "key": "00".repeat(24) }), "aes-128-gcm: a key of 24 bytes where 16 are needed"),
        (json!({ "iv": null }), "wrong nonce length"),
        (json!({ "iv": "" }), "wrong nonce length"),
        (
            json!({ "alg": "chacha20-poly1305", "key": "00".repeat(32), "iv": "00" }),
            "wrong nonce length",
        ),
        (
            json!({ "alg": "chacha20-poly1305", "key": "00".repeat(32), "taglen": 12 }),
            "wrong tag length",
        ),
        (json!({ "taglen": 0 }), "wrong tag length"),
        (json!({ "taglen": 11 }), "wrong tag length"),
        (json!({ "taglen": 17 }), "wrong tag length"),
        (json!({ "taglen": u64::MAX }), "wrong tag length"),
        (json!({ "taglen": -1 }), "taglen: not a whole number of bytes"),
        (json!({ "taglen": "16" }), "taglen: not a whole number of bytes"),
        (json!({ "taglen": 4, "aad": "00".repeat(1000) }), "wrong data length"),
        (json!({ "skip": 1 }), "skip: aes-128-gcm has none"),
        (json!({ "counter": 1 }), "counter: aes-128-gcm has none"),
        (json!({ "aad": "0" }), "aad: not hexadecimal bytes"),
        (json!({ "aad": 0 }), "aad: not a string"),
        (json!({ "data": null }), "data: missing"),
        (json!({ "chunks": [50] }), "chunks: their sum is not the length of the data"),
        (json!({ "chunks": [u64::MAX, 52] }), "chunks: their sum is not the length of the data"),
        (json!({ "alg": "aes-128-ocb" }), "unsupported"),
    ];
    for (changes, reason) in refused {
        assert_eq!(ask(&gcm(&changes)), json!({ "id": 1, "err": reason }), "{changes}");
    }
    for chunks in [json!([50]), json!([52]), json!([68])] {
        let answer = ask(&opened(&json!({ "chunks": chunks })));
        assert_eq!(answer["err"], "chunks: their sum is not the length of the data");
    }
}

/// RFC 8439, section 2.5.2; RFC 2202 and RFC 4231, "Hi There".
#[test]
fn codes_are_made() {
    let poly = json!({
        "id": "p", "alg": "poly1305", "op": "mac",
        "key": "85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b",
        "data": "43727970746f6772617068696320466f72756d2052657365617263682047726f7570",
    });
    let hmac = |hash: &str| {
        let key = "0b".repeat(20);
        json!({ "id": "h", "alg": hash, "op": "mac", "key": key, "data": "4869205468657265" })
    };
    let codes = [
        (&poly, "a8061dc1305136c6c22b8baf0c0127a9"),
        (&hmac("hmac-sha1"), "b617318655057264e28bc0b6fb378c8ef146be00"),
        (&hmac("hmac-sha256"), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    ];
    for (request, code) in codes {
        let answer = json!({ "id": request["id"], "out": code });
        let len = request["data"].as_str().expect("hex").len() / 2;
        for chunks in [json!([]), json!([len]), json!([1, 0, len - 1]), json!(vec![1; len])] {
            assert_eq!(ask(&changed(request, &json!({ "chunks": chunks }))), answer);
        }
    }
    let refused = [
        (json!({ "key": "00".repeat(31) }), "wrong key length"),
        (json!({ "key": null }), "key: missing"),
        (json!({ "op": "seal" }), "op: poly1305 does not seal"),
        (json!({ "op": "encrypt" }), "op: poly1305 does not encrypt"),
        (json!({ "iv": "00" }), "iv: poly1305 has none"),
        (json!({ "aad": "00" }), "aad: poly1305 has none"),
        (json!({ "skip": 1 }), "skip: poly1305 has none"),
        (json!({ "taglen": 16 }), "taglen: poly1305 has none"),
        (json!({ "data": null }), "data: missing"),
        (json!({ "chunks": [1] }), "chunks: their sum is not the length of the data"),
        (json!({ "alg": "hmac-md5" }), "unsupported"),
    ];
    for (changes, reason) in refused {
        assert_eq!(ask(&changed(&poly, &changes))["err"], reason, "{changes}");
    }
}

/// The second vector of IEEE 1619-2018, annex B.
#[test]
fn sectors_come_whole() {
    let xts = json!({
        "alg": "aes-128-xts", "op": "encrypt", "iv": "33333333330000000000000000000000",
        "key": format!("{}{}", "11".repeat(16), "22".repeat(16)), "data": "44".repeat(32),
    });
    let text = "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0";
    for changes in [json!({}), json!({ "chunks": [32] })] {
        assert_eq!(ask(&changed(&xts, &changes))["out"], text);
    }
    let back = json!({ "op": "decrypt", "data": text });
    assert_eq!(ask(&changed(&xts, &back))["out"], "44".repeat(32));
    let refused = [
        (json!({ "chunks": [16, 16] }), "chunks: aes-128-xts takes one call"),
        (json!({ "chunks": [16] }), "chunks: their sum is not the length of the data"),
        (json!({ "data": "44".repeat(15) }), "wrong data length"),
        (json!({ "iv": "3333333333" }), "wrong nonce length"),
        (json!({ "key": "11".repeat(32) }), "aes-128-xts: weak key"),
        (json!({ "key": "11".repeat(48) }), "aes-128-xts: a key of 48 bytes where 32 are needed"),
        (json!({ "skip": 16 }), "skip: aes-128-xts has none"),
        (json!({ "op": "seal" }), "op: aes-128-xts does not seal"),
    ];
    for (changes, reason) in refused {
        assert_eq!(ask(&changed(&xts, &changes))["err"], reason, "{changes}");
    }
}

/// A refused message has no influence on the next.
#[test]
fn lines_are_answered_one_by_one() {
    let lines = [gcm(&json!({})), opened(&json!({ "aad": "" })), opened(&json!({}))];
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let answers = check(input.as_bytes());
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0]["out"], format!("{TEXT}{TAG}"));
    assert_eq!(answers[1]["err"], "authentication failed");
    assert_eq!(answers[2]["out"], lines[0]["data"]);
}

/// The vectors shared with developers, as anybody's vectors.
#[test]
fn shared_vectors_have_the_right_answers() {
    let folder = std::env::var_os("LANECRYPT_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from);
    for (file, count) in [("aead_mac", 270), ("stream", 406), ("block", 336)] {
        let path = folder.join(format!("vectors/generated/{file}.jsonl"));
        let Ok(text) = std::fs::read_to_string(path) else {
            // Past the test harness, which swallows only what `print!` writes.
            let line = b"\nSKIPPED shared-vectors: set LANECRYPT_SHARED to their folder\n";
            std::io::stdout().lock().write_all(line).expect("stdout takes a line");
            return;
        };
        let (mut requests, mut expected) = (String::new(), Vec::new());
        for line in text.lines() {
            let vector: Value = serde_json::from_str(line).expect("JSON");
            let mut ask = |changes: Value, answer: Value| {
                requests += &format!("{}\n", changed(&vector, &changes));
                expected.push(answer);
            };
            let [plain, text] = ["pt", "ct"].map(|name| &vector[name]);
            if vector["mac"].is_string() {
                ask(json!({ "op": "mac", "data": vector["msg"] }), json!({ "out": vector["mac"] }));
            } else if let Some(tag) = vector["tag"].as_str() {
                let packet = format!("{}{tag}", text.as_str().expect("hex"));
                let open = json!({ "op": "open", "data": packet });
                if plain.is_null() {
                    ask(open, json!({ "err": "authentication failed" }));
                } else {
                    ask(open, json!({ "out": plain }));
                    ask(json!({ "op": "seal", "data": plain }), json!({ "out": packet }));
                }
            } else {
                ask(json!({ "op": "encrypt", "data": plain }), json!({ "out": text }));
            }
        }
        let mut answers = check(requests.as_bytes());
        for answer in &mut answers {
            answer.as_object_mut().expect("an object").remove("id");
        }
        assert_eq!((answers.len(), answers == expected), (count, true), "{file}");
    }
}
