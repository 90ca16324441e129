//! What fits a small screen: 24 lines of 80 columns.

use lanecrypt_ciphers::Algorithm;
use lanecrypt_random::Fastest;
use lanecrypt_speed::clock;

use super::rate::{MESSAGE, Rate};
use super::{Machine, signatures};

/// What most programs use.
const USUAL: [&str; 9] = [
    "aes-128-gcm",
    "aes-256-gcm",
    "aes-256-gcm-siv",
    "chacha20-poly1305",
    "aes-128-ctr",
    "aes-256-ctr",
    "aes-128-cbc",
    "aes-256-xts",
    "chacha20-ietf",
];

pub(super) fn text(machine: &Machine) -> String {
    let capabilities = &machine.capabilities;
    let random = format!(
        "{}, seeded {}",
        Fastest::name(machine.isa),
        if capabilities.vdso { "without a system call" } else { "by system calls" }
    );
    let state = match capabilities.wipe_on_fork {
        true => format!(
            "emptied by fork; in core dumps: {}; in swap space: {}",
            never(capabilities.dont_dump),
            never(capabilities.locked)
        ),
        false => String::from("none: every random number is a request to the kernel"),
    };
    let rows = [
        ("Lanecrypt", String::from(env!("CARGO_PKG_VERSION"))),
        ("Processor", machine.processor()),
        ("Instruction set", machine.instruction_set()),
        ("Linux", machine.kernel.clone()),
        ("Random numbers", random),
        ("Their state", state),
        ("RSA signatures", format!("by bits: {}", signatures(machine.isa))),
        ("Drivers", machine.batches.drivers()),
    ];
    let mut text = String::new();
    for (name, value) in rows {
        text += &format!("{name:<17}{value}\n");
    }
    text += &format!(
        "\n{:<22}{:<12}{:>6}{:>10}{:>10}   constant\n",
        format!("{} KiB, MB/s", MESSAGE >> 10),
        "kernel",
        "lanes",
        "encrypt",
        "decrypt"
    );
    let level = machine.isa.level();
    for &algorithm in Algorithm::ALL {
        let name = algorithm.to_string();
        if !USUAL.contains(&name.as_str()) {
            continue;
        }
        let rate = Rate::measure(machine.isa, algorithm);
        text += &format!(
            "{name:<22}{:<12}{:>6}{:>10}{:>10}   {}\n",
            algorithm.kernel_at(level).to_string(),
            algorithm.lanes(level),
            megabytes(rate.map(|rate| rate.encrypt)),
            megabytes(rate.map(|rate| rate.decrypt)),
            if algorithm.primitive().constant_time(level) { "time" } else { "NO" }
        );
    }
    let all = Algorithm::ALL.len();
    text + &format!("--all shows {all} algorithms, their kernels at each level, memory, batches\n")
}

/// Whether something never occurs.
fn never(is_kept_out: bool) -> &'static str {
    if is_kept_out { "no" } else { "yes" }
}

/// 10^6 bytes in a second.
fn megabytes(cycles_per_byte: Option<f64>) -> String {
    let rate = cycles_per_byte.map(|cycles| clock::ghz() * 1000.0 / cycles);
    rate.map_or_else(|| String::from("-"), |rate| format!("{rate:.0}"))
}
