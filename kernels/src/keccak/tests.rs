//! The sponges against published digests and the permutation of one column, at every level.

use super::*;
use crate::mlkem::tests::each_kernel;

/// Permutes the first column only.
struct One;

impl Permutation for One {
    fn columns(_: usize) -> usize {
        1
    }

    fn permute(state: &mut State, _: usize) {
        permute_one(state);
    }

    fn absorb(state: &mut State, _: usize, blocks: &[Block; 8], kept: &[u64; 8]) {
        absorb_one(state, blocks, kept);
    }

    fn squeeze(state: &State, _: usize, blocks: &mut [Block; 8]) {
        squeeze_one(state, blocks);
    }
}

/// The first bytes of blocks of SHAKE128.
struct Collect<'a>(&'a mut Vec<u8>, usize);

impl Blocks for Collect<'_> {
    fn take(&mut self, block: &[u8; 168]) -> bool {
        self.0.extend(block);
        self.0.len() >= self.1
    }
}

const FUNCTIONS: [Function; 4] =
    [Function::Sha3_256, Function::Sha3_512, Function::Shake128, Function::Shake256];

/// Digests of messages, and two to four blocks of those of SHAKE128.
fn digests<P: Permutation>(columns: usize, messages: &[(Function, Vec<u8>)]) -> Vec<Vec<u8>> {
    let length = |function| match function {
        Function::Sha3_512 => 64,
        Function::Shake128 => 0,
        _ => 32,
    };
    let mut digests: Vec<_> =
        messages.iter().map(|(function, _)| vec![0; length(*function)]).collect();
    let mut jobs = messages.iter().zip(&mut digests).map(|((function, bytes), out)| {
        let (head, tail) = bytes.split_at(bytes.len() * (bytes.len() % 5) / 4);
        let output = match function {
            Function::Shake128 => Output::Blocks(Collect(out, 168 * (2 + bytes.len() % 3))),
            _ => Output::Bytes(out),
        };
        Message { function: *function, head, tail, output }
    });
    run::<P, _>(columns, &mut jobs);
    digests
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn published_digests() {
    // FIPS 202, by way of NIST's examples and RFC 9861.
    let known = [
        (
            Function::Sha3_256,
            "",
            "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a",
        ),
        (
            Function::Sha3_256,
            "abc",
            "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532",
        ),
        (
            Function::Sha3_512,
            "abc",
            "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e\
             10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0",
        ),
        (
            Function::Shake128,
            "",
            "7f9c2ba4e88f827d616045507605853ed73b8093f6efbc88eb1a6eacfa66ef26",
        ),
        (
            Function::Shake256,
            "",
            "46b9dd2b0ba88d13233b3feb743eeb243fcd52ea62b81b82b50c27646ed5762f",
        ),
    ];
    let messages: Vec<_> =
        known.iter().map(|&(function, text, _)| (function, text.as_bytes().to_vec())).collect();
    for (digest, (_, text, known)) in digests::<One>(1, &messages).iter().zip(known) {
        assert!(hex(digest).starts_with(known), "{text:?}: {}", hex(digest));
    }
}

#[test]
fn columns_do_not_mix() {
    // Every length around the ends of blocks, of every function, in one run.
    let messages: Vec<_> = (0..420_usize)
        .map(|i| {
            let bytes = (0..i).map(|j| (i * 31 + j * 7).to_le_bytes()[0]).collect();
            (FUNCTIONS[i * 7 / 3 % 4], bytes)
        })
        .collect();
    let expected = digests::<One>(1, &messages);
    macro_rules! check {
        ($kernel:ty) => {
            for count in [1, 2, 3, 8, messages.len()] {
                for columns in [<$kernel>::columns(1), <$kernel>::columns(count)] {
                    let first = messages.len() - count;
                    let digests = digests::<$kernel>(columns, &messages[first..]);
                    assert!(digests == expected[first..], "{count} in {columns}");
                }
            }
        };
    }
    each_kernel!(check);
}
