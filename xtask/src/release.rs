//! What users install, made from a clean clone into `dist/`: `cargo xtask release`. With `--check`,
//! one commit is built in two folders, and all files must be equal. `packaging/README.md` has more.

mod archive;
mod build;
mod check;
mod crates;
mod debian;
mod inside;
mod python;
mod semver;
mod stage;
mod symbols;
mod test;
mod tools;
mod zig;

use std::env;
use std::fs;
use std::panic;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Instant;

use crate::suite;

pub(crate) use self::semver::check as semver;
pub(crate) use self::test::run as test;

/// Either a result, or what went wrong, for the user.
pub(crate) type Outcome<T = ()> = Result<T, String>;

/// A processor that packages are made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Arch(&'static str);

impl Arch {
    const ALL: [Self; 2] = [Self("x86_64"), Self("aarch64")];

    /// As in Rust's targets.
    pub(crate) fn name(self) -> &'static str {
        self.0
    }

    fn gnu(self) -> String {
        format!("{}-unknown-linux-gnu", self.0)
    }

    /// Whether this machine runs its programs itself.
    fn is_native(self) -> bool {
        self.0 == env::consts::ARCH
    }
}

/// A part of a release, in the order in which they are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Crates,
    Inside,
    /// The program and the libraries for C: Debian packages, and an archive of the program.
    System,
    Python,
}

impl Part {
    const ALL: [Self; 4] = [Self::Crates, Self::Inside, Self::System, Self::Python];

    fn name(self) -> &'static str {
        match self {
            Self::Crates => "crates",
            Self::Inside => "inside",
            Self::System => "system",
            Self::Python => "python",
        }
    }
}

/// What the user asks for.
#[derive(Default)]
struct Options<'a> {
    archs: Vec<Arch>,
    parts: Vec<Part>,
    /// Where the second of two builds is made that are compared.
    check: Option<&'a Path>,
    allow_dirty: bool,
}

impl<'a> Options<'a> {
    fn parse(arguments: &[&'a str]) -> Outcome<Self> {
        let mut options = Self::default();
        let mut arguments = arguments.iter().copied();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument {
                "--arch" => options.archs.push(named(value()?, &Arch::ALL, |it| it.0)?),
                "--only" => options.parts.push(named(value()?, &Part::ALL, |it| it.name())?),
                "--check" => options.check = Some(Path::new(value()?)),
                "--allow-dirty" => options.allow_dirty = true,
                _ => return Err(format!("unknown argument {argument}")),
            }
        }
        if options.archs.is_empty() {
            options.archs = Arch::ALL.to_vec();
        }
        if options.parts.is_empty() {
            options.parts = Part::ALL.to_vec();
        }
        Ok(options)
    }

    /// The same for a clone.
    fn arguments(&self) -> Vec<&'static str> {
        let archs = self.archs.iter().flat_map(|it| ["--arch", it.0]);
        archs.chain(self.parts.iter().flat_map(|it| ["--only", it.name()])).collect()
    }
}

fn named<T: Copy>(name: &str, all: &[T], name_of: fn(&T) -> &str) -> Outcome<T> {
    all.iter().find(|it| name_of(it) == name).copied().ok_or_else(|| {
        let names: Vec<_> = all.iter().map(name_of).collect();
        format!("{name} is none of {}", names.join(", "))
    })
}

/// What all parts of a release have in common.
struct Release {
    /// The version of all packages.
    version: String,
    /// The time of the commit, which stands for all times.
    epoch: u64,
    /// Where packages are put.
    dist: PathBuf,
    /// What is made on the way.
    work: PathBuf,
    tools: tools::Tools,
}

impl Release {
    fn new(parts: &[Part], archs: &[Arch]) -> Outcome<Self> {
        let root = suite::root().to_str().ok_or("the path of the clone is not UTF-8")?;
        let target = suite::target();
        let target = target.to_str().ok_or("the path of build results is not UTF-8")?;
        if [root, target].iter().any(|it| it.contains(char::is_whitespace)) {
            return Err(String::from("paths with spaces cannot be passed to compilers of C"));
        }
        let epoch = output(Command::new("git").args(["log", "-1", "--format=%ct"]))?;
        let work = suite::target().join("release-work");
        fs::create_dir_all(&work).map_err(|it| format!("{}: {it}", work.display()))?;
        Ok(Self {
            version: version()?,
            epoch: epoch.parse().map_err(|_| format!("git gave no time: {epoch}"))?,
            dist: suite::root().join("dist"),
            work,
            tools: tools::Tools::get(parts, archs)?,
        })
    }

    /// Where the files of the Debian packages are, by name, for a processor.
    fn stage(&self, arch: Arch) -> PathBuf {
        suite::target().join("release-stage").join(arch.name())
    }

    /// A new folder for packages, or for what leads to them.
    fn fresh(&self, folder: PathBuf) -> Outcome<PathBuf> {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|it| format!("{}: {it}", folder.display()))?;
        Ok(folder)
    }
}

/// Makes a release, whole or in parts, and says how long each part took.
pub(crate) fn run(arguments: &[&str]) -> bool {
    let options = Options::parse(arguments);
    match options.and_then(|it| if it.check.is_some() { check::twice(&it) } else { make(&it) }) {
        Ok(()) => true,
        Err(error) => {
            eprintln!("release: {error}");
            false
        }
    }
}

/// Whether the crates build from their archives.
pub(crate) fn crates() -> bool {
    let release = Release::new(&[Part::Crates], &[]);
    let checked = release.and_then(|it| {
        let archives = crates::pack(&it, &crates::published()?, false)?;
        crates::check(&it, &archives)
    });
    checked.inspect_err(|error| eprintln!("crates: {error}")).is_ok()
}

