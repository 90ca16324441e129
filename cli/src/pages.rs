//! What help and manual pages have beyond the options: examples, exit status, other pages.

use core::fmt::Write as _;
use std::io;

use clap::Command;
use clap_mangen::Man;

/// Commands with examples: a line of the shell, and what it does.
const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "random",
        &[
            ("lanecrypt random 32", "32 random bytes, in hexadecimal on a terminal"),
            ("lanecrypt random 1M > noise", "a file of 1 MiB"),
            ("lanecrypt random --format base64 24", "a password"),
        ],
    ),
    (
        "keygen",
        &[
            ("lanecrypt keygen my.key", "a new key file"),
            (
                "lanecrypt keygen - | gpg -e -r me > my.key.gpg",
                "a key that no disk sees in the clear",
            ),
        ],
    ),
    (
        "encrypt",
        &[
            ("lanecrypt encrypt notes.txt -k my.key", "writes notes.txt.lanecrypt"),
            ("lanecrypt encrypt *.pdf -k my.key -o /backup", "writes /backup/NAME.pdf.lanecrypt"),
            ("tar c photos | lanecrypt encrypt -k my.key > photos.lanecrypt", "in a pipe"),
            ("gpg -d my.key.gpg | lanecrypt encrypt notes.txt -k -", "the key from standard input"),
            ("lanecrypt encrypt notes.txt --passphrase", "with a passphrase that it asks for"),
        ],
    ),
    (
        "decrypt",
        &[
            ("lanecrypt decrypt notes.txt.lanecrypt -k my.key", "writes notes.txt"),
            ("lanecrypt decrypt photos.lanecrypt -k my.key -o - | tar x", "in a pipe"),
        ],
    ),
    (
        "speed",
        &[
            ("lanecrypt speed --quick", "usual requests, in half a minute"),
            ("lanecrypt speed packets", "authenticated messages, in a minute"),
            ("lanecrypt speed packets --table 'aes-128-gcm seal'", "one part of that table, whole"),
            ("lanecrypt speed packets --isa avx2", "as on a processor without VAES and AVX-512"),
            ("lanecrypt speed --json run.json", "also as a file, for compare and report"),
        ],
    ),
    (
        "compare",
        &[
            ("lanecrypt compare old.json new.json", "what became faster or slower"),
            ("lanecrypt speed --json - | lanecrypt compare old.json -", "a new run against a file"),
        ],
    ),
    (
        "report",
        &[
            ("lanecrypt report run.json > run.html", "a page with charts"),
            ("lanecrypt report results/zen4 --csv > points.csv", "all points of a folder's files"),
            ("lanecrypt speed --json - | lanecrypt report - > run.html", "in a pipe"),
        ],
    ),
    (
        "info",
        &[
            ("lanecrypt info", "the processor, and the kernels that run on it"),
            ("LANECRYPT_ISA=aesni lanecrypt info", "the kernels of a lower instruction set"),
            ("lanecrypt info --socket /run/lanecrypt.sock", "statistics of a daemon"),
            ("lanecrypt info --socket /run/lanecrypt.sock --check", "whether a daemon answers"),
        ],
    ),
    (
        "check",
        &[
            ("lanecrypt check --self-test", "the built-in test vectors"),
            ("lanecrypt check < requests.jsonl > answers.jsonl", "requests of another test suite"),
        ],
    ),
    (
        "serve",
        &[
            ("lanecrypt serve", "at the usual socket"),
            ("lanecrypt serve --socket /tmp/s --config keys.toml", "with named keys"),
            ("kill -HUP $(pidof lanecrypt)", "reads the settings and the keys again"),
            ("lanecrypt serve --config keys.toml --explain", "what the sandbox allows"),
            (
                "lanecrypt serve --user lanecrypt --socket /run/lanecrypt/s",
                "reads keys as root, then becomes another user",
            ),
        ],
    ),
    (
        "openssl",
        &[
            ("lanecrypt openssl --check", "tests the provider, and lists what it serves"),
            ("lanecrypt openssl > lanecrypt.cnf", "a configuration"),
            ("OPENSSL_CONF=lanecrypt.cnf openssl speed -evp aes-128-gcm", "a program that uses it"),
        ],
    ),
    ("completions", &[("source <(lanecrypt completions bash)", "for this shell alone")]),
    (
        "man",
        &[
            ("lanecrypt man | man -l -", "reads a page"),
            ("lanecrypt man ~/.local/share/man/man1", "installs all of them"),
        ],
    ),
];

