//! `lanecrypt check`: RSA.

use serde_json::{Value, json};

use crate::check::{ask, check};

/// The built-in vectors, with their keys.
const FILE: &str = include_str!("../../vectors/rsa.jsonl");

fn lines() -> Vec<Value> {
    let lines = FILE.lines().skip(1);
    lines.map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// The key of this name: an object of its numbers.
fn key(lines: &[Value], name: &str) -> Value {
    let line = lines.iter().find(|line| line["name"] == name).expect("a key");
    let mut key = line.clone();
    key.as_object_mut().expect("an object").remove("name");
    key
}

/// A vector of a short generated key as a request, with changes; and the answer.
fn example(alg: &str, changes: &Value) -> (Value, Value) {
    let lines = lines();
    let is_it = |line: &&Value| {
        let name = line["key"].as_str().unwrap_or_default();
        line["alg"] == alg && !line["out"].is_null() && !name.contains("-512-")
    };
    let line = lines.iter().find(is_it).expect("a vector");
    let mut request = json!({
        "id": 1, "alg": alg, "op": "sign", "data": line["inp"], "salt": line["salt"],
        "key": key(&lines, line["key"].as_str().expect("a name")),
    });
    for (name, value) in changes.as_object().expect("an object") {
        request[name] = value.clone();
    }
    (request, line["out"].clone())
}

const ALGORITHMS: [&str; 5] = [
    "rsa-raw-private",
    "rsa-pkcs1v15-sign-sha1",
    "rsa-pkcs1v15-sign-sha256",
    "rsa-pkcs1v15-sign-sha512",
    "rsa-pss-sha1",
];

#[test]
fn vectors_with_and_without_crt_are_answered_and_too_large_numbers_refused() {
    let lines = lines();
    let is_short = |line: &&Value| {
        let name = line["key"].as_str().unwrap_or_default();
        ["-512-", "-768-", "-1024-"].iter().any(|size| name.contains(size))
    };
    let (mut input, mut expected) = (String::new(), Vec::new());
    for line in lines.iter().filter(is_short) {
        for crt in [true, false] {
            let key = key(&lines, line["key"].as_str().expect("a name"));
            let request = json!({
                "id": expected.len(), "alg": line["alg"], "op": "sign", "data": line["inp"],
                "salt": line["salt"], "key": key, "crt": crt,
            });
            input += &format!("{request}\n");
            expected.push(line["out"].clone());
        }
    }
    assert!(expected.len() > 200 && expected.contains(&Value::Null));
    let answers = check(input.as_bytes());
    assert_eq!(answers.len(), expected.len());
    for (answer, expected) in answers.iter().zip(&expected) {
        assert_eq!(&answer["out"], expected, "{answer}");
        assert_eq!(answer["err"].is_string(), expected.is_null(), "{answer}");
        assert_ne!(answer["err"], "unsupported");
    }
}

#[test]
fn primes_may_be_missing_and_are_recovered_if_asked_for() {
    for crt in [json!(null), json!(true), json!(false)] {
        let (mut request, out) = example("rsa-pkcs1v15-sign-sha256", &json!({ "crt": crt }));
        for name in ["p", "q", "dp", "dq", "qinv"] {
            request["key"].as_object_mut().expect("an object").remove(name);
        }
        assert_eq!(ask(&request), json!({ "id": 1, "out": out }), "{crt}");
    }
}

#[test]
fn signatures_are_verified() {
    for alg in &ALGORITHMS[1..] {
        let (mut request, out) = example(alg, &json!({ "op": "verify" }));
        request["sig"] = out.clone();
        // A public key is enough.
        let all = request["key"].clone();
        request["key"] = json!({ "n": all["n"], "e": all["e"] });
        assert_eq!(ask(&request), json!({ "id": 1, "out": "" }), "{alg}");
        let text = out.as_str().expect("hexadecimal");
        let digit = if text.starts_with('0') { "1" } else { "0" };
        request["sig"] = json!(format!("{digit}{}", &text[1..]));
        assert!(ask(&request)["err"].is_string(), "{alg}");
        request["sig"] = out;
        request["data"] = json!("00");
        assert_eq!(ask(&request)["err"], "wrong signature", "{alg}");
    }
}

#[test]
fn a_random_salt_gives_another_signature_that_is_right() {
    let (request, _) = example("rsa-pss-sha1", &json!({ "alg": "rsa-pss-sha256", "salt": null }));
    let [first, second] = [ask(&request), ask(&request)];
    assert!(first["out"].is_string(), "{first}");
    assert_ne!(first["out"], second["out"]);
    for answer in [first, second] {
        let mut verify = request.clone();
        verify["op"] = json!("verify");
        verify["sig"] = answer["out"].clone();
        assert_eq!(ask(&verify)["out"], "");
        verify["salt"] = json!("00");
        assert_eq!(ask(&verify)["err"], "wrong signature", "a salt of another length");
    }
}

#[test]
fn nonsense_is_refused_with_a_reason() {
    let refused = [
        (json!({ "op": "encrypt" }), "does not encrypt"),
        (json!({ "op": "verify" }), "sig: missing"),
        (json!({ "key": "00" }), "key: not an object"),
        (json!({ "key": { "n": "10001" } }), "key: e: missing"),
        (json!({ "key": { "n": "10001", "e": "3", "d": "x" } }), "key: d: not a hexadecimal"),
        (json!({ "key": { "n": "10001", "e": "3", "d": "3" } }), "key: unsupported key size"),
        (json!({ "key": null }), "key: missing"),
        (json!({ "data": null }), "data: missing"),
        (json!({ "crt": 1 }), "crt: not true or false"),
        (json!({ "salt": "00" }), "salt: "),
        (json!({ "iv": "00" }), "iv: "),
        (json!({ "skip": 1 }), "skip: "),
        (json!({ "chunks": [1] }), "chunks: "),
    ];
    for (changes, reason) in refused {
        let (request, _) = example("rsa-pkcs1v15-sign-sha256", &changes);
        let answer = ask(&request);
        assert!(
            answer["err"].as_str().is_some_and(|err| err.contains(reason)),
            "{changes} {answer}"
        );
    }
    let (request, _) = example("rsa-raw-private", &json!({ "op": "verify", "sig": "00" }));
    assert!(ask(&request)["err"].as_str().is_some_and(|err| err.contains("does not verify")));
    for alg in ["rsa-pss-md5", "rsa-oaep", "rsa-", "rsa-pkcs1v15-"] {
        let (mut request, _) = example("rsa-pss-sha1", &json!({}));
        request["alg"] = json!(alg);
        assert_eq!(ask(&request)["err"], "unsupported", "{alg}");
    }
}
