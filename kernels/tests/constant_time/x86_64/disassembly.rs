//! The program's machine code, as objdump shows it, and what no kernel may have of it: instructions
//! whose time or addresses depend on vectors, and those that carry vectors into flags.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::x86_64::{fail, planted};

/// One function.
pub(crate) struct Function {
    /// In angle brackets.
    pub(crate) name: &'static str,
    /// With their addresses.
    pub(crate) instructions: Vec<(u64, &'static str)>,
}

/// Beginnings of modules of which nothing is to be checked.
#[rustfmt::skip]
const EXCEPT: &[&str] = &[
    // No kernels.
    "fork::", "isa::", "locked::",
    // By tables, as their documentation says.
    "arc4::", "hc128::", "des::scalar",
    // Macros, of which each kernel has its own functions; and what runs in the compiler.
    "serpent::circuit", "serpent::modes", "des::spec",
    "chacha::rounds", "salsa::rounds", "arx::words", "gcm::steps", "aegis::x86_64::steps",
    "gcm_siv::message", "gcm_siv::polyval", "gcm_siv::registers128",
    // Other names of functions that architectures share.
    "aes::x86_64::aesni", "siv::x86_64::aesni", "xts::x86_64::aesni",
    // Inlined into the others, everywhere.
    "simd::",
    "poly1305::limbs", "poly1305::portable", "chacha20poly1305::parts", "siv::cmac",
    "montgomery::portable",
];

/// Where compilers make gathers of loops over lengths of messages, which are public.
const GATHERS: &[&str] = &["gcm_siv::lanes", "siv::lanes"];

/// Every function of the program.
pub(crate) fn functions() -> Vec<Function> {
    let mut objdump = Command::new("objdump");
    objdump.args(["-d", "-C", "-M", "intel", "--no-show-raw-insn"]);
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
    let functions = functions();
    let mut all = true;
    for rule in ["gather", "division", "flags"] {
        let name = format!("<constant_time::x86_64::planted::forbidden::{rule}>");
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

/// Whether functions with such names are there, and none has a forbidden instruction.
fn is_clean(functions: &[Function], names: &str) -> bool {
    let (mut count, mut clean) = (0, true);
    for function in functions.iter().filter(|function| function.name.contains(names)) {
        count += 1;
        for (rule, instruction) in function.broken() {
            if rule == "gather" && GATHERS.iter().any(|module| names.contains(module)) {
                continue;
            }
            println!("{rule}: {}: {instruction}", function.name);
            clean = false;
        }
    }
    if count == 0 {
        return fail(&format!("no function of {names} is in the program"));
    }
    println!("{names:<44} {}, {count} functions", if clean { "clean" } else { "LEAKS" });
    clean || fail(&format!("forbidden instructions in {names}"))
}

impl Function {
    /// The rules that it breaks, and where.
    fn broken(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.instructions.iter().filter_map(|&(_, text)| Some((broken(text)?, text)))
    }
}

/// The rule that an instruction breaks.
fn broken(instruction: &str) -> Option<&'static str> {
    let name = instruction.split(' ').next()?;
    // Many have a second name with that letter.
    let name = name.strip_prefix('v').unwrap_or(name);
    let begins = |with: &[&str]| with.iter().any(|with| name.starts_with(with));
    // Not ptestm, whose answer is a vector of bits and no flag.
    let flags = ["testp", "kortest", "ktest", "movmskp", "pmovmskb", "comis", "ucomis"];
    if begins(&["gather", "pgather", "scatter", "pscatter"]) {
        Some("gather")
    } else if ["div", "idiv"].contains(&name) {
        Some("division")
    } else {
        let is_flags = name == "ptest" || begins(&flags) || begins(&["pcmpestr", "pcmpistr"]);
        is_flags.then_some("flags")
    }
}

/// The files in the folders of a crate's cores, and in their folders of x86-64.
fn modules(folder: &str) -> BTreeSet<String> {
    let list = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates are in the workspace");
    let source = &root.join(folder).join("src");
    let folders = list(source).flat_map(|core| [core.join("x86_64"), core]);
    let files = folders.flat_map(|folder| list(&folder)).filter_map(|path| {
        let name = path.strip_prefix(source).ok()?.to_str()?.strip_suffix(".rs")?;
        Some(name.replace('/', "::"))
    });
    let is_checked = |name: &String| {
        // Those of the other architecture are not in this program.
        !name.ends_with("::aarch64") && !EXCEPT.iter().any(|except| name.starts_with(except))
    };
    files.filter(is_checked).collect()
}
