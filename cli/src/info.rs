//! `lanecrypt info`: the machine's features, and the kernels that run on it.

mod batches;
mod daemon;
mod rate;
mod short;

use core::fmt::Write as _;
use core::time::Duration;
use std::path::PathBuf;
use std::process::ExitCode;

use lanecrypt_ciphers::{Algorithm, Isa, Level, Primitive};
use lanecrypt_kernels::montgomery::has_single;
use lanecrypt_random::{Capabilities, Fastest, capabilities};
use lanecrypt_rsa::Backend;
use serde_json::{Value, json};

use self::batches::Batches;
use self::daemon::Form;
use self::rate::{MESSAGE, Rate};
use crate::exit;

/// Arguments of `info`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Show everything: all algorithms, their kernels at each level, memory, and which messages of
    /// a batch are faster in lanes, which is measured within milliseconds
    #[arg(long)]
    all: bool,
    /// Show everything as JSON
    #[arg(long)]
    json: bool,
    /// Show what the daemon at this socket has done, instead of this machine
    #[arg(long, value_name = "PATH", conflicts_with = "all")]
    socket: Option<PathBuf>,
    /// Only print whether the daemon answers; if it does not, the exit status is 1
    #[arg(long, requires = "socket", conflicts_with = "json")]
    check: bool,
    /// How long to wait for the daemon
    #[arg(
        long, value_name = "SECONDS", default_value = "1", requires = "socket",
        value_parser = daemon::seconds,
    )]
    timeout: Duration,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> ExitCode {
    if let Some(path) = &args.socket {
        let form = match (args.check, args.json) {
            (true, _) => Form::Check,
            (false, true) => Form::Json,
            (false, false) => Form::Text,
        };
        return daemon::run(path, args.timeout, form);
    }
    let machine = Machine::look(args.all || args.json);
    if args.json {
        exit::print(&format!("{:#}\n", machine.json()))
    } else if args.all {
        exit::print(&machine.text())
    } else {
        exit::print(&short::text(&machine))
    }
}

struct Machine {
    model: String,
    processors: usize,
    kernel: String,
    processor_level: Level,
    isa: Isa,
    capabilities: Capabilities,
    batches: Batches,
}

impl Machine {
    fn look(everything: bool) -> Self {
        // The capabilities are known only after a generator has been made.
        let _ = lanecrypt_random::try_fill(&mut [0]);
        Self {
            model: lanecrypt_speed::processor_model(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
            processor_level: Isa::of_processor().level(),
            isa: Isa::detect(),
            capabilities: capabilities(),
            batches: Batches::look(everything),
        }
    }

    fn processor(&self) -> String {
        format!("{}, {} usable", self.model, self.processors)
    }

    fn instruction_set(&self) -> String {
        let level = self.isa.level();
        if level == self.processor_level {
            format!("{level}")
        } else {
            format!("{level} (LANECRYPT_ISA; the processor has {})", self.processor_level)
        }
    }

    fn text(&self) -> String {
        let capabilities = &self.capabilities;
        let level = self.isa.level();
        let rows = [
            ("Lanecrypt", String::from(env!("CARGO_PKG_VERSION"))),
            ("Processor", self.processor()),
            ("Instruction set", self.instruction_set()),
            ("Linux", self.kernel.clone()),
            ("Random numbers come from", String::from(Fastest::name(self.isa))),
            ("One RSA signature, by bits", signatures(self.isa)),
            ("Random without a system call", yes(capabilities.vdso)),
            ("State emptied in forked children", yes(capabilities.wipe_on_fork)),
            ("State kept out of core dumps", yes(capabilities.dont_dump)),
            ("State locked in memory", yes(capabilities.locked)),
            ("Limit of locked memory", limit(capabilities.lock_limit)),
            ("Locked for random numbers at most", limit(capabilities.lock_budget)),
        ];
        let mut text = String::new();
        for (name, value) in rows {
            text += &format!("{name:<34}{value}\n");
        }
        if !capabilities.wipe_on_fork {
            text += "Nothing is buffered: every random number is a request to the kernel.\n";
        }
        text +=
            "\nThe kernel at each level. For the level in use: the blocks of a message that run\n";
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "together (lanes), and cycles per byte to encrypt and to decrypt {} KiB",
            MESSAGE >> 10
        );
        let marks = Level::built().iter().map(|&level| self.mark(level));
        text += &row("", marks, ["lanes", "encrypt", "decrypt"].map(String::from), "constant time");
        for &algorithm in Algorithm::ALL {
            let primitive = algorithm.primitive();
            let kernels = Level::built().iter().map(|&level| kernel(algorithm, level));
            let rate = Rate::measure(self.isa, algorithm);
            let figures = [
                algorithm.lanes(level).to_string(),
                cycles(rate.map(|rate| rate.encrypt)),
                cycles(rate.map(|rate| rate.decrypt)),
            ];
            let last = remark(primitive, level);
            text += &row(&algorithm.to_string(), kernels, figures, &last);
        }
        text += "* the level in use; ! a kernel that is not constant time\n";
        text + &self.batches.text()
    }

