//! Packages for arm64 on a machine that is none: dpkg installs them into a folder, and qemu runs
//! what is in them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use super::{check, error, is_debug, kept, output_of};
use crate::cross::{ARM64, Target};
use crate::debian;
use crate::queue::Report;

/// What the packages need of the distribution, and what else is used.
const PACKAGES: [&str; 4] = ["libc6", "libgcc-s1", "openssl", "systemd-standalone-sysusers"];

pub(super) fn check_packages(report: &mut Report, packages: &[PathBuf], folder: &Path) {
    if !ARM64.is_usable("debian") {
        return;
    }
    let folder = folder.join("systems/arm64");
    let Some(system) = debian::unpacked(&folder, "arm64", &PACKAGES) else {
        report.skip(String::from("SKIPPED debian-arm64: needs apt, and a mirror that has arm64"));
        return;
    };
    let packages: Vec<_> = packages.iter().filter(|it| !is_debug(it)).collect();
    check(report, "debian arm64: dependencies", resolved(&folder, &packages));
    let root = folder.join("installed");
    let installed = install(&system, &root, &packages);
    if kept(report, "debian arm64: install", installed).is_some() {
        check(report, "debian arm64: use", used(&root));
    }
    let _ = fs::remove_dir_all(root);
}

/// Whether apt finds in the distribution for arm64 what the packages depend on.
fn resolved(folder: &Path, packages: &[&PathBuf]) -> io::Result<()> {
    let mut command = Command::new("apt-get");
    command.args(["install", "--simulate", "--quiet"]).args(packages);
    let printed = output_of(command.env("APT_CONFIG", folder.join("apt.conf")))?;
    let is_planned = |package: &str| printed.contains(&format!("\nInst {package} "));
    if ["lanecrypt", "liblanecrypt0", "liblanecrypt-dev", "lanecrypt-openssl"]
        .into_iter()
        .all(is_planned)
    {
        Ok(())
    } else {
        error(printed)
    }
}

/// Installs into a copy of a system, whose maintainer scripts are run here, as `DPKG_ROOT` asks.
fn install(system: &Path, root: &Path, packages: &[&PathBuf]) -> io::Result<()> {
    if root.exists() {
        fs::remove_dir_all(root)?;
    }
    output_of(Command::new("cp").arg("-a").args([system, root]))?;
    let database = root.join("var/lib/dpkg");
    fs::create_dir_all(database.join("info"))?;
    fs::create_dir_all(database.join("updates"))?;
    fs::write(database.join("status"), "")?;
    let mut command = Command::new("dpkg");
    command
        .arg(format!("--root={}", root.display()))
        // The packages that are there were unpacked without dpkg.
        .args(["--force-architecture", "--force-depends", "--force-script-chrootless"])
        .args(["--no-triggers", "--install"])
        .args(packages);
    output_of(&mut command)?;
    let users = fs::read_to_string(root.join("etc/passwd"))?;
    if users.lines().any(|it| it.starts_with("lanecrypt:")) { Ok(()) } else { error(users) }
}

/// The program and the provider.
fn used(root: &Path) -> io::Result<()> {
    let libraries = root.display().to_string();
    let target = Target { libraries: libraries.leak(), ..ARM64 };
    let work = root.join("tmp/work");
    fs::create_dir_all(&work)?;
    let run = |program: &str, arguments: &[&str]| {
        let mut command = target.command_with(&[], &root.join("usr/bin").join(program));
        command.args(arguments).current_dir(&work).env_remove("OPENSSL_CONF");
        output_of(&mut command)
    };
    let random = run("lanecrypt", &["random", "32", "--format", "hex"])?;
    if random.trim().len() != 64 {
        return error(random);
    }
    let text = "a file of some length\n".repeat(10_000);
    fs::write(work.join("plain"), &text)?;
    run("lanecrypt", &["keygen", "my.key"])?;
    run("lanecrypt", &["encrypt", "plain", "-k", "my.key"])?;
    run("lanecrypt", &["decrypt", "plain.lanecrypt", "-k", "my.key", "-o", "again"])?;
    if fs::read_to_string(work.join("again"))? != text {
        return error("decrypted is not what was encrypted");
    }
    let key = ["-K", "000102030405060708090a0b0c0d0e0f", "-iv", "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"];
    let cipher = ["enc", "-aes-128-ctr", "-base64", "-in", "plain"];
    let cipher = [&cipher[..], &key].concat();
    let own =
        ["-provider", "default", "-provider", "lanecrypt", "-propquery", "provider=lanecrypt"];
    let by_lanecrypt = run("openssl", &[&cipher[..], &own].concat())?;
    if by_lanecrypt != run("openssl", &cipher)? {
        return error(by_lanecrypt);
    }
    Ok(())
}
