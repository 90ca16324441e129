//! Running the built program.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// The program with these arguments, without settings of the caller's.
pub(crate) fn lanecrypt(arguments: &[&str]) -> Command {
    // Programs inherit ignored signals, such as those of `nohup make test`.
    let mut command = Command::new("env");
    command.args(["--default-signal", env!("CARGO_BIN_EXE_lanecrypt")]);
    command.args(arguments).env_remove("LANECRYPT_ISA").stdin(Stdio::null());
    command
}

/// Runs `script` by a shell, in which `$lanecrypt` is the program; one that hangs is ended with
/// 124.
pub(crate) fn shell(script: &str) -> Output {
    let mut command = Command::new("timeout");
    command.args(["60", "sh", "-c", script]).env_remove("LANECRYPT_ISA").stdin(Stdio::null());
    command.env("lanecrypt", env!("CARGO_BIN_EXE_lanecrypt")).output().expect("a shell")
}

/// A folder of one test, removed with what is in it.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Self {
        let name = format!("lanecrypt-{test}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).expect("a folder that is new");
        Self(folder)
    }

    /// The path of something in it.
    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).into_os_string().into_string().expect("a path in UTF-8")
    }

    /// A FIFO in it that nobody has opened.
    pub(crate) fn fifo(&self, name: &str) -> String {
        let path = self.path(name);
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).expect("a FIFO");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Leftover files are among temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs it to its end with `input` on standard input.
pub(crate) fn run(mut command: Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // A program that does not read its input may end first.
            let _ = stdin.write_all(input);
        });
        child.wait_with_output().expect("the program ends")
    })
}

/// Standard error as text.
pub(crate) fn errors(output: &Output) -> &str {
    str::from_utf8(&output.stderr).expect("messages are UTF-8")
}

/// Asserts one clear line on standard error and nothing on standard output.
pub(crate) fn assert_one_line(output: &Output, code: i32, about: &str) {
    let text = errors(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(text.starts_with("lanecrypt: ") && text.ends_with('\n'), "{text:?}");
    assert_eq!(text.matches('\n').count(), 1, "{text:?}");
    assert!(text.contains(about), "{text:?} does not say {about:?}");
}
