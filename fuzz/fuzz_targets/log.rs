//! Any text in an event of the daemon's log.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../cli/src/serve/any_event.rs"]
mod any_event;
#[path = "../../cli/src/serve/escape.rs"]
#[expect(dead_code, reason = "settings use it")]
mod escape;
#[path = "../../cli/src/serve/hidden.rs"]
mod hidden;
#[path = "../../cli/src/serve/log.rs"]
#[expect(dead_code, reason = "the daemon writes the lines")]
mod log;

fuzz_target!(|input: &[u8]| any_event::any_event(input));
