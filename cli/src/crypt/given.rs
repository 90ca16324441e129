//! The key or the passphrase that the arguments name.

use std::path::{Path, PathBuf};

use lanecrypt_stream::file::{KEY_LENGTH, Secret};
use zeroize::Zeroizing;

use super::Direction;
use crate::{secret, terminal};

/// Where the secret comes from.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
pub(super) struct SecretArgs {
    /// The key: a file of 32 bytes, as `lanecrypt keygen` makes it, a pipe that is a descriptor
    /// (/dev/fd/3), or - (standard input)
    #[arg(short, long, value_name = "KEY")]
    key_file: Option<PathBuf>,
    /// Read the key from this descriptor, such as 3 with 3<FILE
    #[arg(long, value_name = "NUMBER")]
    key_fd: Option<u32>,
    /// The key: a credential of systemd, in $CREDENTIALS_DIRECTORY
    #[arg(long, value_name = "NAME")]
    credential: Option<String>,
    /// Ask for a passphrase on the terminal, from which a key is derived (Argon2id)
    #[arg(short, long)]
    passphrase: bool,
    /// Read the passphrase from this descriptor, up to the end of its line
    #[arg(long, value_name = "NUMBER")]
    passphrase_fd: Option<u32>,
}

/// A secret that was read.
pub(super) enum Given {
    Key(Zeroizing<[u8; KEY_LENGTH]>),
    Passphrase(Zeroizing<Vec<u8>>),
}

impl Given {
    pub(super) fn secret(&self) -> Secret<'_> {
        match self {
            Self::Key(key) => Secret::Key(key),
            Self::Passphrase(passphrase) => Secret::Passphrase(passphrase),
        }
    }
}

impl SecretArgs {
    /// Whether the secret takes what comes by standard input.
    pub(super) fn is_standard_input(&self) -> bool {
        let standard = ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];
        self.key_fd == Some(0)
            || self.passphrase_fd == Some(0)
            || self.key_file.as_deref().is_some_and(|file| standard.map(Path::new).contains(&file))
    }

    /// Reads the secret.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub(super) fn read(&self, direction: Direction) -> Result<Given, String> {
        let is_new = matches!(direction, Direction::Encrypt(_));
        if let Some(number) = self.passphrase_fd {
            return secret::passphrase(number).map(Given::Passphrase);
        }
        if self.passphrase {
            return terminal::passphrase(is_new).map(Given::Passphrase);
        }
        if let Some(number) = self.key_fd {
            let at = format!("--key-fd {number}");
            let bytes = secret::descriptor(number).map_err(|error| format!("{at}: {error}"))?;
            return key(&at, &bytes);
        }
        if let Some(name) = &self.credential {
            let path = secret::credential(name)?;
            let bytes = secret::read_of(&path, secret::CREDENTIAL, secret::own())?;
            return key(&path.display().to_string(), &bytes);
        }
        let path = self.key_file.as_deref().ok_or("there is no key")?;
        let at = path.display();
        if path == Path::new("-") {
            return key("-", &secret::standard_input()?);
        }
        match secret::read(path) {
            Ok(bytes) => key(&at.to_string(), &bytes),
            // Who decrypts needs the key that there was.
            Err(reason) if is_new && !path.exists() => {
                Err(format!("{reason}; 'lanecrypt keygen {at}' makes a new key"))
            }
            Err(reason) => Err(reason),
        }
    }
}

fn key(at: &str, bytes: &[u8]) -> Result<Given, String> {
    let mut key = Zeroizing::new([0; KEY_LENGTH]);
    if bytes.len() != KEY_LENGTH {
        let length = bytes.len();
        return Err(format!("{at}: {length} bytes where a key has {KEY_LENGTH}, not as text"));
    }
    key.copy_from_slice(bytes);
    Ok(Given::Key(key))
}
