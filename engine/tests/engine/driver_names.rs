//! No two drivers of an engine have the same name, because sessions are opened by it.

use lanecrypt_engine::{Algorithm, Driver, DriverNameError, Engine, Error, Jobs, Null, SessionId};

/// A driver that has a name and serves nothing.
#[derive(Debug)]
struct Named(String);

impl Named {
    fn new(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl Driver for Named {
    fn name(&self) -> &str {
        &self.0
    }

    fn open(&self, _: Algorithm, _: &[u8]) -> Result<SessionId, Error> {
        Err(Error::Unsupported)
    }

    fn close(&self, _: SessionId) {}

    fn process(&self, _: Jobs<'_, '_>) {}
}

fn with(name: &str) -> Result<Engine, DriverNameError> {
    Engine::new().with_driver(Named::new("card"))?.with_driver(Named::new(name))
}

#[test]
fn a_name_that_is_taken_is_refused() {
    for name in ["software", "null", "card"] {
        assert_eq!(with(name).err(), Some(DriverNameError::Taken), "{name}");
    }
    assert_eq!(Engine::new().with_driver(Null::default()).err(), Some(DriverNameError::Taken));
}

#[test]
fn a_name_is_lower_case_without_spaces() {
    let malformed =
        ["", " ", "Card", "my card", "card ", "card\n", "c\u{0}", "cärd", "ｃard", "\u{7f}"];
    for name in malformed {
        assert_eq!(with(name).err(), Some(DriverNameError::Malformed), "{name:?}");
    }
    for name in ["card0", "my-card", "qat_1.2", "softwar", "software2", "pci:00:1f.0", "x"] {
        let engine = with(name).expect("a free name");
        assert_eq!(engine.drivers().collect::<Vec<_>>(), ["software", "null", "card", name]);
    }
}

#[test]
fn the_error_says_what_is_wrong() {
    let text = |name: &str| with(name).err().map(|error| error.to_string());
    assert_eq!(text("software").as_deref(), Some("another driver has this name"));
    let malformed = "the name of a driver must be in lower case, without spaces";
    assert_eq!(text("My card").as_deref(), Some(malformed));
}
