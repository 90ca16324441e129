//! Columns as a row repeats them.
//!
//! Before and after a row is timed, its cells are compared with the portable kernel's under their
//! nonces, cells that the portable kernel has made are decrypted, and damaged ones must be refused.
//! Each batch has other values and other nonces.

use lanecrypt_ciphers::{DeterministicAesSiv, Isa};
use lanecrypt_columns::{Column, ColumnKey, Layout, Options};
use lanecrypt_peers::{Aead, Direction, Failed};

use super::{ROWS, Subject, peer_loop};
use crate::ciphers::{CipherUnderTest, known, sessions};
use crate::row::{Arena, Workload};
use crate::verify::Defect;

/// Bytes of a nonce, and of a tag.
const NONCE: usize = 12;
const TAG: usize = 16;

/// What makes cells of values, or values of cells.
pub(super) enum Maker {
    Ours,
    /// A loop over another's calls for one value.
    Loop(Box<CipherUnderTest<dyn Aead>>),
}

enum Worker {
    Ours(ColumnKey),
    Loop { sealer: Box<dyn Aead>, opener: Box<dyn Aead> },
}

/// A column, encrypted or decrypted again and again.
pub(super) struct Values {
    worker: Worker,
    subject: Subject,
    direction: Direction,
    size: usize,
    key: Vec<u8>,
    /// What is encrypted or decrypted, and where its values begin and end.
    input: Vec<u8>,
    offsets: Vec<i32>,
    /// The last column that came out.
    output: Vec<u8>,
}

impl Values {
    pub(super) fn new(
        maker: &Maker,
        subject: Subject,
        direction: Direction,
        size: usize,
    ) -> Option<Self> {
        let key = sessions::keys(subject.algorithm, 1)?.pop()?;
        let worker = match maker {
            Maker::Ours => Worker::Ours(ColumnKey::new(subject.layout, &key).ok()?),
            Maker::Loop(candidate) => Worker::Loop {
                sealer: candidate.open(Direction::Encrypt, &[&key])?,
                opener: candidate.open(Direction::Decrypt, &[&key])?,
            },
        };
        let width = match direction {
            Direction::Encrypt => size,
            Direction::Decrypt => size + subject.layout.overhead(),
        };
        let offsets = offsets(width)?;
        let input = vec![0; ROWS * width];
        Some(Self { worker, subject, direction, size, key, input, offsets, output: Vec::new() })
    }

    /// One column.
    fn column(&mut self) -> Result<(), Failed> {
        let Self { worker, subject, direction, size, input, offsets, .. } = self;
        self.output = worker.run(*direction, subject.layout, input, offsets, *size)?;
        Ok(())
    }

    /// Other values to encrypt, or cells of other values to decrypt.
    fn renew(&mut self) -> Result<(), Failed> {
        match self.direction {
            Direction::Encrypt => lanecrypt_random::fill(&mut self.input),
            Direction::Decrypt => {
                let Self { worker, subject, size, key, input, .. } = self;
                for cell in input.chunks_exact_mut(*size + subject.layout.overhead()) {
                    lanecrypt_random::fill(cell);
                    worker.seal(*subject, Isa::detect(), key, cell)?;
                }
            }
        }
        Ok(())
    }

    /// Whether its cells are those of the portable kernel, it decrypts such cells, and refuses
    /// others.
    fn checked(&mut self) -> Result<(), Defect> {
        let Self { worker, subject, size, key, .. } = self;
        let layout = subject.layout;
        let (width, before) = (*size + layout.overhead(), layout.overhead() - TAG);
        let mut values = vec![0; ROWS * *size];
        lanecrypt_random::fill(&mut values);
        let plain = offsets(*size).ok_or(Defect::Failed)?;
        let sealed = offsets(width).ok_or(Defect::Failed)?;

        let mut cells = worker.run(Direction::Encrypt, layout, &values, &plain, *size)?;
        if cells.len() != ROWS * width {
            return Err(Defect::Answer);
        }
        // Of a cell without a nonce, the tag.
        let mut nonces: Vec<&[u8]> = cells.chunks_exact(width).map(|cell| &cell[..NONCE]).collect();
        nonces.sort_unstable();
        if nonces.windows(2).any(|two| two[0] == two[1]) {
            return Err(Defect::Repeats);
        }
        let mut expected = cells.clone();
        for (cell, value) in expected.chunks_exact_mut(width).zip(values.chunks_exact(*size)) {
            data_of(layout, cell).copy_from_slice(value);
            worker.seal(*subject, Isa::PORTABLE, key, cell)?;
        }
        if cells != expected {
            return Err(Defect::Answer);
        }
        let opened = worker.run(Direction::Decrypt, layout, &cells, &sealed, *size);
        if opened.or(Err(Defect::RejectReason))? != values {
            return Err(Defect::Answer);
        }
        for (place, byte) in
            [(0, 3), (1, before), (ROWS / 2, before + *size - 1), (ROWS - 1, width - 1)]
        {
            let byte = &mut cells[place * width + byte];
            *byte ^= 0x20;
            let outcome = worker.run(Direction::Decrypt, layout, &cells, &sealed, *size);
            if outcome.is_ok() {
                return Err(Defect::Forgery);
            }
            cells.clone_from(&expected);
        }
        Ok(())
    }
}

