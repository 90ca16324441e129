//! Every operation at every level against an independent implementation.

use inout::InOutBuf;

use super::counter;
use super::reference::{Keyed, Operation, expected, keyed};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases};

/// Bytes around a buffer that must stay as they are.
const GUARD: u8 = 0x5a;

/// A request: what goes in, and what must come out.
struct Case {
    operation: Operation,
    key: Vec<u8>,
    iv: [u8; 16],
    input: Vec<u8>,
    output: Vec<u8>,
    /// Bytes between an aligned address and the buffers.
    offset: usize,
    /// Bytes of the first requests, when the data go in pieces.
    pieces: Vec<usize>,
}

impl Case {
    /// One of `length` bytes, or of as many whole blocks as they hold.
    fn new(numbers: &mut Numbers, operation: Operation, length: usize, offset: usize) -> Self {
        let whole = if operation.of_blocks() { length - length % 16 } else { length };
        let size = [16, 24, 32][numbers.below(3)];
        let key = numbers.bytes(size);
        let iv = counter(numbers);
        let input = numbers.bytes(whole);
        let output = expected(operation, &key, &iv, &input);
        let pieces = (0..3).map(|_| 16 * numbers.below(whole / 16 + 1)).collect();
        Self { operation, key, iv, input, output, offset, pieces }
    }

    /// At every level: apart, in place, and in pieces.
    fn check(&self) {
        for isa in levels() {
            let kernels = keyed(isa, &self.key);
            let context = format!("{self}, {}", isa.level());
            self.apart(kernels.as_ref(), &context);
            self.in_place(kernels.as_ref(), &context);
            self.in_pieces(kernels.as_ref(), &context);
        }
    }

    fn apart(&self, kernels: &dyn Keyed, context: &str) {
        let (mut buffer, at) = self.buffer();
        let input_offset = (self.offset * 7 + 3) % 64;
        let mut input = vec![GUARD; input_offset];
        input.extend(&self.input);
        let mut iv = self.iv;
        let data = InOutBuf::new(&input[input_offset..], &mut buffer[at.clone()]).expect("as long");
        kernels.run(self.operation, &mut iv, data);
        self.verify(&buffer, at.clone(), &iv, &format!("apart, {context}"));

        buffer.fill(GUARD);
        iv = self.iv;
        let data = InOutBuf::new(&input[input_offset..], &mut buffer[at.clone()]).expect("as long");
        if kernels.run_forward(self.operation, &mut iv, data) {
            self.verify(&buffer, at, &iv, &format!("by the forward schedule, {context}"));
        }
    }

    fn in_place(&self, kernels: &dyn Keyed, context: &str) {
        let (mut buffer, at) = self.buffer();
        buffer[at.clone()].copy_from_slice(&self.input);
        let mut iv = self.iv;
        kernels.run(self.operation, &mut iv, (&mut buffer[at.clone()]).into());
        self.verify(&buffer, at, &iv, &format!("in place, {context}"));
    }

    fn in_pieces(&self, kernels: &dyn Keyed, context: &str) {
        let (mut buffer, at) = self.buffer();
        buffer[at.clone()].copy_from_slice(&self.input);
        let mut iv = self.iv;
        let mut rest: InOutBuf<'_, '_, u8> = (&mut buffer[at.clone()]).into();
        for &piece in &self.pieces {
            let count = piece.min(rest.len() / 16 * 16);
            let (part, others) = rest.split_at(count);
            kernels.run(self.operation, &mut iv, part);
            rest = others;
        }
        kernels.run(self.operation, &mut iv, rest);
        self.verify(&buffer, at, &iv, &format!("in pieces {:?}, {context}", self.pieces));
    }

    /// A buffer with guards on both sides of the place for the data.
    fn buffer(&self) -> (Vec<u8>, core::ops::Range<usize>) {
        let buffer = vec![GUARD; 64 + self.offset + self.input.len() + 70];
        let start = buffer.as_ptr().align_offset(64) + self.offset;
        (buffer, start..start + self.input.len())
    }

    fn verify(&self, buffer: &[u8], at: core::ops::Range<usize>, iv: &[u8; 16], context: &str) {
        assert!(buffer[at.clone()] == self.output, "{context}");
        let mut around = buffer[..at.start].iter().chain(&buffer[at.end..]);
        assert!(around.all(|&byte| byte == GUARD), "bytes around changed, {context}");
        let after = self.operation.iv_after(&self.iv, &self.input, &self.output);
        assert_eq!(*iv, after, "IV, {context}");
    }
}

impl core::fmt::Display for Case {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (bits, bytes) = (8 * self.key.len(), self.input.len());
        write!(
            f,
            "{:?} of AES-{bits}, {bytes} bytes at {}, {:02x?}",
            self.operation, self.offset, self.iv
        )
    }
}

#[test]
fn every_short_length() {
    let mut numbers = Numbers(1);
    for length in 0..=1100 {
        let offset = numbers.below(64);
        for operation in Operation::ALL {
            // Whole blocks once, and not for each length that has as many.
            if length % 16 == 0 || !operation.of_blocks() {
                Case::new(&mut numbers, operation, length, offset).check();
            }
        }
    }
}

#[test]
fn lengths_around_the_edges_of_every_width() {
    let mut numbers = Numbers(2);
    for width in [128, 256, 512] {
        for edge in (width..=4096).step_by(width).skip_while(|&edge| edge < 1100) {
            for operation in Operation::ALL {
                let near = if operation.of_blocks() { 16 } else { 1 };
                for length in [edge - near, edge, edge + near] {
                    Case::new(&mut numbers, operation, length, 1).check();
                }
            }
        }
    }
}

#[test]
fn every_offset() {
    let mut numbers = Numbers(3);
    for offset in 0..64 {
        for operation in Operation::ALL {
            let length = 16 * numbers.below(70);
            Case::new(&mut numbers, operation, length, offset).check();
        }
    }
}

#[test]
fn random_cases() {
    let mut numbers = Numbers(4);
    for _ in 0..cases(2000) {
        let most = [20, 70, 300, 1200, 4200][numbers.below(5)];
        let (length, offset) = (numbers.below(most), numbers.below(64));
        let operation = Operation::ALL[numbers.below(6)];
        Case::new(&mut numbers, operation, length, offset).check();
    }
}

#[test]
fn long_requests() {
    let mut numbers = Numbers(5);
    for _ in 0..cases(60) / 4 {
        for operation in Operation::ALL {
            // From below to well past the length where counter mode changes its method.
            let length = 16_000 + numbers.below(12_000);
            Case::new(&mut numbers, operation, length, 3).check();
        }
    }
}

#[test]
fn counters_wrap_as_a_whole_at_every_place() {
    let mut numbers = Numbers(6);
    for before in 0..=40_u128 {
        for first in [0_u128.wrapping_sub(before), (7_u128 << 64) - before] {
            for operation in [Operation::Ctr, Operation::Keystream] {
                let length = 600 + numbers.below(90);
                let mut case = Case::new(&mut numbers, operation, length, 5);
                case.iv = first.to_be_bytes();
                case.output = expected(operation, &case.key, &case.iv, &case.input);
                case.check();
            }
        }
    }
}
