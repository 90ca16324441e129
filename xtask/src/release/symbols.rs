//! What a program or library needs of the system that it is installed on.

use std::path::Path;
use std::process::Command;

use super::{Outcome, output};

/// The oldest glibc that packages work with: that of `manylinux_2_28`.
pub(super) const GLIBC: (u32, u32) = (2, 28);

/// Libraries of glibc, the only ones that may be needed.
const OF_GLIBC: [&str; 7] = [
    "libc.so.6",
    "libm.so.6",
    "libpthread.so.0",
    "libdl.so.2",
    "librt.so.1",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
];

/// Fails if a file needs a library that is not of glibc, or a symbol that [`GLIBC`] does not have.
pub(super) fn check(file: &Path) -> Outcome {
    let text = readelf(file)?;
    let wrong = needed(&text).find(|it| !OF_GLIBC.contains(it)).map(str::to_owned);
    let wrong = wrong.or_else(|| {
        let newest = versions(&text).max()?;
        (newest > GLIBC).then(|| format!("GLIBC_{}.{}", newest.0, newest.1))
    });
    wrong.map_or(Ok(()), |it| Err(format!("{} needs {it}", file.display())))
}

fn readelf(file: &Path) -> Outcome<String> {
    let mut readelf = Command::new("readelf");
    output(readelf.args(["--wide", "--dynamic", "--version-info", "--segments"]).arg(file))
}

/// The libraries that are loaded with it.
fn needed(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|it| it.contains("(NEEDED)"));
    lines.filter_map(|it| it.split_once('[')?.1.split(']').next())
}

/// The versions of glibc that its symbols need. One without a number, such as that of packed
/// relocations, counts as the newest.
fn versions(text: &str) -> impl Iterator<Item = (u32, u32)> {
    let number = |name: &str| {
        let mut numbers = name.split('.').map(|it| it.parse().ok());
        Some((numbers.next()??, numbers.next()??))
    };
    let names = text.split("Name: GLIBC_").skip(1).filter_map(|it| it.split_whitespace().next());
    names.map(move |name| number(name).unwrap_or((u32::MAX, 0)))
}

#[cfg(test)]
mod tests {
    use super::{needed, versions};

    const TEXT: &str = "
  0x0000000000000001 (NEEDED)             Shared library: [libm.so.6]
  0x0000000000000001 (NEEDED)             Shared library: [libgcc_s.so.1]
  0x000000000000000e (SONAME)             Library soname: [liblanecrypt.so.0]
  0x0020:   Name: GLIBC_2.2.5  Flags: none  Version: 3
  0x0030:   Name: GLIBC_2.34  Flags: none  Version: 2
";

    #[test]
    fn libraries_and_versions_are_found() {
        assert_eq!(needed(TEXT).collect::<Vec<_>>(), ["libm.so.6", "libgcc_s.so.1"]);
        assert_eq!(versions(TEXT).max(), Some((2, 34)));
        assert_eq!(versions(TEXT).count(), 2);
        assert_eq!(versions("Name: GLIBC_ABI_DT_RELR  Flags: none").next(), Some((u32::MAX, 0)));
    }
}
