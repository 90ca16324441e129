//! Which file becomes which.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::{self, IsTerminal as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::Direction;
use crate::exit;

/// What the names of encrypted files end with.
const SUFFIX: &[u8] = b".lanecrypt";

/// What to read.
pub(super) enum Input {
    Standard,
    File(PathBuf),
}

impl Input {
    /// As messages call it.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Standard => String::from("standard input"),
            Self::File(path) => path.display().to_string(),
        }
    }
}

/// What to write.
#[derive(PartialEq, Eq)]
pub(super) enum Output {
    Standard,
    File(PathBuf),
}

/// A file to encrypt or decrypt.
pub(super) struct Job {
    pub(super) input: Input,
    pub(super) output: Output,
    /// Whether the user has named the output.
    pub(super) is_named: bool,
}

impl Job {
    /// Checks that the standard streams that it needs are there.
    pub(super) fn streams_are_open(&self) -> Result<(), ExitCode> {
        if matches!(self.input, Input::Standard) {
            exit::needs_input()?;
        }
        if self.output == Output::Standard {
            exit::needs_output()?;
        }
        Ok(())
    }
}

/// What is to be done, or why one of it cannot be.
///
/// # Errors
///
/// Arguments that say nothing that could be done.
pub(super) fn jobs(
    files: &[PathBuf],
    output: Option<&Path>,
    direction: Direction,
) -> Result<Vec<Result<Job, String>>, String> {
    let standard = [PathBuf::from("-")];
    let files = if files.is_empty() { &standard } else { files };
    let is_standard = |path: &Path| path.as_os_str() == "-";
    if files.iter().filter(|path| is_standard(path)).count() > 1 {
        return Err(String::from("standard input can be read once"));
    }
    let folder = output.filter(|path| path.is_dir());
    if files.len() > 1 && output.is_some() && folder.is_none() {
        return Err(String::from("--output: several files need a folder that exists"));
    }
    let is_named = output.is_some();
    let mut made = HashSet::new();
    let jobs: Vec<_> = files
        .iter()
        .map(|file| {
            let at = file.display();
            let input = match is_standard(file) {
                true => Input::Standard,
                false => Input::File(file.clone()),
            };
            let output = match (output, folder) {
                (Some(path), None) if is_standard(path) => Output::Standard,
                (Some(path), None) => Output::File(path.to_owned()),
                (None, _) if is_standard(file) => Output::Standard,
                (_, folder) => {
                    let name = named(file, direction).map_err(|why| format!("{at}: {why}"))?;
                    Output::File(match folder {
                        Some(folder) => folder.join(name),
                        None => file.with_file_name(name),
                    })
                }
            };
            if let Output::File(path) = &output
                && !made.insert(path.clone())
            {
                return Err(format!("{at}: another file becomes {}, too", path.display()));
            }
            Ok(Job { input, output, is_named })
        })
        .collect();
    refuse_terminals(&jobs, direction)?;
    Ok(jobs)
}

/// The name of what a file becomes.
fn named(file: &Path, direction: Direction) -> Result<PathBuf, &'static str> {
    if file.is_dir() {
        return Err("is a folder; name its files, or pipe an archive of it: tar c FOLDER | ...");
    }
    let name = file.file_name().map(OsStr::as_bytes).ok_or("has no name")?;
    let name = match direction {
        Direction::Encrypt(_) => [name, SUFFIX].concat(),
        Direction::Decrypt => match name.strip_suffix(SUFFIX) {
            None | Some(b"") => {
                return Err("does not end with .lanecrypt; name the output with --output");
            }
            Some(name) => name.to_vec(),
        },
    };
    Ok(std::ffi::OsString::from_vec(name).into())
}

/// Ciphertext is nothing for a terminal to show, nor for people to type.
fn refuse_terminals(jobs: &[Result<Job, String>], direction: Direction) -> Result<(), String> {
    for job in jobs.iter().flatten() {
        match direction {
            Direction::Encrypt(_)
                if job.output == Output::Standard && io::stdout().is_terminal() =>
            {
                return Err(String::from(
                    "ciphertext is not for terminals; use --output or a pipe",
                ));
            }
            Direction::Decrypt
                if matches!(job.input, Input::Standard) && io::stdin().is_terminal() =>
            {
                return Err(String::from("no FILE, and standard input is a terminal"));
            }
            _ => {}
        }
    }
    Ok(())
}
