//! The program's machine code, as objdump shows it, and what no kernel may have of it: instructions
//! whose time or addresses depend on vectors, and those that carry vectors into flags.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use core::iter;
use std::collections::BTreeSet;
use std::env::consts::ARCH;
use std::path::Path;
use std::process::Command;

use crate::target::rules;
use crate::{fail, planted, target};

/// One function.
pub(crate) struct Function {
    /// In angle brackets.
    pub(crate) name: &'static str,
    /// With their addresses.
    pub(crate) instructions: Vec<(u64, &'static str)>,
}

/// Beginnings of modules of which nothing is to be checked, beside those of the architecture.
#[rustfmt::skip]
const EXCEPT: &[&str] = &[
    // No kernels.
    "fork::", "isa::", "locked::",
    // By tables, as their documentation says.
    "arc4::", "hc128::", "des::scalar",
    // Macros, of which each kernel has its own functions; and what runs in the compiler.
    "serpent::circuit", "serpent::modes", "des::spec",
    "chacha::rounds", "salsa::rounds", "arx::words", "gcm::steps",
    "gcm_siv::message", "gcm_siv::polyval", "gcm_siv::registers128",
    // Tests.
    "keccak::tests", "mlkem::tests", "p256::tests", "sha2::tests",
];

/// Beginnings of modules whose functions may all be inlined into others, where they are checked.
#[rustfmt::skip]
const INLINED: &[&str] = &[
    "simd::", "aes::round_keys",
    "poly1305::limbs", "poly1305::portable", "chacha20poly1305::parts", "siv::cmac",
    "montgomery::groups", "montgomery::portable",
    "curve25519::digits", "curve25519::edwards", "curve25519::field", "curve25519::ladder",
    "curve25519::single", "curve25519::table",
    "mlkem::code", "mlkem::ntt", "mlkem::row", "p256::constants", "p256::group", "p256::inverse",
    "p256::nonce", "p256::number", "p256::operations", "p256::short", "p256::table", "p256::wide",
    "sha2::blocks", "sha2::rounds256", "sha2::rounds512", "sha2::streams",
];

/// Every function of the program.
pub(crate) fn functions() -> Vec<Function> {
    let mut objdump = Command::new(rules::OBJDUMP);
    objdump.args(["-d", "-C", "--no-show-raw-insn"]).args(rules::SYNTAX);
    objdump.arg(std::env::current_exe().expect("Linux knows the program's file"));
    let output = objdump.output().expect("objdump runs");
    // Needed as long as the program runs.
    let text: &'static str = String::from_utf8_lossy(&output.stdout).into_owned().leak();
    let instruction = |line: &'static str| {
        let (address, text) = line.split_once(":\t")?;
        Some((u64::from_str_radix(address.trim_start(), 16).ok()?, text))
    };
    let function = |block: &'static str| {
        let (head, lines) = block.split_at(block.find(">:\n")? + 1);
        let instructions = lines.lines().filter_map(instruction).collect();
        Some(Function { name: &head[head.find('<')?..], instructions })
    };
    text.split("\n\n").filter_map(function).collect()
}

pub(crate) fn check() -> bool {
    println!("Disassembly");
    target::planted::forbidden::keep();
    let functions = functions();
    let mut all = true;
    for &rule in rules::NAMES {
        let name = format!("<constant_time::{ARCH}::planted::forbidden::{rule}>");
        let mut planted = functions.iter().filter(|function| function.name == name);
        let found = planted.any(|function| function.broken().any(|(broken, _)| broken == rule));
        all &= planted::report(rule, found) || fail("the disassembly misses a planted instruction");
    }
    let modules =
        [("kernels", "lanecrypt_kernels"), ("kernels-legacy", "lanecrypt_kernels_legacy")]
            .into_iter()
            .flat_map(|(folder, name)| {
                modules(folder).into_iter().map(move |it| format!("{name}::{it}::"))
            });
    // What openings with an HMAC are made of. Only their lengths are divided, in functions of other
    // names.
    let others = ["lanecrypt_ciphers::hmac", "<sha1::", "<sha2::"].map(String::from);
    modules.chain(others).fold(all, |all, name| is_clean(&functions, &name) & all)
}

/// Whether functions with such names are there or inlined, and none has a forbidden instruction.
fn is_clean(functions: &[Function], names: &str) -> bool {
    let (mut count, mut clean) = (0, true);
    for function in functions.iter().filter(|function| function.name.contains(names)) {
        count += 1;
        for (rule, instruction) in function.broken() {
            let allowed = |&(it, place): &(_, &str)| it == rule && function.name.contains(place);
            if rules::ALLOWED.iter().any(allowed) {
                continue;
            }
            println!("{rule}: {}: {instruction}", function.name);
            clean = false;
        }
    }
    if count == 0 {
        let may_be_inlined = |module: &&str| names.contains(&format!("::{module}"));
        if INLINED.iter().any(may_be_inlined) {
            return true;
        }
        return fail(&format!("no function of {names} is in the program"));
    }
    println!("{names:<44} {}, {count} functions", if clean { "clean" } else { "LEAKS" });
    clean || fail(&format!("forbidden instructions in {names}"))
}

impl Function {
    /// The rules that it breaks, and where.
    fn broken(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let befores = iter::once("").chain(self.instructions.iter().map(|&(_, text)| text));
        let pairs = befores.zip(&self.instructions);
        pairs.filter_map(|(before, &(_, text))| Some((rules::broken(before, text)?, text)))
    }
}

/// The files in the folders of a crate's cores, and in their folders of this architecture.
fn modules(folder: &str) -> BTreeSet<String> {
    let list = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates are in the workspace");
    let source = &root.join(folder).join("src");
    let folders = list(source).flat_map(|core| [core.join(ARCH), core]);
    let files = folders.flat_map(|folder| list(&folder)).filter_map(|path| {
        let name = path.strip_prefix(source).ok()?.to_str()?.strip_suffix(".rs")?;
        Some(name.replace('/', "::"))
    });
    let is_checked = |name: &String| {
        // Those of the other architecture are not in this program.
        let mut excepted = EXCEPT.iter().chain(rules::EXCEPT);
        !name.ends_with(rules::OTHER) && !excepted.any(|except| name.starts_with(except))
    };
    files.filter(is_checked).collect()
}
