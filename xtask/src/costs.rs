//! What the features of `lanecrypt` cost: crates, the time of a clean build, and how much a program
//! grows that uses them. `lanecrypt/src/features.md` has a table of it, and so does the README.

use std::fs;
use std::process::Command;

use crate::release::{Outcome, output, read, write};
use crate::suite;

const TABLE: &str = "lanecrypt/src/features.md";
const README: &str = "README.md";

/// Every program does this, and what its feature offers.
const PROGRAM: &str = "\
use lanecrypt::{Aes256Gcm, Nonces, random};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut key = [0; 32];
    random::fill(&mut key);
    let cipher = Aes256Gcm::new(&key);
    let mut nonces = Nonces::counter(Aes256Gcm::ALGORITHM, &[])?;
    let mut packet = b\"any number of bytes\".to_vec();
    let nonce = nonces.fresh()?;
    cipher.seal_vec(&nonce, b\"header\", &mut packet)?;
    cipher.open_vec(&nonce, b\"header\", &mut packet)?;
";

/// Instruction sets, which are on by default: each is left out once.
const DEFAULT: [&str; 3] = ["isa-ssse3", "isa-avx2", "isa-avx512"];

const SIGN: &str =
    "let key = lanecrypt::rsa::PrivateKey::from_pem(&std::fs::read_to_string(\"key.pem\")?)?;
         let padding = lanecrypt::rsa::Padding::pss(lanecrypt::rsa::Hash::SHA256);
         let mut signature = vec![0; 256];
         let mut workspace = lanecrypt::rsa::Workspace::new();
         key.sign(padding, &packet, &mut signature, &mut workspace)?;
         println!(\"{signature:?}\");";

/// Features, in the order of the table, and how a program uses each.
const USES: [(&str, &str); 13] = [
    ("rsa", SIGN),
    (
        "rsa-generate",
        "let key = lanecrypt::rsa::PrivateKey::generate(2048)?;
         let padding = lanecrypt::rsa::Padding::pss(lanecrypt::rsa::Hash::SHA256);
         let mut signature = vec![0; 256];
         let mut workspace = lanecrypt::rsa::Workspace::new();
         key.sign(padding, &packet, &mut signature, &mut workspace)?;
         println!(\"{signature:?}\");",
    ),
    (
        "pk",
        "let key = lanecrypt::pk::ed25519::SigningKey::generate()?;
         let signature = key.sign(&packet)?;
         key.verifying_key().verify(&packet, &signature)?;",
    ),
    ("aws-lc", SIGN),
    (
        "device",
        "let path = lanecrypt::device::default_path();
         let mut client: lanecrypt::device::Client = lanecrypt::device::Client::connect(path)?;
         let session = client.named_session(\"backup\")?;
         client.seal_next(session, b\"header\", &mut packet)?;",
    ),
    (
        "file",
        "use lanecrypt::file::{self, Options, Secret};
         let secret = Secret::Passphrase(b\"correct horse battery staple\");
         let (mut sealed, mut text) = (Vec::new(), Vec::new());
         file::encrypt(&Options::default(), secret, &packet[..], &mut sealed)?;
         file::decrypt(secret, &sealed[..], &mut text)?;",
    ),
    (
        "columns",
        "use lanecrypt::columns::{Column, ColumnKey, Layout, Options};
         let key = ColumnKey::new(Layout::AesGcm, &key)?;
         let names = Column::binary(&[0, 4, 9], b\"AnneBerta\");
         let cells = key.encrypt(&names, &Options::new())?;
         key.decrypt(&cells.column(), &Options::new())?;",
    ),
    ("openssl", "println!(\"{:?}\", lanecrypt::OpenSsl::open()?);"),
    ("accelerators", ""),
    ("rustcrypto", ""),
    ("rand_core_09", ""),
    ("getrandom_backend", ""),
    (
        "legacy",
        "let cipher = lanecrypt::hazmat::RawCipher::new(
             lanecrypt::Algorithm::SERPENT_256_CTR,
             &key,
         )?;
         println!(\"{cipher:?}\");",
    ),
];

/// What a program costs.
#[derive(Clone, Copy, Debug)]
struct Cost {
    crates: usize,
    /// Seconds of one core.
    seconds: f64,
    /// Without symbols.
    kilobytes: f64,
}

/// Builds a program for each feature, and prints what it costs beyond one with the default
/// features; with `update`, the table gets these numbers.
pub(crate) fn measure(update: bool) -> bool {
    match measured(update) {
        Ok(()) => true,
        Err(error) => {
            eprintln!("costs: {error}");
            false
        }
    }
}

fn measured(update: bool) -> Outcome {
    let old = read(TABLE.as_ref())?;
    let mut table = old.clone();
    let mut put = |name: &str, more: Cost, less: Cost| -> Outcome {
        let crates = more.crates - less.crates;
        let crates = if crates == 0 { String::new() } else { crates.to_string() };
        let cells = format!(
            "| {crates} | {:.0} | {:.0} |",
            (more.seconds - less.seconds).max(0.0),
            (more.kilobytes - less.kilobytes).max(0.0)
        );
        println!("{name} {cells}");
        table = with_cells(&table, name, &cells).ok_or(format!("{TABLE} has no row {name}"))?;
        Ok(())
    };
    let none = Cost { crates: 0, seconds: 0.0, kilobytes: 0.0 };
    let default = cost(&DEFAULT, "")?;
    put("all programs", cost(&[], "")?, none)?;
    for name in DEFAULT {
        let others: Vec<_> = DEFAULT.into_iter().filter(|it| *it != name).collect();
        put(&format!("`{name}`"), default, cost(&others, "")?)?;
    }
    for (name, uses) in USES {
        let features: Vec<_> = DEFAULT.into_iter().chain([name]).collect();
        put(&format!("`{name}`"), cost(&features, uses)?, default)?;
    }
    if update {
        let readme = read(README.as_ref())?;
        for (file, text) in [(README, readme.replace(&old, &table)), (TABLE, table)] {
            write(file.as_ref(), &text)?;
        }
    }
    Ok(())
}

/// The table with other numbers in one row: those of its last three cells.
fn with_cells(table: &str, name: &str, cells: &str) -> Option<String> {
    let row =
        table.lines().find(|it| it.strip_prefix("| ").is_some_and(|it| it.starts_with(name)))?;
    let (ends, _): (Vec<_>, Vec<_>) = row.match_indices('|').unzip();
    let kept = &row[..*ends.iter().rev().nth(3)?];
    Some(table.replace(row, &format!("{kept}{cells}")))
}

/// Builds a program from nothing.
fn cost(features: &[&str], uses: &str) -> Outcome<Cost> {
    let folder = suite::target().join("costs");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("src")).map_err(|it| it.to_string())?;
    let manifest = format!(
        "[package]\nname = \"program\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies.lanecrypt]\npath = {:?}\ndefault-features = false\n\
         features = {features:?}\n",
        suite::root().join("lanecrypt")
    );
    write(&folder.join("Cargo.toml"), &manifest)?;
    write(&folder.join("src/main.rs"), &format!("{PROGRAM}{uses}\nOk(())\n}}\n"))?;
    // The dependencies' versions are those of the workspace.
    fs::copy("Cargo.lock", folder.join("Cargo.lock")).map_err(|it| it.to_string())?;
    let cargo = |arguments: &[&str]| {
        let mut cargo = suite::cargo();
        cargo.args(arguments).current_dir(&folder);
        cargo.env("CARGO_TARGET_DIR", folder.join("target"));
        cargo
    };
    let tree = output(&mut cargo(&["tree", "--edges=normal,build", "--prefix=none"]))?;
    let mut crates: Vec<_> = tree.lines().filter_map(|it| it.split(' ').next()).collect();
    crates.sort_unstable();
    crates.dedup();
    let before = seconds_of_children()?;
    output(&mut cargo(&["build", "--release", "--quiet"]))?;
    let seconds = seconds_of_children()? - before;
    let program = folder.join("target/release/program");
    let stripped = folder.join("stripped");
    output(Command::new("strip").arg("-o").args([&stripped, &program]))?;
    let length = fs::metadata(&stripped).map_err(|it| it.to_string())?.len();
    let cost = Cost { crates: crates.len(), seconds, kilobytes: kilobytes(length) };
    fs::remove_dir_all(&folder).map_err(|it| it.to_string())?;
    Ok(cost)
}

#[expect(clippy::cast_precision_loss, reason = "programs are small")]
fn kilobytes(bytes: u64) -> f64 {
    bytes as f64 / 1000.0
}

/// The processor time of all children that have ended.
fn seconds_of_children() -> Outcome<f64> {
    let stat = read("/proc/self/stat".as_ref())?;
    let (_, fields) = stat.rsplit_once(") ").ok_or("/proc/self/stat has no name")?;
    // `cutime` and `cstime`, fields 16 and 17 of which the first two are gone.
    let ticks = fields.split(' ').skip(13).take(2).filter_map(|it| it.parse::<f64>().ok());
    let per_second = output(Command::new("getconf").arg("CLK_TCK"))?;
    let per_second: f64 = per_second.parse().map_err(|_| "getconf gave no number")?;
    Ok(ticks.sum::<f64>() / per_second)
}

#[cfg(test)]
mod tests {
    use super::{DEFAULT, TABLE, USES, with_cells};

    #[test]
    fn numbers_are_the_last_three_cells() {
        let table = "| feature | adds | crates | s | KB |\n| `a` | x | 1 | 2 | 3 |\n";
        let other = with_cells(table, "`a`", "| 4 | 5 | 6 |").expect("there is such a row");
        assert_eq!(other, table.replace("1 | 2 | 3", "4 | 5 | 6"));
        assert!(with_cells(table, "`b`", "| 4 | 5 | 6 |").is_none());
    }

    #[test]
    fn every_feature_has_a_row() {
        let table = std::fs::read_to_string(crate::suite::root().join(TABLE)).expect("is there");
        for name in DEFAULT.into_iter().chain(USES.map(|(name, _)| name)) {
            assert!(with_cells(&table, &format!("`{name}`"), "").is_some(), "{name}");
        }
    }
}
