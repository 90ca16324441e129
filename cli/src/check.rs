//! `lanecrypt check`: tests this build with its own test vectors, or with others.

mod calls;
mod case;
mod code;
mod hex;
mod lines;
mod packet;
mod refusal;
mod request;
mod self_test;
mod signature;

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use lanecrypt_ciphers::Isa;

use crate::exit;

/// A summary of the protocol.
const PROTOCOL: &str = "\
Without a terminal on standard input, each line of it is a request in JSON, and has an answer on
standard output: {\"id\",\"out\"}, or {\"id\",\"err\"} with the reason. Bytes are in hexadecimal.
  alg      a name that 'lanecrypt info' lists, or poly1305, hmac-sha1, hmac-sha256,
           or rsa-raw-private, rsa-pkcs1v15-sign-sha256, rsa-pss-sha256 (sha1, sha384, sha512)
  op       encrypt, decrypt; seal, open where there are tags; mac; sign, verify
  key, iv  key; nonce or initialization vector
  data     what to work on; 'open' takes and 'seal' gives the ciphertext with the tag behind it
  aad      associated data
  taglen   bytes of the tag, 16 if absent
  counter  number of the first block, of streams that number them
  skip     offset into the keystream, in bytes
  chunks   sizes of successive calls that take the data; 'open' may leave the tag out of them
With RSA, key is an object of hexadecimal numbers, n, e, d and perhaps p, q, dp, dq, qinv, and:
  crt      whether to sign with the primes; if absent, whether they are there
  salt     the salt of PSS; if absent, a random one as long as a digest
  sig      the signature to verify; 'out' is empty if it is right";

/// Arguments of `check`.
#[derive(clap::Args)]
#[command(after_help = PROTOCOL)]
pub(crate) struct Args {
    /// Run the built-in test vectors even if standard input is not a terminal
    #[arg(long)]
    self_test: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> ExitCode {
    if args.self_test || io::stdin().is_terminal() {
        let report = self_test::run(Isa::detect());
        let printed = exit::print(&report.text);
        return if report.failed { ExitCode::FAILURE } else { printed };
    }
    if let Err(code) = exit::needs_input() {
        return code;
    }
    exit::after(lines::answer_all(&mut io::stdin().lock(), &mut io::stdout().lock(), Isa::detect()))
}
