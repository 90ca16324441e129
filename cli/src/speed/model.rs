//! `lanecrypt speed engine --model`: would a card help?

use core::fmt::Display;
use core::str::FromStr;
use std::fs::File;
use std::io::Read as _;
use std::process::ExitCode;

use lanecrypt_accelerators::model::{Card, Host};
use lanecrypt_speed::card_report;

use crate::exit;

/// The host that is taken unless the user names another one.
const USUAL_HOST: &str = "host-2026";

/// The longest description in bytes.
const LONGEST: u64 = 1 << 20;

/// Prints the report. The exit code is 2 if a description is not good.
pub(super) fn run(card: &str, host: Option<&str>) -> ExitCode {
    let card = read(card, Card::built_in, &Card::BUILT_IN);
    let host = read(host.unwrap_or(USUAL_HOST), Host::built_in, &Host::BUILT_IN);
    match card.and_then(|card| Ok((card, host?))) {
        Ok((card, host)) => exit::print(&card_report(&card, &host)),
        Err(reason) => exit::bad_arguments(&reason),
    }
}

/// Reads a description: a file, or one that is built in.
fn read<T: FromStr<Err: Display>>(
    name: &str,
    built_in: fn(&str) -> Option<T>,
    names: &[&str],
) -> Result<T, String> {
    if let Some(known) = built_in(name) {
        return Ok(known);
    }
    let reason =
        |error: std::io::Error| format!("{name}: {error}; built in are {}", names.join(", "));
    let mut text = Vec::new();
    let file = File::open(name).map_err(reason)?;
    file.take(LONGEST + 1).read_to_end(&mut text).map_err(reason)?;
    if text.len() as u64 > LONGEST {
        return Err(format!("{name}: longer than {LONGEST} bytes"));
    }
    let text = String::from_utf8(text).map_err(|_| format!("{name}: not UTF-8"))?;
    text.parse().map_err(|error| format!("{name}: {error}"))
}
