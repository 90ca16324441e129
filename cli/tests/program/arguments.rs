//! Bad arguments and settings: one clear line, exit code 2.

use crate::support::{assert_one_line, errors, lanecrypt, run};

#[test]
fn bad_arguments() {
    let cases: [(&[&str], &str); 25] = [
        (
            &["encrypt", "file"],
            "'lanecrypt keygen my.key' makes one; see 'lanecrypt encrypt --help'",
        ),
        (
            &["encrypt", "-k", "a", "-k", "b", "file"],
            "cannot be used multiple times; see 'lanecrypt encrypt --help'",
        ),
        (&["enc"], "a similar subcommand exists: 'encrypt'; see 'lanecrypt --help'"),
        (&["info", "--al"], "a similar argument exists: '--all'; see 'lanecrypt info --help'"),
        (&["random", "--lenght", "3"], "unexpected argument '--lenght' found; see"),
        (&["compare", "Cargo.toml", "Cargo.toml"], "not what 'lanecrypt speed --json FILE' writes"),
        (&["nonsense"], "nonsense"),
        (&["random", "1X"], "units are"),
        (&["random", "-5"], "-5"),
        (&["random", ""], "size"),
        (&["random", "1.5M"], "units are"),
        (&["random", "16E"], "too large"),
        (&["random", "99999999999999999999"], "too large"),
        (&["random", "1", "2"], "'2'"),
        (&["random", "\n\n1\x1b[2J"], "whole number"),
        (&["random", "--format", "octal"], "raw, hex, base64"),
        (&["random", "--core", "rc4"], "chacha20"),
        (&["random", "--core", "arc4"], "rekeying"),
        (&["random", "--generator", "none"], "erasing, rekeying"),
        (&["random", "--placement", "global"], "per-thread, per-cpu, shared"),
        (&["random", "--threads", "0"], "threads"),
        (&["random", "--threads", "many"], "threads"),
        (&["random", "--threads", "100000"], "threads"),
        (&["info", "--xml"], "--xml"),
        (&["check", "file"], "file"),
    ];
    for (arguments, about) in cases {
        let output = run(lanecrypt(arguments), b"");
        assert_one_line(&output, 2, about);
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_bad_instruction_set_lists_the_good_ones() {
    for (name, command) in [("AVX2", "info"), ("avx1024", "check"), (" ", "random")] {
        let mut command = lanecrypt(&[command]);
        command.env("LANECRYPT_ISA", name);
        let output = run(command, b"");
        assert_one_line(&output, 2, "portable, ssse3, aesni, avx2, avx2vaes, avx512");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn help_and_version_go_to_standard_output() {
    for argument in ["--help", "--version", "help"] {
        let output = run(lanecrypt(&[argument]), b"");
        assert!(output.status.success() && !output.stdout.is_empty(), "{}", errors(&output));
        assert!(output.stderr.is_empty());
    }
}
