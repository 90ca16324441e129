//! The configuration as text.

use core::fmt::Write as _;
use std::path::PathBuf;

use super::base::Base;

/// The section of what OpenSSL sets up, where the base has none.
const INIT: &str = "lanecrypt_init";

/// What the configuration says.
pub(super) struct Settings {
    /// What it continues.
    pub(super) base: Option<Base>,
    /// The provider's file.
    pub(super) module: PathBuf,
    /// Whether random numbers come from it.
    pub(super) random: bool,
    /// Whether RSA signatures are made by it.
    pub(super) rsa: bool,
    /// Whether it makes keys, shared secrets and signatures of X25519 and P-256.
    pub(super) curves: bool,
}

impl Settings {
    /// The configuration.
    ///
    /// # Errors
    ///
    /// The base asks for properties that the provider does not have.
    pub(super) fn text(&self) -> Result<String, String> {
        let base = self.base.as_ref();
        let init = base.and_then(Base::init).unwrap_or(INIT);
        let wanted = base.and_then(Base::default_properties);
        let properties = match wanted.filter(|wanted| !wanted.is_empty()) {
            None => String::from("?provider=lanecrypt"),
            Some(wanted) if asks_for_fips(wanted) => {
                return Err(format!(
                    "{}: asks for {wanted}; Lanecrypt is not validated, and would not be used",
                    base.map_or_else(String::new, |base| base.path().display().to_string())
                ));
            }
            Some(wanted) => format!("{wanted},?provider=lanecrypt"),
        };

        let mut text = String::new();
        if let Some(base) = base {
            let _ = writeln!(text, "# The system's own settings, which the rest continues.");
            let _ = writeln!(text, ".include {}\n", base.path().display());
        }
        let _ = writeln!(text, "[default]\nopenssl_conf = {init}");
        let _ = writeln!(text, "# The name under which Node looks.\nnodejs_conf = {init}\n");
        let _ = writeln!(text, "[{init}]\nproviders = lanecrypt_providers");
        let _ = writeln!(text, "alg_section = lanecrypt_algorithms");
        if self.random {
            let _ = writeln!(text, "random = lanecrypt_random");
        }
        let _ = writeln!(text, "\n[lanecrypt_providers]");
        for (name, section) in base.map_or(&[][..], Base::providers) {
            if name != "default" && name != "lanecrypt" {
                let _ = writeln!(text, "{name} = {section}");
            }
        }
        let _ = writeln!(text, "default = lanecrypt_default\nlanecrypt = lanecrypt_module\n");
        let _ =
            writeln!(text, "# Everything that Lanecrypt does not have. Without this line OpenSSL");
        let _ = writeln!(text, "# would have nothing else once any provider is named.");
        let _ = writeln!(text, "[lanecrypt_default]\nactivate = 1\n");
        let _ = writeln!(text, "# If the file is missing, everything stays with `default`.");
        let _ = writeln!(text, "[lanecrypt_module]\nmodule = {}", self.module.display());
        let _ = writeln!(text, "activate = 1\nsoft_load = 1");
        if self.rsa {
            let _ = writeln!(text, "rsa = yes");
        }
        if self.curves {
            let _ = writeln!(text, "curves = yes");
        }
        text.push('\n');
        let _ = writeln!(text, "[lanecrypt_algorithms]\ndefault_properties = {properties}");
        if self.random {
            let _ = writeln!(text, "\n# If the module is missing, there are no random numbers.");
            let _ = writeln!(text, "[lanecrypt_random]\nrandom = LANECRYPT");
        }
        Ok(text)
    }
}

/// Whether a property query only accepts validated implementations.
fn asks_for_fips(query: &str) -> bool {
    query
        .split(',')
        .map(|clause| clause.trim().replace(' ', ""))
        .any(|clause| clause == "fips" || clause == "fips=yes" || clause == "provider=fips")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fips() {
        assert!(asks_for_fips("fips=yes"));
        assert!(asks_for_fips("x=1, fips"));
        assert!(!asks_for_fips("?fips=yes"));
        assert!(!asks_for_fips("fips=no,?provider=x"));
    }

    #[test]
    fn without_a_base() {
        let module = PathBuf::from("/m.so");
        let settings = Settings { base: None, module, random: false, rsa: false, curves: false };
        let text = settings.text().expect("it is good");
        assert!(text.starts_with("[default]\nopenssl_conf = lanecrypt_init\n"));
        assert!(!text.contains("random") && !text.contains(".include"));
        assert!(!text.contains("rsa") && !text.contains("curves"));
        let text = Settings { rsa: true, curves: true, ..settings }.text().expect("it is good");
        assert!(text.contains("soft_load = 1\nrsa = yes\ncurves = yes\n\n[lanecrypt_algorithms]"));
    }
}
