//! The folder in which debhelper works.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use super::{Build, copyright, output_of};
use crate::suite;

const DEBHELPER: &str = "packaging/debian";
const UNITS: [&str; 2] = ["lanecrypt.service", "lanecrypt.socket"];
/// Documents that the packages name.
const DOCUMENTS: [&str; 8] = [
    "SECURITY.md",
    "docs/file-format.md",
    "docs/serve.md",
    "surfaces/c/README.md",
    "surfaces/c/examples/fill.c",
    "surfaces/c/examples/relay.c",
    "surfaces/c/examples/seal.c",
    "surfaces/openssl/README.md",
];
/// The packages, and the licences of others in them, if the release has these files.
const PACKAGES: [(&str, &str); 4] = [
    ("lanecrypt", "THIRD-PARTY-lanecrypt.txt"),
    ("liblanecrypt0", "THIRD-PARTY-liblanecrypt.txt"),
    ("liblanecrypt-dev", "THIRD-PARTY-liblanecrypt.txt"),
    ("lanecrypt-openssl", "THIRD-PARTY-lanecrypt-openssl.txt"),
];
const SHARED: &str = "liblanecrypt.so";
const PROVIDER: &str = "lanecrypt.so";

/// Writes all that debhelper takes into a new folder.
pub(super) fn lay_out(build: &Build<'_>, tree: &Path) -> io::Result<()> {
    let root = suite::root();
    let debian = tree.join("debian");
    copy_all(&root.join(DEBHELPER), &debian)?;
    for unit in UNITS {
        copy(&root.join("packaging/systemd").join(unit), &debian.join(unit))?;
    }
    for document in DOCUMENTS {
        copy(&root.join(document), &tree.join(document))?;
    }
    // Debian's changelog of a package is another.
    copy(&root.join("CHANGELOG.md"), &tree.join("NEWS.md"))?;
    for (package, licences) in PACKAGES {
        if build.stage.join(licences).is_file() {
            copy(&build.stage.join(licences), &tree.join(licences))?;
            let list = debian.join(format!("{package}.docs"));
            let listed = fs::read_to_string(&list).unwrap_or_default();
            fs::write(list, format!("{listed}{licences}\n"))?;
        }
    }
    fs::write(debian.join("changelog"), changelog(build)?)?;
    let head = fs::read_to_string(debian.join("copyright"))?;
    fs::write(debian.join("copyright"), copyright::with_crates(&head)?)?;
    fs::write(debian.join("shlibs.local"), libraries(build)?)?;
    install(build, &tree.join("image"))
}

/// The release as dpkg reads it, by the maintainer that the packages name.
fn changelog(build: &Build<'_>) -> io::Result<String> {
    let control = fs::read_to_string(suite::root().join(DEBHELPER).join("control"))?;
    let maintainer = control.lines().find_map(|line| line.strip_prefix("Maintainer: "));
    let maintainer = maintainer.ok_or_else(|| io::Error::other("control has no maintainer"))?;
    let date = format!("--date=@{}", build.epoch);
    let date = output_of(Command::new("date").args(["-R", "-u", &date]).env("LC_ALL", "C"))?;
    let version = build.version;
    Ok(format!(
        "lanecrypt ({version}) unstable; urgency=medium\n\n  * Version {version}; NEWS.md has what \
         is new.\n\n -- {maintainer}  {date}"
    ))
}

/// The packages that have the system's libraries, for processors whose dpkg is not here. Every file
/// must have a build id.
fn libraries(build: &Build<'_>) -> io::Result<String> {
    let mut oldest = vec![0];
    let shared = shared(build.stage)?;
    for file in ["lanecrypt", &shared, PROVIDER] {
        let mut command = Command::new("readelf");
        command.args(["--notes", "--version-info", "--wide"]).arg(build.stage.join(file));
        let listed = output_of(command.env("LC_ALL", "C"))?;
        if !listed.contains("Build ID: ") {
            let reason = "has no build id, by which its debug symbols would be found";
            return Err(io::Error::other(format!("{file} {reason}: --build-id=sha1")));
        }
        for version in listed.split("Name: GLIBC_").skip(1) {
            let version = version.split_whitespace().next().unwrap_or_default();
            let parts: Result<Vec<u32>, _> = version.split('.').map(str::parse).collect();
            oldest = oldest.max(parts.unwrap_or_default());
        }
    }
    let oldest = oldest.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
    let libc = ["libc 6", "libdl 2", "libm 6", "libpthread 0", "librt 1", "libutil 1"];
    let libc = [&libc[..], &["ld-linux-aarch64 1", "ld-linux-x86-64 2"]].concat();
    let libc = libc.iter().map(|library| format!("{library} libc6 (>= {oldest})\n"));
    Ok(format!("{}libgcc_s 1 libgcc-s1 (>= 4.2)\n", libc.collect::<String>()))
}

