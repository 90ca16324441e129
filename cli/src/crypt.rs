//! `lanecrypt encrypt` and `lanecrypt decrypt`: files, one after the other.

mod copy;
mod header;
mod patient;
mod plan;
mod progress;
mod source;
mod target;

use std::path::PathBuf;
use std::process::ExitCode;

use lanecrypt_ciphers::hazmat::burn_stack;
use zeroize::Zeroizing;

use self::copy::Broken;
pub(crate) use self::header::KEY_LENGTH;
use self::header::{Algorithm, Header};
use self::plan::{Input, Job, Output};
use self::progress::Progress;
use self::source::Source;
use self::target::Target;
use crate::{exit, process, secret};

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
    /// The key: a file of 32 bytes, as `lanecrypt keygen` makes it, or - (standard input)
    #[arg(short, long, value_name = "KEY")]
    key_file: PathBuf,
    /// Where to write: a file, a folder, or - (standard output, the default for standard input)
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Replace files that exist
    #[arg(short, long)]
    force: bool,
}

impl Common {
    fn key_is_standard_input(&self) -> bool {
        self.key_file.as_os_str() == "-"
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
    if args.key_is_standard_input() && inputs.any(|input| matches!(input, Input::Standard)) {
        return exit::bad_arguments("standard input can be the key or a file, not both");
    }
    let key = match key(args) {
        Ok(key) => key,
        // Who decrypts needs the key that there was.
        Err(reason)
            if matches!(direction, Direction::Encrypt(_))
                && !args.key_is_standard_input()
                && !args.key_file.exists() =>
        {
            let at = args.key_file.display();
            return exit::failure(&format!("{reason}; 'lanecrypt keygen {at}' makes a new key"));
        }
        Err(reason) => return exit::failure(&reason),
    };
    if let Err(error) = target::clean_up_after_signals() {
        return exit::failure(&format!("signals: {error}"));
    }
    let mut code = ExitCode::SUCCESS;
    for job in jobs {
        let done = job.and_then(|job| {
            let name = job.input.name();
            serve(&job, args.force, &key, direction).map_err(|reason| format!("{name}: {reason}"))
        });
        if let Err(reason) = done {
            code = exit::failure(&reason);
        }
    }
    drop(key);
    burn_stack();
    code
}

fn key(args: &Common) -> Result<Zeroizing<[u8; KEY_LENGTH]>, String> {
    let bytes = match args.key_is_standard_input() {
        true => secret::standard_input()?,
        false => secret::read(&args.key_file)?,
    };
    let mut key = Zeroizing::new([0; KEY_LENGTH]);
    if bytes.len() != KEY_LENGTH {
        let (at, length) = (args.key_file.display(), bytes.len());
        return Err(format!("{at}: {length} bytes where a key has {KEY_LENGTH}, not as text"));
    }
    key.copy_from_slice(&bytes);
    Ok(key)
}

/// One file. An error leaves nothing behind but what went to standard output.
fn serve(
    job: &Job,
    force: bool,
    key: &[u8; KEY_LENGTH],
    direction: Direction,
) -> Result<(), String> {
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
        Direction::Encrypt(algorithm) => Header::new(algorithm, key)
            .map_err(Broken::Refused)
            .and_then(|header| copy::encrypt(&header, &mut source, &mut target, &mut progress)),
        Direction::Decrypt => copy::decrypt(key, &mut source, &mut target, &mut progress),
    };
    drop(progress);
    match done {
        Ok(()) => target.commit(&source, force),
        // A reader that has seen enough of the plaintext is no failure.
        Err(Broken::Closed) if matches!(direction, Direction::Decrypt) => Ok(()),
        Err(broken) => Err(broken.to_string()),
    }
}
