//! Tests of the packages in systems of their own: `cargo xtask release-test debian`. What runs in
//! them is in `packaging/debian/tests`.

use std::env::consts::ARCH;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use std::{fs, io};

use super::root::{Files, Root, SUITES, Suite, differences};
use super::{
    ARCHITECTURES, Build, arm64, check, error, is_command, is_debug, kept, output_of, version,
};
use crate::queue::Report;
use crate::suite;

/// What the tests of programs take of the distribution, beside the packages.
const TOOLS: &str = "gcc,libc6-dev,man-db,openssl,pkg-config,procps,systemd";
/// An older version, made from the same files.
const OLDER: &str = "0.0.9~";
/// Any time that is past.
const EPOCH: u64 = 1_700_000_000;

/// Makes the packages of the files in `target/release-stage`, and tests them.
pub(crate) fn run(report: &mut Report) {
    let folder = suite::target().join("debian-test");
    let mut made = Vec::new();
    for architecture in &ARCHITECTURES {
        let stage = suite::target().join("release-stage").join(architecture.rust);
        if !stage.is_dir() {
            let make = format!("cargo xtask release --only system --arch {}", architecture.rust);
            if architecture.rust == ARCH {
                println!("no {}: {make}", stage.display());
                report.check("debian: what a release has staged", false);
            } else {
                report.skip(format!("SKIPPED debian-{}: {make}", architecture.debian));
            }
            continue;
        }
        let name = |check: &str| format!("debian {}: {check}", architecture.debian);
        let build = Build { architecture, stage: &stage, version: &version(), epoch: EPOCH };
        let packages = build.packages(&folder.join(architecture.debian));
        let Some(packages) = kept(report, &name("packages"), packages) else { continue };
        check(
            report,
            &name("a second build is equal"),
            second_is_equal(&build, &packages, &folder),
        );
        if is_command("lintian") {
            check(report, &name("lintian"), lintian(&packages));
        } else {
            report.skip(String::from("SKIPPED lintian: apt install lintian"));
        }
        if architecture.rust == ARCH {
            in_systems(report, &build, &packages, &folder);
        } else if architecture.debian == "arm64" {
            arm64::check_packages(report, &packages, &folder);
        }
        made.push(packages);
    }
    if let [one, other] = made.as_slice() {
        check(report, "debian: both processors on one system", can_be_together(one, other));
    }
}

/// In a folder whose path has another length.
fn second_is_equal(build: &Build<'_>, packages: &[PathBuf], folder: &Path) -> io::Result<()> {
    let second = folder.join("second-build").join(build.architecture.debian);
    let others = build.packages(&second)?;
    if others.len() != packages.len() {
        return error(format!("{packages:?}\n{others:?}"));
    }
    for (one, other) in packages.iter().zip(&others) {
        if one.file_name() != other.file_name() || fs::read(one)? != fs::read(other)? {
            return error(format!("{} and {} differ", one.display(), other.display()));
        }
    }
    fs::remove_dir_all(second)
}

/// Whether packages of two processors that say so can be installed together: files that both have
/// must be equal.
fn can_be_together(one: &[PathBuf], other: &[PathBuf]) -> io::Result<()> {
    let printed = |command: &str, package: &Path, what: &str| {
        output_of(Command::new("dpkg-deb").arg(command).arg(package).arg(what))
    };
    let mut compared = 0;
    for (one, other) in one.iter().zip(other) {
        if printed("--field", one, "Multi-Arch")?.trim() == "same" {
            let (ours, theirs) =
                (printed("--info", one, "md5sums")?, printed("--info", other, "md5sums")?);
            for (sum, file) in ours.lines().filter_map(|line| line.split_once("  ")) {
                let at = theirs.lines().filter_map(|line| line.split_once("  "));
                let mut at = at.filter(|(_, name)| *name == file);
                if at.next().is_some_and(|(other, _)| other != sum) {
                    return error(format!("{file} of {} differs", one.display()));
                }
                compared += 1;
            }
        }
    }
    if compared == 0 { error("no package says that it can") } else { Ok(()) }
}

/// Warnings count, too: what is overridden has its reason in `packaging/debian`.
fn lintian(packages: &[PathBuf]) -> io::Result<()> {
    let mut command = Command::new("lintian");
    command.args(["--allow-root", "--no-cfg", "--fail-on=error,warning"]).args(packages);
    output_of(&mut command).map(|_| ())
}