/// Installs as the system will have it, below a folder.
fn install(build: &Build<'_>, to: &Path) -> io::Result<()> {
    let stage = build.stage;
    let libraries = to.join("usr/lib").join(build.architecture.multiarch);
    let put = |from: &Path, to: PathBuf, mode: u32| {
        copy(from, &to)?;
        fs::set_permissions(to, fs::Permissions::from_mode(mode))
    };
    put(&stage.join("lanecrypt"), to.join("usr/bin/lanecrypt"), 0o755)?;
    for (file, place) in [
        ("lanecrypt.bash", "bash-completion/completions/lanecrypt"),
        ("lanecrypt.fish", "fish/vendor_completions.d/lanecrypt.fish"),
        ("_lanecrypt", "zsh/vendor-completions/_lanecrypt"),
    ] {
        put(&stage.join("completions").join(file), to.join("usr/share").join(place), 0o644)?;
    }
    for section in ["man1", "man3"] {
        copy_all(&stage.join(section), &to.join("usr/share/man").join(section))?;
    }
    let settings = suite::root().join(DEBHELPER);
    for file in ["serve.toml", "openssl.cnf"] {
        put(&settings.join(file), to.join("etc/lanecrypt").join(file), 0o644)?;
    }
    let shared = shared(stage)?;
    put(&stage.join(&shared), libraries.join(&shared), 0o644)?;
    let soname = format!("{SHARED}.0");
    symlink(&shared, libraries.join(&soname))?;
    symlink(&soname, libraries.join(SHARED))?;
    put(&stage.join("liblanecrypt.a"), libraries.join("liblanecrypt.a"), 0o644)?;
    put(&stage.join("lanecrypt.h"), to.join("usr/include/lanecrypt.h"), 0o644)?;
    put(&stage.join(PROVIDER), libraries.join("ossl-modules").join(PROVIDER), 0o644)?;
    let settings = fs::read_to_string(stage.join("lanecrypt.pc"))?;
    fs::create_dir(libraries.join("pkgconfig"))?;
    let settings = placed(&settings, build.architecture.multiarch);
    fs::write(libraries.join("pkgconfig/lanecrypt.pc"), settings)
}

/// The file of pkg-config, with the folders of the packages.
fn placed(settings: &str, multiarch: &str) -> String {
    let place = |line: &str| match line.split_once('=') {
        Some(("prefix", _)) => String::from("prefix=/usr\n"),
        Some(("libdir", _)) => format!("libdir=${{prefix}}/lib/{multiarch}\n"),
        _ => format!("{line}\n"),
    };
    settings.lines().map(place).collect()
}

/// The name of the shared library, with its version.
fn shared(stage: &Path) -> io::Result<String> {
    for file in fs::read_dir(stage)? {
        let name = file?.file_name().into_string();
        if let Some(name) =
            name.ok().filter(|it| it.strip_prefix(SHARED).is_some_and(|it| it.starts_with('.')))
        {
            return Ok(name);
        }
    }
    Err(io::Error::other(format!("no {SHARED}.* in {}", stage.display())))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    let copied = fs::copy(from, to).map(|_| ());
    copied.map_err(|error| io::Error::other(format!("{}: {error}", from.display())))
}

fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    let files = fs::read_dir(from);
    let files = files.map_err(|error| io::Error::other(format!("{}: {error}", from.display())))?;
    for file in files {
        let file = file?;
        let to = to.join(file.file_name());
        if file.file_type()?.is_dir() {
            copy_all(&file.path(), &to)
        } else {
            copy(&file.path(), &to)
        }?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::{DEBHELPER, placed, suite};

    /// The symbols that the package promises are the functions of the header.
    #[test]
    fn symbols_are_the_functions_of_the_header() {
        let read = |file: &str| fs::read_to_string(suite::root().join(file)).expect("it is there");
        let header = read("surfaces/c/include/lanecrypt.h");
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let code: Vec<_> =
            header.split("/*").map(|it| it.rsplit("*/").next().unwrap_or(it)).collect();
        let code = code.concat();
        let functions = code.match_indices('(').filter_map(|(at, _)| {
            let name = code[..at].rsplit(|c| !is_name(c)).next()?;
            name.starts_with("lc_").then(|| name.to_owned())
        });
        let functions: BTreeSet<String> = functions.collect();
        let symbols = read(&format!("{DEBHELPER}/liblanecrypt0.symbols"));
        let symbols =
            symbols.lines().filter_map(|it| Some(it.trim().split_once('@')?.0.to_owned()));
        let symbols: BTreeSet<String> = symbols.filter(|it| it.starts_with("lc_")).collect();
        assert!(functions.len() > 50, "{functions:?}");
        assert_eq!(symbols, functions, "liblanecrypt0.symbols and lanecrypt.h");
    }

    #[test]
    fn pkg_config_gets_the_folders_of_the_packages() {
        let text = "prefix=/opt/x\nlibdir=${prefix}/lib\nLibs: -L\"${libdir}\" -la=b\n";
        let expected = "prefix=/usr\nlibdir=${prefix}/lib/m-gnu\nLibs: -L\"${libdir}\" -la=b\n";
        assert_eq!(placed(text, "m-gnu"), expected);
    }
}
