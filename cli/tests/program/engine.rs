//! `lanecrypt speed engine`: a short run, as text and as JSON.

use crate::support::{assert_one_line, errors, lanecrypt, run};

/// The null cipher of one size, one request in flight, one client.
const ONLY: &str = "engine/*/null/process/1024/d1/t1";

#[test]
fn a_short_run_as_json() {
    let arguments = ["speed", "engine", "--budget", "5s", "--only", ONLY, "--json", "-"];
    let output = run(lanecrypt(&arguments), b"");
    assert!(output.status.success(), "{}", errors(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["schema"], 2);
    let points = json["points"].as_array().expect("points");
    for api in ["session", "process", "local-queue"] {
        let point = points.iter().find(|point| point["api"] == api);
        let point = point.unwrap_or_else(|| panic!("no {api} in {json}"));
        assert_eq!((&point["table"], &point["op"]), (&"engine".into(), &"process".into()));
        assert_eq!((&point["subject"], &point["driver"]), (&"null".into(), &"software".into()));
        let numbers = ["size", "depth", "threads"].map(|key| point[key].as_u64());
        assert_eq!(numbers, [Some(1024), Some(1), Some(1)], "{point}");
        assert!(point["verified"] == true && point["per_second"].as_f64() > Some(0.0), "{point}");
        assert!(point.get("p50_ns").is_none(), "absent where it does not apply: {point}");
    }
}

#[test]
fn a_short_run_as_text_and_patterns_that_fit_nothing() {
    let output = run(lanecrypt(&["speed", "engine", "--budget", "5s", "--only", ONLY]), b"");
    assert!(output.status.success(), "{}", errors(&output));
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(
        text.contains("null process, driver software") && text.contains("local-queue"),
        "{text}"
    );
    // An id that there is shows how they look, if possible one that has what was asked for.
    for (only, part) in [("engine/*/d3/t1", "engine/"), ("aes-128-cbc", "/aes-128-cbc/")] {
        let output = run(lanecrypt(&["speed", "engine", "--only", only]), b"");
        assert_one_line(&output, 2, "no point's id fits");
        let said = errors(&output);
        let id = said.split("an id is ").nth(1).and_then(|rest| rest.split(',').next());
        assert!(id.is_some_and(|id| id.contains(part)), "{only}: {said}");
    }
}
