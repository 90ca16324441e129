//! What is read.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::fd::AsFd as _;

use super::plan::Input;
use crate::patient::Patient;

/// Standard input, or an open file.
pub(super) struct Source {
    file: Patient,
    /// Of a file that was named.
    meta: Option<Metadata>,
}

impl Source {
    pub(super) fn open(input: &Input) -> Result<Self, String> {
        let to_text = |error: io::Error| error.to_string();
        match input {
            Input::Standard => {
                let file = io::stdin().as_fd().try_clone_to_owned().map_err(to_text)?;
                Ok(Self { file: Patient(file.into()), meta: None })
            }
            Input::File(path) => {
                let file = File::open(path).map_err(to_text)?;
                let meta = file.metadata().map_err(to_text)?;
                if meta.is_dir() {
                    return Err(String::from("is a folder"));
                }
                Ok(Self { file: Patient(file), meta: Some(meta) })
            }
        }
    }

    pub(super) fn is_regular(&self) -> bool {
        self.regular().is_some()
    }

    /// What the system says of a regular file that was named.
    pub(super) fn regular(&self) -> Option<&Metadata> {
        self.meta.as_ref().filter(|meta| meta.is_file())
    }

    pub(super) fn length(&self) -> Option<u64> {
        self.regular().map(Metadata::len)
    }
}

impl Read for Source {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.file.read(out)
    }
}