fn make(options: &Options<'_>) -> Outcome {
    let changes = output(Command::new("git").args(["status", "--porcelain"]))?;
    if !changes.is_empty() && !options.allow_dirty {
        return Err(format!(
            "these changes are in no commit; --allow-dirty goes on for a trial:\n{changes}"
        ));
    }
    let start = Instant::now();
    let release = timed("tools", || Release::new(&options.parts, &options.archs))?;
    release.fresh(release.dist.clone())?;
    let has = |parts: &[Part]| options.parts.iter().any(|it| parts.contains(it));
    // Compiling for the first processor begins while tools are compiled and take one core.
    let lists = || -> Outcome<Vec<PathBuf>> {
        if has(&[Part::Inside, Part::System, Part::Python]) {
            timed("tools for lists", || release.tools.install_crates())?;
            timed("lists and licences", || inside::collect(&release, &options.archs))?;
        }
        if !has(&[Part::Crates, Part::Python]) {
            return Ok(Vec::new());
        }
        timed("crates", || crates::pack(&release, &crates::published()?, options.allow_dirty))
    };
    let programs = || -> Outcome {
        if !has(&[Part::System]) {
            return Ok(());
        }
        options.archs.iter().try_for_each(|&arch| zig::prepare(&release, arch))?;
        timed("programs", || stage::compile(&release, options.archs[0]))
    };
    let (archives, ()) = beside(lists, programs)?;
    let make_part = |part: Part| -> Outcome {
        match part {
            Part::Crates => crates::make(&release, &archives)?,
            Part::Inside => inside::make(&release, &options.archs)?,
            Part::System => options.archs.iter().try_for_each(|&arch| {
                timed(&format!("system {}", arch.0), || stage::make(&release, arch))
            })?,
            Part::Python => {
                options.archs.iter().try_for_each(|&arch| {
                    let wheel = || python::wheel(&release, arch, &archives);
                    timed(&format!("python {}", arch.0), wheel)
                })?;
                python::source(&release)?;
            }
        }
        Ok(())
    };
    // Both end with links that take one core.
    let (wheels, others): (Vec<_>, Vec<_>) =
        options.parts.iter().partition(|it| matches!(it, Part::Python));
    beside(
        || wheels.into_iter().try_for_each(make_part),
        || others.into_iter().try_for_each(make_part),
    )?;
    archive::sums(&release.dist)?;
    println!("==> in {}: {} s", release.dist.display(), start.elapsed().as_secs());
    Ok(())
}

/// Runs two jobs at a time.
fn beside<A: Send, B>(
    one: impl FnOnce() -> Outcome<A> + Send,
    other: impl FnOnce() -> Outcome<B>,
) -> Outcome<(A, B)> {
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other()?;
        Ok((one.join().unwrap_or_else(|it| panic::resume_unwind(it))?, other))
    })
}

/// Says how long something took.
fn timed<T>(name: &str, run: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    let start = Instant::now();
    let result = run()?;
    println!("==> {name}: {} s", start.elapsed().as_secs());
    Ok(result)
}

/// The version of all packages: it is in one place, the workspace.
fn version() -> Outcome<String> {
    let manifest = read(Path::new("Cargo.toml"))?;
    let version = manifest.lines().find_map(|it| it.strip_prefix("version = \""));
    let version = version.and_then(|it| it.strip_suffix('"'));
    version.map(str::to_owned).ok_or(String::from("Cargo.toml names no version"))
}

/// Runs a command to its end.
fn run_command(command: &mut Command) -> Outcome {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{status}: {command:?}")),
        Err(error) => Err(format!("{error}: {command:?}")),
    }
}

/// What a command prints, without the end of the last line.
pub(crate) fn output(command: &mut Command) -> Outcome<String> {
    let output = command.stderr(std::process::Stdio::inherit()).output();
    let output = output.map_err(|error| format!("{error}: {command:?}"))?;
    if !output.status.success() {
        return Err(format!("{}: {command:?}", output.status));
    }
    let text = String::from_utf8(output.stdout).map_err(|_| format!("no text: {command:?}"))?;
    Ok(text.trim_end().to_owned())
}

pub(crate) fn read(file: &Path) -> Outcome<String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

pub(crate) fn write(file: &Path, text: &str) -> Outcome {
    fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

fn copy(from: &Path, to: &Path) -> Outcome {
    let copied = fs::copy(from, to);
    copied.map(drop).map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
}

/// The files of a folder, sorted by name.
fn files(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let error = |error| format!("{}: {error}", folder.display());
    let entries = fs::read_dir(folder).map_err(error)?;
    let mut files =
        entries.map(|it| Ok(it?.path())).collect::<Result<Vec<_>, _>>().map_err(error)?;
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::{Arch, Options, Part};

    #[test]
    fn without_arguments_everything_is_made() {
        let options = Options::parse(&[]).expect("no argument is right");
        assert_eq!((options.archs, options.parts), (Arch::ALL.to_vec(), Part::ALL.to_vec()));
    }

    #[test]
    fn arguments_name_processors_and_parts() {
        let arguments = ["--arch", "aarch64", "--only", "system", "--only", "crates"];
        let options = Options::parse(&arguments).expect("these are right");
        assert_eq!(options.archs, [Arch("aarch64")]);
        assert_eq!(options.parts, [Part::System, Part::Crates]);
        assert_eq!(options.arguments(), arguments);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for wrong in [&["--arch", "arm64"][..], &["--only"], &["--only", "deb"], &["static"]] {
            assert!(Options::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
