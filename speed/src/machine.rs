//! The machine that a run was made on.

use std::fs;
use std::path::Path;

use lanecrypt_kernels::{Isa, Level};
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::emulator::emulator;
use crate::processor_model::{cpuinfo, fields, processor_model};
use crate::processors::{self, Pinned};
use crate::text;

/// The properties of the machine and the build that figures depend on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Machine {
    /// The processor's name.
    pub cpu: String,
    /// Its architecture, as the compiler calls it.
    pub arch: String,
    /// The emulator that ran the program; its figures then say nothing about a processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emulator: Option<String>,
    /// Relevant instruction sets that it has.
    pub flags: Vec<String>,
    /// The level of instruction set that ours uses.
    pub isa: String,
    /// Processors that the program may use.
    pub processors: u32,
    /// Cycles in a nanosecond: of the time-stamp counter on x86-64, of the core elsewhere.
    pub tsc_ghz: f64,
    /// Core cycles in a nanosecond at the start, to which batches are scaled; absent without
    /// optimisation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_ghz: Option<f64>,
    /// What the core's cycles were found by, `perf_event` or `a timed chain`; absent on x86-64 and
    /// in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles_by: Option<String>,
    /// The kernel's release; after its name, if that is not Linux.
    pub kernel: String,
    /// Whether a hypervisor runs below.
    pub virtualised: bool,
    /// The frequency governor, where one is visible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// `release` or `debug`.
    pub profile: String,
    /// The peers that were found: `source` and version.
    pub libraries: Vec<Library>,
    /// The level that ours and the peers were asked to be held to; absent if they were not, and in
    /// files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Hold>,
}

/// Ours and the peers held to a level.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Hold {
    /// The level that was asked for.
    pub level: String,
    /// The projects that are held to it, of those that were found.
    pub held: Vec<String>,
    /// Those that choose code above it.
    pub not_held: Vec<String>,
}

impl Hold {
    /// The projects of `sources`, held to `level` as far as this process is.
    pub(crate) fn new(level: Level, sources: &[&str]) -> Self {
        let all = sources.iter().map(|&source| source.to_owned());
        let (held, not_held) = all.partition(|source| lanecrypt_peers::is_held(source, level));
        Self { level: level.name().to_owned(), held, not_held }
    }

    fn text(&self) -> String {
        let Self { level, held, not_held } = self;
        let list = |names: &[String]| match names {
            [] => String::from("none"),
            _ => names.join(", "),
        };
        let others = match &**not_held {
            [] => String::new(),
            _ => format!("; {MARK}: not held, chooses code above {level}: {}", list(not_held)),
        };
        text::wrapped(&format!("peers held to {level}: {}{others}", list(held)))
    }
}

/// The mark after the names of peers that are not held.
const MARK: &str = "‡";

/// A peer's library.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Library {
    /// The project.
    pub source: String,
    /// Its version.
    pub version: String,
}

impl Library {
    pub(crate) fn new(source: &str, version: &str) -> Self {
        Self { source: source.into(), version: version.into() }
    }
}

/// Instruction sets worth naming, in the kernel's spelling.
const NAMED: [&str; 19] = [
    "ssse3",
    "aes",
    "pclmulqdq",
    "avx",
    "avx2",
    "bmi2",
    "vaes",
    "vpclmulqdq",
    "avx512f",
    "avx512bw",
    "avx512_vbmi2",
    "avx512ifma",
    "gfni",
    "rdrand",
    "asimd",
    "pmull",
    "sha3",
    "sve",
    "dit",
];

impl Machine {
    /// Describes this machine. Takes about a tenth of a second: it measures both clocks.
    #[must_use]
    pub fn of_this_process() -> Self {
        let processors = processors::allowed();
        let _pinned = processors.first().map(|&cpu| Pinned::to(cpu));
        let emulator = emulator();
        // Emulators show the file of the processor that they run on.
        let info = if emulator.is_some() { String::new() } else { cpuinfo() };
        let flags = fields(&info, "flags").chain(fields(&info, "Features")).next();
        let flags = flags.unwrap_or_default();
        let has = |name: &str| flags.split_ascii_whitespace().any(|flag| flag == name);
        let optimised = !cfg!(debug_assertions);
        Self {
            cpu: processor_model(),
            arch: std::env::consts::ARCH.to_owned(),
            emulator,
            flags: NAMED.iter().filter(|name| has(name)).map(|name| (*name).to_owned()).collect(),
            isa: Isa::detect().level().name().to_owned(),
            processors: u32::try_from(processors.len()).unwrap_or(u32::MAX),
            tsc_ghz: clock::ghz(),
            core_ghz: optimised.then(|| clock::core_ratio() * clock::ghz()),
            cycles_by: clock::source().map(str::to_owned),
            kernel: kernel(),
            virtualised: has("hypervisor") || Path::new("/sys/hypervisor/type").exists(),
            governor: first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            profile: if optimised { "release" } else { "debug" }.to_owned(),
            libraries: Vec::new(),
            hold: None,
        }
    }