/// Adds examples and the exit status to the help of each command.
pub(crate) fn with_examples(program: Command) -> Command {
    let with = |program: Command, &(name, lines): &(&'static str, &[(&str, &str)])| {
        program.mut_subcommand(name, |command| {
            let more =
                command.get_after_help().map_or_else(String::new, |text| format!("{text}\n\n"));
            command.after_help(format!("{more}{}\n{}", examples(lines), status(name)))
        })
    };
    EXAMPLES.iter().fold(program, with)
}

fn examples(lines: &[(&str, &str)]) -> String {
    let mut text = String::from("Examples:\n");
    for (line, about) in lines {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {line}\n      {about}");
    }
    text
}

fn status(command: &str) -> String {
    let failure = match command {
        "compare" => "a point of ours became slower",
        "check" => "a test vector was answered wrong",
        "decrypt" => "a file is not authentic, or cannot be read or written",
        _ => "failure",
    };
    let interrupted = match command {
        "speed" => "\n  130  interrupted; the figures until then were shown",
        _ => "",
    };
    format!("Exit status:\n  0    success\n  1    {failure}\n  2    invalid arguments{interrupted}")
}

/// Titles in help texts, and the sections of manual pages that they become.
const SECTIONS: &[(&str, &str)] = &[
    ("To begin:", "EXAMPLES"),
    ("Examples:", "EXAMPLES"),
    ("Exit status:", "EXIT STATUS"),
    ("Environment:", "ENVIRONMENT"),
];

/// The manual page of the program, or of one of its commands.
pub(crate) fn page(program: &Command, command: Option<&str>) -> io::Result<Vec<u8>> {
    let shown = match command {
        Some(name) => {
            let whole = format!("lanecrypt-{name}");
            let found = program.find_subcommand(name).cloned().unwrap_or_default();
            found.bin_name(format!("lanecrypt {name}")).display_name(whole)
        }
        None => program.clone(),
    };
    let after = shown.get_after_help().map(ToString::to_string).unwrap_or_default();
    let has_commands = shown.has_subcommands();
    let man = Man::new(shown.after_help(""));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_commands {
        man.render_subcommands_section(&mut page)?;
    }
    let mut text = sections(&after);
    text += ".SH SEE ALSO\n";
    let commands = program.get_subcommands().map(Command::get_name);
    let others = commands.filter(|name| Some(*name) != command && *name != "help");
    let pages = others.map(|name| format!("lanecrypt\\-{name}(1)"));
    let own = command.map(|_| String::from("lanecrypt(1)"));
    text += &own.into_iter().chain(pages).collect::<Vec<_>>().join(", ");
    page.extend((text + "\n").into_bytes());
    Ok(page)
}

/// The text after the options as sections, in which lines stay as they are.
fn sections(text: &str) -> String {
    let mut out = String::new();
    let mut is_open = false;
    let open = |out: &mut String, is_open: &mut bool, title: &str| {
        if core::mem::replace(is_open, true) {
            out.push_str(".fi\n");
        }
        let _ = writeln!(out, ".SH {title}\n.nf");
    };
    for line in text.lines() {
        match SECTIONS.iter().find(|(begin, _)| *begin == line) {
            Some((_, title)) => open(&mut out, &mut is_open, title),
            None => {
                if !is_open {
                    open(&mut out, &mut is_open, "NOTES");
                }
                out.push_str("\\&");
                out.push_str(&line.replace('\\', "\\e").replace('-', "\\-"));
                out.push('\n');
            }
        }
    }
    if is_open {
        out.push_str(".fi\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_keep_their_lines() {
        let text = "A note:\n  .x\n\nExamples:\n  a -b \\n\nExit status:\n  0";
        assert_eq!(
            sections(text),
            ".SH NOTES\n.nf\n\\&A note:\n\\&  .x\n\\&\n.fi\n.SH EXAMPLES\n.nf\n\\&  a \\-b \\en\n.fi\n\
             .SH EXIT STATUS\n.nf\n\\&  0\n.fi\n"
        );
    }
}
