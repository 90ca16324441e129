//! What a configuration of OpenSSL says about providers, so that ours continues it.

use std::collections::HashMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The longest file in bytes.
const LONGEST: u64 = 1 << 20;

/// How deep files may include each other.
const DEEPEST: usize = 8;

/// The section before the first heading.
const DEFAULT: &str = "default";

/// A configuration, with the files that it includes.
#[derive(Debug, Default)]
pub(super) struct Base {
    path: PathBuf,
    /// What each section says, in order. A name may be there twice; the last one counts.
    sections: HashMap<String, Vec<(String, String)>>,
}

impl Base {
    /// Reads a configuration.
    ///
    /// # Errors
    ///
    /// What is wrong, with the file.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let at = path.display();
        let whole = std::path::absolute(path).map_err(|error| format!("{at}: {error}"))?;
        let mut base = Self { path: whole.clone(), ..Self::default() };
        base.add(&whole, &mut String::from(DEFAULT), DEEPEST)?;
        Ok(base)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The section of what OpenSSL sets up, if there is one.
    pub(super) fn init(&self) -> Option<&str> {
        self.value(DEFAULT, "openssl_conf")
    }

    /// Its providers: each with the section about it.
    pub(super) fn providers(&self) -> &[(String, String)] {
        let section = self.init().and_then(|init| self.value(init, "providers"));
        section.and_then(|section| self.sections.get(section)).map_or(&[], Vec::as_slice)
    }

    /// Which properties implementations should have.
    pub(super) fn default_properties(&self) -> Option<&str> {
        let section = self.init().and_then(|init| self.value(init, "alg_section"))?;
        self.value(section, "default_properties")
    }

    fn value(&self, section: &str, name: &str) -> Option<&str> {
        let lines = self.sections.get(section)?;
        lines.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Adds a file. `section` is the one that lines belong to; an included file may change it.
    fn add(&mut self, path: &Path, section: &mut String, deepest: usize) -> Result<(), String> {
        let at = path.display();
        let Some(deepest) = deepest.checked_sub(1) else {
            return Err(format!("{at}: files include each other more than {DEEPEST} deep"));
        };
        let file = fs::File::open(path).map_err(|error| format!("{at}: {error}"))?;
        let mut bytes = Vec::new();
        file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|error| format!("{at}: {error}"))?;
        if bytes.len() as u64 > LONGEST {
            return Err(format!("{at}: longer than {LONGEST} bytes"));
        }
        let text = String::from_utf8_lossy(&bytes).replace("\\\r\n", "").replace("\\\n", "");
        for line in text.lines() {
            match Line::of(line) {
                Line::Nothing => {}
                Line::Section(name) => name.clone_into(section),
                Line::Include(name) => {
                    for file in included(Path::new(name)) {
                        self.add(&file, section, deepest)?;
                    }
                }
                Line::Value(name, value) => {
                    let lines = self.sections.entry(section.clone()).or_default();
                    lines.push((name.to_owned(), value.to_owned()));
                }
            }
        }
        Ok(())
    }
}

/// The files that `.include` of a path reads: the file, or those of a folder that are called so.
/// What is not there is left out, as OpenSSL does.
fn included(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return if path.exists() { vec![path.to_owned()] } else { Vec::new() };
    }
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<_> = files
        .filter(|file| file.extension().is_some_and(|end| end == "cnf" || end == "conf"))
        .collect();
    files.sort();
    files
}

enum Line<'l> {
    Nothing,
    Section(&'l str),
    Include(&'l str),
    Value(&'l str, &'l str),
}

impl<'l> Line<'l> {
    fn of(line: &'l str) -> Self {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            return Line::Section(name.trim());
        }
        if let Some(rest) = line.strip_prefix(".include") {
            return Line::Include(unquoted(rest.trim_start().trim_start_matches('=')));
        }
        match line.split_once('=') {
            Some((name, value)) => Line::Value(name.trim(), unquoted(value)),
            None => Line::Nothing,
        }
    }
}

fn unquoted(value: &str) -> &str {
    value.trim().trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, files: &[(&str, &str)]) -> Result<Base, String> {
        let folder =
            std::env::temp_dir().join(format!("lanecrypt-base-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        for (file, text) in files {
            let text = text.replace("HERE", folder.to_str().expect("UTF-8"));
            fs::write(folder.join(file), text).expect("a file");
        }
        let base = Base::read(&folder.join("openssl.cnf"));
        fs::remove_dir_all(&folder).expect("removed");
        base
    }

    #[test]
    fn providers_of_a_distribution() {
        let text = "HOME = .\nopenssl_conf = openssl_init # ours\n[openssl_init]\n\
            providers = provider_sect\nssl_conf = ssl_sect\nalg_section = evp\n\
            [ provider_sect ]\ndefault = default_sect\nlegacy = \\\nlegacy_sect\n[default_sect]\n\
            # activate = 1\n[evp]\ndefault_properties = \"fips=yes\"\n";
        let base = read("distribution", &[("openssl.cnf", text)]).expect("it is good");
        assert_eq!(base.init(), Some("openssl_init"));
        let providers: Vec<_> =
            base.providers().iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(providers, [("default", "default_sect"), ("legacy", "legacy_sect")]);
        assert_eq!(base.default_properties(), Some("fips=yes"));
    }

    #[test]
    fn included_files_continue() {
        let files = [
            ("openssl.cnf", ".include HERE/first.inc\n.include = HERE/none.inc\nx = 1\n"),
            ("first.inc", "openssl_conf = a\nopenssl_conf = b\n[b]\n"),
        ];
        let base = read("included", &files).expect("it is good");
        assert_eq!(base.init(), Some("b"));
        // The file went on in the section in which the included one ended.
        assert_eq!(base.value("b", "x"), Some("1"));
        assert!(base.providers().is_empty());
    }

    #[test]
    fn hostile_files() {
        let circle = read("circle", &[("openssl.cnf", ".include HERE/openssl.cnf\n")]);
        assert!(circle.expect_err("a circle").contains("deep"));
        let long = "#".repeat(1 << 21);
        assert!(read("long", &[("openssl.cnf", &long)]).expect_err("long").contains("longer"));
        assert!(read("nothing", &[("other.cnf", "")]).is_err());
        read("odd", &[("openssl.cnf", "[\n[]\n=\n==\n.include\n\0\n= x\nname\n")])
            .expect("skipped");
    }
}