    /// The mark of a project that is not held to the level that was asked for.
    pub(crate) fn mark(&self, source: &str) -> &'static str {
        let is_it = |hold: &Hold| hold.not_held.iter().any(|other| other == source);
        if self.hold.as_ref().is_some_and(is_it) { MARK } else { "" }
    }

    /// The lines above every table: two, and more after an emulator or if peers were held.
    #[must_use]
    pub fn summary(&self) -> String {
        let is_x86 = self.arch == "x86_64";
        let (unit, now) = if is_x86 { ("time-stamp counter", "core") } else { ("core", "later") };
        let mut clocks = format!("cycles: {unit} {:.2} GHz", self.tsc_ghz);
        if let Some(source) = &self.cycles_by {
            clocks += &format!(" by {source}");
        }
        if let Some(core) = self.core_ghz {
            clocks += &format!(", {now} {core:.2} GHz (x {:.2})", core / self.tsc_ghz);
        }
        let place = if self.virtualised { ", virtual machine" } else { "" };
        let processors = if self.processors == 1 { "processor" } else { "processors" };
        let system = if self.kernel.contains(' ') { "" } else { "Linux " };
        let mut text = format!(
            "{}, {} {processors}{place}, {system}{}\n{clocks}; instruction set {}, {} build",
            self.cpu, self.processors, self.kernel, self.isa, self.profile
        );
        if let Some(governor) = &self.governor {
            text += &format!(", governor {governor}");
        }
        let hold = self.hold.as_ref().map(|hold| hold.text().trim_end().to_owned());
        for line in [self.warning(), hold].into_iter().flatten() {
            text += "\n";
            text += &line;
        }
        text
    }

    /// What every display of an emulator's figures says; none for those of a processor.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let emulator = self.emulator.as_ref()?;
        Some(format!("EMULATED by {emulator}: these figures say nothing about a processor"))
    }
}

fn kernel() -> String {
    let names = rustix::system::uname();
    let release = names.release().to_string_lossy().into_owned();
    match cfg!(target_os = "linux") {
        true => release,
        false => format!("{} {release}", names.sysname().to_string_lossy()),
    }
}

fn first_line(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.lines().next()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_described() {
        let machine = Machine::of_this_process();
        assert!(!machine.kernel.is_empty() && machine.processors > 0);
        let lines = if machine.emulator.is_some() { 3 } else { 2 };
        assert_eq!(machine.summary().lines().count(), lines);
    }

    #[test]
    fn peers_that_are_not_held_are_marked() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let (level, held) = (String::from("avx2"), names(&["kernel", "openssl"]));
        let hold = Hold { level, held, not_held: names(&["ring"]) };
        let mut machine = Machine { hold: Some(hold), ..Machine::default() };
        assert_eq!((machine.mark("ring"), machine.mark("openssl")), ("‡", ""));
        let line =
            "\npeers held to avx2: kernel, openssl; ‡: not held, chooses code above avx2: ring";
        assert!(machine.summary().ends_with(line), "{}", machine.summary());
        let all = Hold { level: "avx2".into(), held: names(&["kernel"]), not_held: Vec::new() };
        machine.hold = Some(all);
        assert!(machine.summary().ends_with("\npeers held to avx2: kernel"));
        machine.hold = None;
        assert_eq!(machine.mark("ring"), "");
        assert!(!machine.summary().contains("held"));
    }

    #[test]
    fn the_unit_of_cycles_is_named_with_its_source() {
        let cycles_by = Some(String::from("perf_event"));
        let arm64 = Machine { arch: "aarch64".into(), tsc_ghz: 2.6, cycles_by, ..<_>::default() };
        let summary = arm64.summary();
        assert!(summary.contains("\ncycles: core 2.60 GHz by perf_event;"), "{summary}");
        let x86_64 = Machine { cycles_by: None, arch: "x86_64".into(), ..arm64 };
        assert!(x86_64.summary().contains("\ncycles: time-stamp counter 2.60 GHz;"));
    }

    #[test]
    fn emulated_figures_are_marked() {
        let emulator = Some(String::from("qemu-s390x"));
        let machine = Machine { emulator, ..Machine::default() };
        assert!(machine.summary().contains("\nEMULATED by qemu-s390x: "));
        assert!(!Machine::default().summary().contains("EMULATED"));
    }
}