fn in_systems(report: &mut Report, build: &Build<'_>, packages: &[PathBuf], folder: &Path) {
    let is_root = fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0);
    if !is_root || !is_command("mmdebstrap") {
        return report.skip(String::from(
            "SKIPPED debian-root: apt install mmdebstrap, and run this as root",
        ));
    }
    let older = Build { version: OLDER, ..*build }.packages(&folder.join("older"));
    let Some(older) = kept(report, "debian: the older packages", older) else { return };
    let archives = folder.join("systems");
    for suite in &SUITES {
        if !suite.has_keys() {
            let package = suite.keys_package;
            report.skip(format!("SKIPPED debian-{}: apt install {package}", suite.name));
            continue;
        }
        let name = |check: &str| format!("debian {}: {check}", suite.name);
        if let Some(root) = kept(report, &name("a minimal system"), Root::new(suite, &archives, ""))
        {
            check(report, &name("install, use, purge"), first_use(&root, suite, packages));
        }
        if let Some(root) = kept(report, &name("another"), Root::new(suite, &archives, "")) {
            check(report, &name("upgrade"), upgrade(&root, &older, packages));
        }
        let root = Root::new(suite, &archives, TOOLS);
        if let Some(root) = kept(report, &name("a system with a compiler"), root) {
            let installed = prepared(&root, packages).and_then(|()| install(&root, packages, ""));
            check(report, &name("all packages"), installed);
            for script in ["files", "library", "manual", "openssl", "purged"] {
                let outcome = root.shell(&format!("sh -eu /test/{script}")).map(|_| ());
                check(report, &name(script), outcome);
            }
        }
    }
}

/// Puts packages and scripts into a system.
fn prepared(root: &Root, packages: &[PathBuf]) -> io::Result<()> {
    root.put(packages)?;
    let scripts = fs::read_dir(suite::root().join("packaging/debian/tests"))?;
    let scripts: io::Result<Vec<_>> = scripts.map(|it| Ok(it?.path())).collect();
    root.put(&scripts?)
}

/// Installs all packages but those of debug symbols; apt and dpkg must not warn.
fn install(root: &Root, packages: &[PathBuf], options: &str) -> io::Result<()> {
    let packages = packages.iter().filter(|it| !is_debug(it));
    let names = packages.filter_map(|it| it.file_name()?.to_str());
    let files = names.map(|it| format!(" ./{it}")).collect::<String>();
    without_warnings(
        &root.shell(&format!("apt-get install -y --no-install-recommends {options}{files}"))?,
    )
}

fn without_warnings(output: &str) -> io::Result<()> {
    let is_warning = |line: &str| {
        ["W: ", "E: ", "N: "].iter().any(|it| line.starts_with(it))
            || line.to_lowercase().contains("warning")
    };
    if output.lines().any(is_warning) { error(output) } else { Ok(()) }
}

/// The packages come, work and go; nothing but their user stays.
fn first_use(root: &Root, suite: &Suite, packages: &[PathBuf]) -> io::Result<()> {
    prepared(root, packages)?;
    let before = (root.packages()?, root.files()?);
    // `apt install ./lanecrypt*.deb`.
    let named: Vec<_> = packages.iter().filter(|it| is_called_so(it)).cloned().collect();
    let start = Instant::now();
    install(root, &named, "")?;
    let installed = start.elapsed();
    root.shell(
        "lanecrypt keygen first.key; echo text >first; lanecrypt encrypt first -k first.key",
    )?;
    let (installed, all) = (installed.as_secs_f64(), start.elapsed().as_secs_f64());
    println!(
        "debian {}: apt install {installed:.1} s, with the first file encrypted {all:.1} s",
        suite.name
    );
    install(root, packages, "")?;
    root.shell("sh -eu /test/files; sh -eu /test/daemon")?;
    purge(root, &before)
}

fn is_called_so(package: &Path) -> bool {
    let name = package.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("lanecrypt")
}

/// Removes and purges the packages, and compares with what was before.
fn purge(root: &Root, before: &(String, Files)) -> io::Result<()> {
    let with_settings = "lanecrypt lanecrypt-openssl";
    let names = format!("{with_settings} liblanecrypt0 liblanecrypt-dev");
    without_warnings(&root.shell(&format!("apt-get remove -y {names}"))?)?;
    if !root.folder.join("etc/lanecrypt/serve.toml").is_file() {
        return error("settings went before the package was purged");
    }
    without_warnings(&root.shell(&format!("apt-get purge -y --autoremove {with_settings}"))?)?;
    let packages = root.packages()?;
    if packages != before.0 {
        return error(format!("packages before:\n{}\nand after:\n{packages}", before.0));
    }
    let differences = differences(&before.1, &root.files()?);
    if differences.is_empty() { Ok(()) } else { error(differences.join("\n")) }
}

/// What the older packages encrypted is read by the newer, and changed settings stay.
fn upgrade(root: &Root, older: &[PathBuf], packages: &[PathBuf]) -> io::Result<()> {
    root.put(older)?;
    root.put(packages)?;
    let before = (root.packages()?, root.files()?);
    install(root, older, "")?;
    root.shell(
        "rm -f old*; lanecrypt keygen old.key; head -c 300000 /dev/urandom >old
         lanecrypt encrypt old -k old.key
         echo '# ours' >>/etc/lanecrypt/serve.toml; id -u lanecrypt >old.user",
    )?;
    install(root, packages, "")?;
    let versions = root.shell("dpkg-query --show --showformat '${Version}\\n' lanecrypt")?;
    if versions.trim() != version() {
        return error(format!("version {versions} is installed"));
    }
    root.shell(
        "lanecrypt decrypt old.lanecrypt -k old.key -o new; cmp old new
         tail -n 1 /etc/lanecrypt/serve.toml | grep -x '# ours'; id -u lanecrypt | cmp - old.user",
    )?;
    purge(root, &before)
}
