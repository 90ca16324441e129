//! What programs would use under a configuration, asked of OpenSSL itself.

use core::fmt::Write as _;
use std::ffi::CString;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use lanecrypt_libcrypto::Libcrypto;

use crate::exit;

/// The ciphers that the provider has, by OpenSSL's names, and some that programs use and it has
/// not.
const CIPHERS: [&str; 20] = [
    "AES-128-GCM",
    "AES-192-GCM",
    "AES-256-GCM",
    "ChaCha20-Poly1305",
    "AES-128-CTR",
    "AES-192-CTR",
    "AES-256-CTR",
    "AES-128-CBC",
    "AES-192-CBC",
    "AES-256-CBC",
    "AES-128-XTS",
    "AES-256-XTS",
    "AES-128-CCM",
    "AES-256-CCM",
    "AES-128-OCB",
    "AES-256-OCB",
    "AES-128-ECB",
    "AES-256-ECB",
    "ChaCha20",
    "DES-EDE3-CBC",
];

/// Runs `openssl` and this program under the configuration, and prints what they use.
pub(super) fn run(configuration: &str) -> ExitCode {
    match look(configuration) {
        Ok((text, true)) => exit::print(&text),
        Ok((text, false)) => match exit::print(&text) {
            ExitCode::SUCCESS => exit::failure("nothing is taken over"),
            code => code,
        },
        Err(reason) => exit::failure(&reason),
    }
}

/// The report, and whether anything is taken over.
fn look(configuration: &str) -> Result<(String, bool), String> {
    let file = Temporary::new(configuration)?;
    let version = openssl(&file.0, &["version"])?;
    let providers = openssl(&file.0, &["list", "-providers"])?;
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let answers = under(&file.0, Command::new(program).arg(super::CHILD))?;

    let mut text = format!("openssl       {}\n", version.trim());
    let _ = writeln!(text, "providers     {}", named(&providers).join(", "));
    let mut taken: Vec<&str> = Vec::new();
    let mut left = Vec::new();
    for line in answers.lines() {
        let Some((what, provider)) = line.split_once('\t') else { continue };
        match (what, provider) {
            ("libcrypto" | "random", provider) => {
                let _ = writeln!(text, "{what:<13} {provider}");
            }
            (what, "lanecrypt") => taken.push(what),
            (what, provider) => left.push(format!("{what} ({provider})")),
        }
    }
    let takes = !taken.is_empty();
    if !takes {
        taken.push("nothing");
    }
    for (what, names) in [("taken over", taken.join(", ")), ("not", left.join(", "))] {
        wrapped(&mut text, what, &names);
    }
    text.push_str(
        "never         fetching, locks, certificates, handshakes, hashes: OpenSSL's own code\n",
    );
    Ok((text, takes))
}

/// Prints, for each cipher, for RSA, for curves and for random numbers, which provider this process
/// gets.
pub(super) fn child() -> ExitCode {
    let libcrypto = match Libcrypto::open() {
        Ok(libcrypto) => libcrypto,
        Err(error) => return exit::failure(&error.to_string()),
    };
    let mut text = format!("libcrypto\t{}\n", libcrypto.version());
    for name in CIPHERS {
        let Ok(c_name) = CString::new(name) else { continue };
        // A build may lack some of them.
        if let Ok(provider) = libcrypto.provider_of_cipher(&c_name) {
            let _ = writeln!(text, "{name}\t{provider}");
        }
    }
    for (name, what) in [(c"RSA", "RSA signatures"), (c"ECDSA", "X25519 and P-256")] {
        if let Ok(provider) = libcrypto.provider_of_signatures(name) {
            let _ = writeln!(text, "{what}\t{provider}");
        }
    }
    let random = libcrypto.provider_of_random().unwrap_or_else(|_| "none: draws fail".to_owned());
    let _ = writeln!(text, "random\t{random}");
    exit::print(&text)
}

/// A file in the folder for temporary ones, removed on drop.
struct Temporary(PathBuf);

impl Temporary {
    fn new(text: &str) -> Result<Self, String> {
        let mut random = [0; 8];
        lanecrypt_random::try_fill(&mut random).map_err(|error| error.to_string())?;
        let name = format!("lanecrypt-openssl-{:016x}.cnf", u64::from_ne_bytes(random));
        let path = std::env::temp_dir().join(name);
        let failed = |error| format!("{}: {error}", path.display());
        let mut file: File =
            File::options().write(true).create_new(true).mode(0o600).open(&path).map_err(failed)?;
        let file = file.write_all(text.as_bytes()).map(|()| Self(path.clone()));
        file.map_err(failed)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // It holds no secret, so a file that stays does no harm.
        let _ = fs::remove_file(&self.0);
    }
}

fn openssl(configuration: &Path, arguments: &[&str]) -> Result<String, String> {
    under(configuration, Command::new("openssl").args(arguments))
}

/// What a command prints under the configuration.
fn under(configuration: &Path, command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .env("OPENSSL_CONF", configuration)
        .output()
        .map_err(|error| format!("cannot run {name}: {error}"))?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        let reason = reason.lines().next().unwrap_or("it failed").to_owned();
        return Err(format!("{name} under this configuration: {reason}"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The names in what `openssl list -providers` prints: lines that are indented once.
fn named(list: &str) -> Vec<&str> {
    list.lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .map(str::trim)
        .collect()
}

/// A line of names, continued below itself.
fn wrapped(text: &mut String, what: &str, names: &str) {
    let mut line = format!("{what:<13}");
    for name in names.split_inclusive(", ") {
        if line.len() + name.len() > 92 {
            let _ = writeln!(text, "{}", line.trim_end());
            line = " ".repeat(13);
        }
        let _ = write!(line, "{}{name}", if line.len() == 13 { " " } else { "" });
    }
    let _ = writeln!(text, "{}", line.trim_end());
}
