//! The processor's name.

use std::fs;
use std::process::Command;

use crate::emulator::emulator;

/// The processor's name as the kernel reports it, or its architecture.
#[must_use]
pub fn processor_model() -> String {
    let arch = std::env::consts::ARCH;
    match emulator() {
        // The kernel's file then is about another processor.
        Some(emulator) => format!("{arch}, EMULATED by {emulator}"),
        None => model(&cpuinfo()).or_else(of_sysctl).unwrap_or_else(|| arch.to_owned()),
    }
}

/// What macOS answers, such as `Apple M2`: by its program, which needs no `unsafe` here.
fn of_sysctl() -> Option<String> {
    if !cfg!(target_os = "macos") {
        return None;
    }
    let mut command = Command::new("/usr/sbin/sysctl");
    let output = command.args(["-n", "machdep.cpu.brand_string"]).output().ok()?;
    let name = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (!name.is_empty()).then_some(name)
}

/// The kernel's description of the processors.
pub(crate) fn cpuinfo() -> String {
    fs::read_to_string("/proc/cpuinfo").unwrap_or_default()
}

/// On arm64 there are numbers in place of a name, which may differ from core to core.
fn model(info: &str) -> Option<String> {
    if let Some(name) = fields(info, "model name").next() {
        return Some(name.to_owned());
    }
    let mut cores: Vec<String> = Vec::new();
    for (implementer, part) in fields(info, "CPU implementer").zip(fields(info, "CPU part")) {
        let number = |text: &str| u32::from_str_radix(text.trim_start_matches("0x"), 16).ok();
        let known = number(implementer).zip(number(part));
        let name = known.and_then(|id| CORES.iter().find(|core| core.0 == id));
        let core = match name {
            Some((_, name)) => String::from(*name),
            None => format!("arm64 core {part} of implementer {implementer}"),
        };
        if !cores.contains(&core) {
            cores.push(core);
        }
    }
    (!cores.is_empty()).then(|| cores.join(" and "))
}

/// Implementers and parts, as register `MIDR_EL1` has them.
const CORES: [((u32, u32), &str); 17] = [
    ((0x41, 0xd03), "Cortex-A53"),
    ((0x41, 0xd05), "Cortex-A55"),
    ((0x41, 0xd07), "Cortex-A57"),
    ((0x41, 0xd08), "Cortex-A72"),
    ((0x41, 0xd0b), "Cortex-A76"),
    ((0x41, 0xd0c), "Neoverse N1"),
    ((0x41, 0xd40), "Neoverse V1"),
    ((0x41, 0xd41), "Cortex-A78"),
    ((0x41, 0xd44), "Cortex-X1"),
    ((0x41, 0xd47), "Cortex-A710"),
    ((0x41, 0xd48), "Cortex-X2"),
    ((0x41, 0xd49), "Neoverse N2"),
    ((0x41, 0xd4f), "Neoverse V2"),
    ((0x41, 0xd83), "Neoverse V3-AE"),
    ((0x41, 0xd84), "Neoverse V3"),
    ((0x41, 0xd8e), "Neoverse N3"),
    ((0xc0, 0xac3), "Ampere-1"),
];

/// The values of all `name : value` in the text of /proc/cpuinfo.
pub(crate) fn fields<'a>(info: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    info.lines()
        .filter_map(|line| line.split_once(':'))
        .filter(move |(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers() {
        let info = "processor\t: 0\nmodel name\t: Some CPU @ 2.6: x\nflags\t\t: fpu aes\n";
        assert_eq!(model(info).as_deref(), Some("Some CPU @ 2.6: x"));
        assert_eq!(fields(info, "flags").next(), Some("fpu aes"));
        assert_eq!(fields(info, "name").next(), None);
        let core = |implementer: &str, part: &str| {
            format!("processor\t: 0\nCPU implementer\t: {implementer}\nCPU part\t: {part}\n")
        };
        let (little, big) = (core("0x41", "0xd05"), core("0x41", "0xd44"));
        let both = [&*little, &little, &big].concat();
        assert_eq!(model(&both).as_deref(), Some("Cortex-A55 and Cortex-X1"));
        let other = model(&core("0x51", "0x001"));
        assert_eq!(other.as_deref(), Some("arm64 core 0x001 of implementer 0x51"));
        assert_eq!(model("processor : 0\n"), None);
    }
}