    fn mark(&self, level: Level) -> String {
        format!("{level}{}", if level == self.isa.level() { "*" } else { "" })
    }

    fn json(&self) -> Value {
        let capped = self.isa.level() != self.processor_level;
        let capabilities = &self.capabilities;
        let algorithms = Algorithm::ALL.iter().map(|&algorithm| self.algorithm(algorithm));
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "processor": {
                "model": self.model,
                "architecture": std::env::consts::ARCH,
                "emulator": lanecrypt_speed::emulator(),
                "usable": self.processors,
            },
            "isa": {
                "used": self.isa.level().name(),
                "processor": self.processor_level.name(),
                "capped": capped,
            },
            "kernel": {
                "release": self.kernel,
                "vdso_getrandom": capabilities.vdso,
                "wipe_on_fork": capabilities.wipe_on_fork,
                "dont_dump": capabilities.dont_dump,
                "locked": capabilities.locked,
                "locked_bytes": capabilities.locked_bytes,
                "lock_budget": capabilities.lock_budget,
                "lock_limit": capabilities.lock_limit,
            },
            "random": { "core": Fastest::name(self.isa) },
            "rsa": SIZES.map(|bits| json!({ "bits": bits, "one": signer(self.isa, bits) })),
            "algorithms": algorithms.collect::<Vec<_>>(),
            "engine": self.batches.json(),
        })
    }

    fn algorithm(&self, algorithm: Algorithm) -> Value {
        let primitive = algorithm.primitive();
        let kernels = Level::built().iter().map(|&level| {
            let kernel = json!({
                "kernel": algorithm.kernel_at(level).name(),
                "constant_time": primitive.constant_time(level),
                "lanes": algorithm.lanes(level),
                "available": self.processor_level.includes(level),
            });
            (level.name().to_owned(), kernel)
        });
        let used = self.isa.level();
        let rate = Rate::measure(self.isa, algorithm);
        json!({
            "name": algorithm.to_string(),
            "key_lengths": algorithm.key_lengths().iter().collect::<Vec<_>>(),
            "nonce_length": algorithm.nonce_length(),
            "kernel": algorithm.kernel_at(used).name(),
            "constant_time": primitive.constant_time(used),
            "timing_leak": primitive.timing_leak(used),
            "broken": primitive.is_broken(),
            "block_size": primitive.block_size(),
            "lanes": algorithm.lanes(used),
            "cycles_per_byte": rate.map(|rate| json!({
                "encrypt": rate.encrypt,
                "decrypt": rate.decrypt,
                "message": MESSAGE,
            })),
            "levels": kernels.collect::<serde_json::Map<_, _>>(),
        })
    }
}

/// Usual sizes of RSA keys.
const SIZES: [usize; 3] = [2048, 3072, 4096];

/// Who makes a signature that is alone.
fn signer(isa: Isa, bits: usize) -> &'static str {
    match Backend::Measured.may_sign_by_aws_lc(isa, bits) {
        false => "own",
        true if has_single(isa) => "measured",
        true => "aws-lc",
    }
}

fn signatures(isa: Isa) -> String {
    SIZES.map(|bits| format!("{bits} {}", signer(isa, bits))).join(", ")
}

fn kernel(algorithm: Algorithm, level: Level) -> String {
    let mark = if algorithm.primitive().constant_time(level) { "" } else { "!" };
    format!("{}{mark}", algorithm.kernel_at(level))
}

/// Whether it is constant time or why not, and a warning if the cipher is broken.
fn remark(primitive: Primitive, level: Level) -> String {
    let mut text = primitive
        .timing_leak(level)
        .map_or_else(|| String::from("yes"), |leak| format!("no: {leak}"));
    if primitive.is_broken() {
        text += "; broken, for study only";
    }
    text
}

/// Cycles per byte, with as many digits as are significant.
fn cycles(rate: Option<f64>) -> String {
    match rate {
        None => String::from("-"),
        Some(rate) if rate < 10.0 => format!("{rate:.2}"),
        Some(rate) => format!("{rate:.1}"),
    }
}

fn row(
    name: &str,
    cells: impl Iterator<Item = String>,
    figures: [String; 3],
    last: &str,
) -> String {
    let mut row = format!("{name:<24}");
    for cell in cells {
        // Writing to a string does not fail.
        let _ = write!(row, "{cell:<10}");
    }
    for figure in figures {
        let _ = write!(row, "{figure:>8}");
    }
    row + "  " + last + "\n"
}

fn yes(yes: bool) -> String {
    String::from(if yes { "yes" } else { "no" })
}

fn limit(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| String::from("none"), |bytes| format!("{} KiB", bytes / 1024))
}
