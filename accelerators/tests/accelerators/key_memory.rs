//! Raw keys are kept for migration only, in locked memory, or not at all.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use lanecrypt_accelerators::Balanced;
use lanecrypt_engine::{Algorithm, Engine, Error, Session};

use crate::flaky::{self, software};

const SESSIONS: usize = 300;

/// How many KiB the process has locked.
fn locked() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmLck:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

fn open(engine: &Engine) -> Result<Session, Error> {
    engine.session_on("balanced", Algorithm::AES_128_GCM, &[7; 16])
}

/// In a process of its own, so that nothing else locks memory meanwhile.
#[test]
#[ignore = "the other test runs it, in processes of its own"]
fn in_a_process() {
    let engine = flaky::engine(&Balanced::new([software()]).expect("a name"), &[]);
    let before = locked();
    let sessions: Vec<_> = (0..SESSIONS).map(|_| open(&engine).expect("a good key")).collect();
    assert_eq!(locked(), before, "nothing is kept that nobody asked for");
    drop(sessions);

    let engine = Balanced::with_migration([software()]).expect("a name");
    let engine = flaky::engine(&engine, &[]);
    if std::env::var_os("LANECRYPT_TEST_NO_LOCKED_MEMORY").is_some() {
        assert_eq!(open(&engine).err(), Some(Error::KeyMemory));
        assert_eq!(locked(), before);
        println!("refused");
        return;
    }
    let sessions: Vec<_> = (0..SESSIONS).map(|_| open(&engine).expect("a good key")).collect();
    // 16 bytes of key each take 64.
    assert!(locked() - before >= SESSIONS * 64 / 1024, "{} {before}", locked());
    drop(sessions);
    assert_eq!(locked(), before, "what is not needed is given back");
    println!("kept");
}

/// Runs the test above by a shell that does this first.
fn run(shell: &str, variable: Option<&str>, lowly: bool) -> String {
    let itself = File::open("/proc/self/exe").expect("the test is a file");
    let arguments = "--exact key_memory::in_a_process --ignored --nocapture";
    let mut command = Command::new("sh");
    // By its descriptor, because not every user may enter every folder.
    command.args(["-c", &format!("{shell} exec /proc/self/fd/0 {arguments}")]).stdin(itself);
    variable.iter().for_each(|name| {
        command.env(name, "1");
    });
    if lowly {
        // The limit does not hold for root.
        command.uid(65534);
    }
    let output = command.output().expect("there is a shell");
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn keys_are_kept_when_migration_asks_for_it_and_memory_can_be_locked() {
    let kept = run("", None, false);
    assert!(kept.contains("kept") && kept.contains("1 passed"), "{kept}");
    let is_root = std::fs::metadata("/proc/self").expect("Linux has it").uid() == 0;
    let refused = run("ulimit -l 0 &&", Some("LANECRYPT_TEST_NO_LOCKED_MEMORY"), is_root);
    assert!(refused.contains("refused") && refused.contains("1 passed"), "{refused}");
}
