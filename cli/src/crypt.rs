//! `lanecrypt encrypt` and `lanecrypt decrypt`: files, one after the other.

mod copy;
mod given;
mod plan;
mod progress;
mod source;
mod target;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use lanecrypt_ciphers::hazmat::burn_stack;
pub(crate) use lanecrypt_stream::file::KEY_LENGTH;
use lanecrypt_stream::file::{Options, Secret};

use self::copy::Broken;
use self::given::SecretArgs;
use self::plan::{Input, Job, Output};
use self::progress::Progress;
use self::source::Source;
use self::target::Target;
use crate::{exit, process};

/// Arguments of `encrypt`.
#[derive(clap::Args)]
pub(crate) struct EncryptArgs {
    #[command(flatten)]
    common: Common,
    /// The cipher; without instructions for AES in the processor ChaCha20 is faster
    #[arg(long, value_enum, default_value_t = Algorithm::Aes256Gcm)]
    algorithm: Algorithm,
}

/// Arguments of `decrypt`.
#[derive(clap::Args)]
pub(crate) struct DecryptArgs {
    #[command(flatten)]
    common: Common,
}

/// Arguments of both.
#[derive(clap::Args)]
struct Common {
    /// What to read: FILE becomes FILE.lanecrypt, and back [default: - (standard input)]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    secret: SecretArgs,
    /// Where to write: a file, a folder, or - (standard output, the default for standard input)
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Replace files that exist
    #[arg(short, long)]
    force: bool,
}

/// The algorithms of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Algorithm {
    #[value(name = "aes-256-gcm")]
    Aes256Gcm,
    #[value(name = "chacha20-poly1305")]
    ChaCha20Poly1305,
    #[value(name = "xchacha20-poly1305")]
    XChaCha20Poly1305,
}

impl Algorithm {
    const fn of_cipher(self) -> lanecrypt_ciphers::Algorithm {
        match self {
            Self::Aes256Gcm => lanecrypt_ciphers::Algorithm::AES_256_GCM,
            Self::ChaCha20Poly1305 => lanecrypt_ciphers::Algorithm::CHACHA20_POLY1305,
            Self::XChaCha20Poly1305 => lanecrypt_ciphers::Algorithm::XCHACHA20_POLY1305,
        }
    }
}

/// Which way.
#[derive(Clone, Copy)]
enum Direction {
    Encrypt(Algorithm),
    Decrypt,
}

/// Runs `encrypt`.
pub(crate) fn encrypt(args: &EncryptArgs) -> ExitCode {
    run(&args.common, Direction::Encrypt(args.algorithm))
}

/// Runs `decrypt`.
pub(crate) fn decrypt(args: &DecryptArgs) -> ExitCode {
    run(&args.common, Direction::Decrypt)
}

fn run(args: &Common, direction: Direction) -> ExitCode {
    if let Err(error) = process::hide() {
        return exit::failure(&format!("cannot keep the key from core dumps: {error}"));
    }
    let jobs = match plan::jobs(&args.files, args.output.as_deref(), direction) {
        Ok(jobs) => jobs,
        Err(reason) => return exit::bad_arguments(&reason),
    };
    for job in jobs.iter().flatten() {
        if let Err(code) = job.streams_are_open() {
            return code;
        }
    }
    let mut inputs = jobs.iter().flatten().map(|job| &job.input);
    if args.secret.is_standard_input() && inputs.any(|input| matches!(input, Input::Standard)) {
        return exit::bad_arguments("standard input can be the key or a file, not both");
    }
    // Before a terminal is asked.
    if let Err(error) = target::clean_up_after_signals() {
        return exit::failure(&format!("signals: {error}"));
    }
    let given = match args.secret.read(direction) {
        Ok(given) => given,
        Err(reason) => return exit::failure(&reason),
    };
    let mut code = ExitCode::SUCCESS;
    for job in jobs {
        let done = job.and_then(|job| {
            let name = job.input.name();
            serve(&job, args.force, given.secret(), direction)
                .map_err(|reason| format!("{name}: {reason}"))
        });
        if let Err(reason) = done {
            code = exit::failure(&reason);
        }
    }
    drop(given);
    burn_stack();
    code
}

/// One file. An error leaves nothing behind but what went to standard output.
fn serve(job: &Job, force: bool, secret: Secret<'_>, direction: Direction) -> Result<(), String> {
    let mut source = Source::open(&job.input)?;
    if let Output::File(path) = &job.output {
        if !source.is_regular() && !job.is_named {
            return Err(String::from("not a regular file; name the output with --output"));
        }
        target::may_be_made(path, force)?;
    }
    let mut target = Target::create(&job.output)?;
    let mut progress = Progress::new(&job.input.name(), source.length(), target.is_on_terminal());
    let done = match direction {
        Direction::Encrypt(algorithm) => {
            let options = Options { algorithm: algorithm.of_cipher(), ..Options::default() };
            copy::encrypt(&options, secret, &mut source, &mut target, &mut progress)
        }
        Direction::Decrypt => copy::decrypt(secret, &mut source, &mut target, &mut progress),
    };
    drop(progress);
    match done {
        Ok(()) => target.commit(&source, force),
        // A reader that has seen enough of the plaintext is no failure.
        Err(Broken::Closed) if matches!(direction, Direction::Decrypt) => Ok(()),
        Err(broken) => Err(broken.to_string()),
    }
}