impl Worker {
    fn run(
        &mut self,
        direction: Direction,
        layout: Layout,
        input: &[u8],
        offsets: &[i32],
        size: usize,
    ) -> Result<Vec<u8>, Failed> {
        let column = Column::binary(offsets, input);
        match (self, direction) {
            (Self::Ours(key), Direction::Encrypt) => {
                Ok(key.encrypt(&column, &Options::new()).or(Err(Failed))?.data)
            }
            (Self::Ours(key), Direction::Decrypt) => {
                Ok(key.decrypt(&column, &Options::new()).or(Err(Failed))?.data)
            }
            (Self::Loop { sealer, .. }, Direction::Encrypt) => {
                peer_loop::encrypt(sealer.as_mut(), layout, input, size)
            }
            (Self::Loop { opener, .. }, Direction::Decrypt) => {
                peer_loop::decrypt(opener.as_mut(), layout, input, size)
            }
        }
    }

    /// Makes a cell of a nonce, if it has one, a value, and room for the tag: one of this worker's.
    fn seal(&self, subject: Subject, isa: Isa, key: &[u8], cell: &mut [u8]) -> Result<(), Failed> {
        let Subject { layout, algorithm, .. } = subject;
        match (layout, self) {
            (Layout::Deterministic, Self::Ours(_)) => {
                let cipher = DeterministicAesSiv::with_isa(isa, key).or(Err(Failed))?;
                cipher.seal(&[], cell).or(Err(Failed))
            }
            (Layout::Deterministic, Self::Loop { .. }) => {
                let (tag, data) = cell.split_first_chunk_mut::<TAG>().ok_or(Failed)?;
                *tag = known::seal(algorithm, isa, key, &peer_loop::SAME, &[], data)?;
                Ok(())
            }
            _ => {
                let (nonce, sealed) = cell.split_at_mut(NONCE);
                let (data, tag) = sealed.split_last_chunk_mut::<TAG>().ok_or(Failed)?;
                *tag = known::seal(algorithm, isa, key, nonce, &[], data)?;
                Ok(())
            }
        }
    }
}

/// The offsets of values of `width` bytes.
fn offsets(width: usize) -> Option<Vec<i32>> {
    (0..=ROWS).map(|row| i32::try_from(row * width).ok()).collect()
}

/// The value in a cell.
fn data_of(layout: Layout, cell: &mut [u8]) -> &mut [u8] {
    let before = if layout == Layout::Deterministic { TAG } else { NONCE };
    let size = cell.len() - layout.overhead();
    &mut cell[before..before + size]
}

impl Workload for Values {
    fn begin(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        Ok(self.renew()?)
    }

    fn run(&mut self, _arena: &mut Arena, requests: usize) {
        for _ in 0..requests / ROWS {
            assert!(
                self.column().is_ok(),
                "{} failed while it was measured",
                self.subject.algorithm
            );
        }
    }

    fn digest(&mut self, _arena: &mut Arena) -> u64 {
        sessions::digest(&self.output)
    }

    fn check(&mut self, _arena: &mut Arena) -> Result<Vec<u8>, Defect> {
        self.checked()?;
        // Threads must not draw the same nonces.
        self.renew()?;
        self.column()?;
        Ok(self.output[..self.size.min(NONCE)].to_vec())
    }

    fn check_again(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        self.checked()
    }
}
