//! Any text as the daemon's file of settings.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../cli/src/serve/any_settings.rs"]
mod any_settings;
#[path = "../../cli/src/serve/escape.rs"]
#[expect(dead_code, reason = "the log uses it")]
mod escape;
#[path = "../../cli/src/serve/hidden.rs"]
mod hidden;
#[path = "../../cli/src/serve/written.rs"]
#[expect(dead_code, reason = "reading keys uses it")]
mod written;

fuzz_target!(|input: &[u8]| any_settings::any_settings(input));
