//! `lanecrypt speed device`: it starts its own daemons and clients.

use crate::support::{errors, lanecrypt, run, shell};

#[test]
fn a_short_run_starts_its_daemons() {
    let only = "device/lanecrypt/device/null/process/64/d1/*/same-sleep";
    let arguments = ["speed", "device", "--quick", "--budget", "5s", "--only", only, "--json", "-"];
    let output = run(lanecrypt(&arguments), b"");
    assert!(output.status.success(), "{}", errors(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let points = json["points"].as_array().expect("points");
    assert_eq!(points.len(), 2, "{json}");
    for (point, processes) in points.iter().zip([1, 4]) {
        assert_eq!((&point["placement"], &point["wait"]), (&"same".into(), &"sleep".into()));
        assert_eq!((&point["table"], &point["api"]), (&"device".into(), &"device".into()));
        assert_eq!(point["processes"], processes, "{point}");
        assert!(point["verified"] == true && point["per_second"].as_f64() > Some(0.0), "{point}");
        assert!(point.get("threads").is_none(), "absent where it does not apply: {point}");
    }
}

#[test]
fn a_daemon_that_runs_is_measured() {
    let output = shell(
        "folder=$(mktemp -d) && trap 'kill $daemon; rm -r $folder' EXIT
        \"$lanecrypt\" serve --allow-null --socket \"$folder/s\" & daemon=$!
        while [ ! -S \"$folder/s\" ]; do sleep 0.02; done
        \"$lanecrypt\" speed device --budget 1s --device-socket \"$folder/s\" \
            --only 'device/lanecrypt/device/aes-128-gcm/*/64/d1/p1/*'",
    );
    assert!(output.status.success(), "{}", errors(&output));
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains("aes-128-gcm seal, one process"), "{text}");
}
