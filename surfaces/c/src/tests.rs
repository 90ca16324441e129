//! The header says what the library has: names, arguments, numbers and layouts.

use std::collections::BTreeMap;
use std::mem::offset_of;
use std::process::Command;

use lanecrypt_engine::Algorithm;

use crate::algorithm::Info;
use crate::batch::Request;
use crate::code::Code;
use crate::device::Completion;
use crate::file::FileOptions;
use crate::{algorithm, file, operation, signatures};

const HEADER: &str = include_str!("../include/lanecrypt.h");

/// Every file with functions for C.
const SOURCES: &[&str] = &[
    include_str!("algorithm.rs"),
    include_str!("batch.rs"),
    include_str!("code.rs"),
    include_str!("device.rs"),
    include_str!("file.rs"),
    include_str!("hazmat.rs"),
    include_str!("nonces.rs"),
    include_str!("random.rs"),
    include_str!("session.rs"),
    include_str!("signatures.rs"),
    include_str!("single.rs"),
];

/// What a function returns, and its arguments with their names.
type Signature = (String, Vec<(String, String)>);

/// The header without comments, preprocessor and blanks in a row.
fn bare_header() -> String {
    let mut text = String::new();
    let mut rest = HEADER;
    while let Some((before, behind)) = rest.split_once("/*") {
        text.push_str(before);
        rest = behind.split_once("*/").expect("a comment ends").1;
    }
    text.push_str(rest);
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// A type of C as this crate writes it.
fn of_c(base: &str, stars: usize) -> String {
    let (constant, base) = match base.strip_prefix("const ") {
        Some(base) => ("*const ", base),
        None => ("*mut ", base),
    };
    let named = match base.trim_start_matches("struct ") {
        "void" if stars == 0 => "",
        "void" => "u8",
        "char" => "c_char",
        "size_t" => "usize",
        "int" => "c_int",
        "uint8_t" => "u8",
        "uint32_t" => "u32",
        "uint64_t" => "u64",
        "lc_session" => "Session",
        "lc_nonces" => "Sequence",
        "lc_batch_buffer" => "BatchBuffer",
        "lc_device" => "Device",
        "lc_request" => "Request",
        "lc_completion" => "Completion",
        "lc_file" => "File",
        "lc_file_options" => "FileOptions",
        "lc_algorithm_info" => "Info",
        other => panic!("the header has an unknown type {other}"),
    };
    // Where there are two stars, `const` is none of the pointer's own.
    format!(
        "{}{}{named}",
        "*mut ".repeat(stars.saturating_sub(1)),
        if stars > 0 { constant } else { "" }
    )
}

/// A declaration of C, such as `const void *key`, as type and name.
fn declared(declaration: &str) -> (String, String) {
    let at = declaration.rfind(['*', ' ']).map_or(declaration.len(), |at| at + 1);
    let (kind, name) = declaration.split_at(at);
    let stars = kind.matches('*').count();
    (of_c(kind.trim_end_matches(['*', ' ']), stars), name.to_owned())
}

fn functions_of_header() -> BTreeMap<String, Signature> {
    let header = bare_header();
    let statements = header.split([';', '{', '}']);
    let mut found = BTreeMap::new();
    for statement in statements.filter(|statement| statement.contains('(')) {
        let statement = statement.trim().trim_start_matches("LC_CHECK ");
        let (front, arguments) = statement.split_once('(').expect("it has one");
        let (returned, name) = declared(front);
        let arguments = arguments.trim_end_matches(')');
        let arguments = match arguments {
            "void" => Vec::new(),
            _ => arguments.split(", ").map(declared).collect(),
        };
        assert!(found.insert(name.clone(), (returned, arguments)).is_none(), "{name} twice");
    }
    found
}

fn functions_of_crate() -> BTreeMap<String, Signature> {
    let mut found = BTreeMap::new();
    for source in SOURCES {
        // What is behind the attribute, so that a function without it is missed.
        for behind in source.split("#[unsafe(no_mangle)]").skip(1) {
            let (_, function) = behind.split_once("extern \"C\" fn ").expect("a function follows");
            let (name, rest) = function.split_once('(').expect("it has arguments");
            let (arguments, rest) = rest.split_once(')').expect("they end");
            let returned = rest.split_once('{').expect("it has a body").0.trim();
            let returned = returned.trim_start_matches("-> ").to_owned();
            let arguments = arguments.split(',').map(str::trim).filter(|one| !one.is_empty());
            let arguments = arguments.map(|one| {
                let (name, kind) = one.split_once(": ").expect("it has a type");
                (kind.to_owned(), name.to_owned())
            });
            found.insert(name.to_owned(), (returned, arguments.collect()));
        }
    }
    found
}

#[test]
fn functions_are_declared_as_they_are() {
    let (header, own) = (functions_of_header(), functions_of_crate());
    assert!(own.len() > 30, "only {} functions were found", own.len());
    for (name, signature) in &own {
        assert_eq!(header.get(name), Some(signature), "{name}");
    }
    for name in header.keys() {
        assert!(own.contains_key(name), "{name} is only declared");
    }
}

/// The numbers of an `enum` of the header, without the front of their names.
fn numbers_of_header(name: &str, front: &str) -> BTreeMap<String, i32> {
    let header = bare_header();
    let body = header.split_once(&format!("enum {name} {{")).expect("it is there").1;
    let body = body.split_once('}').expect("it ends").0;
    body.split(',')
        .map(|one| {
            let (name, number) = one.trim().split_once(" = ").expect("each has a number");
            let name = name.strip_prefix(front).unwrap_or_else(|| panic!("{name} without {front}"));
            (name.to_owned(), number.parse().expect("a number"))
        })
        .collect()
}

#[test]
fn numbers_are_those_of_the_header() {
    let collected = |rows: &[(i32, &str)]| -> BTreeMap<String, i32> {
        rows.iter().map(|&(number, name)| (name.to_owned(), number)).collect()
    };
    let rows: Vec<_> = operation::NUMBERS.iter().map(|row| (row.0, row.1)).collect();
    assert_eq!(numbers_of_header("lc_operation", "LC_"), collected(&rows));
    let rows: Vec<_> = signatures::ALGORITHMS.iter().map(|row| (row.0, row.1)).collect();
    assert_eq!(numbers_of_header("lc_signature_algorithm", "LC_"), collected(&rows));
    let rows = [(file::KEY, "KEY"), (file::PASSPHRASE, "PASSPHRASE")];
    assert_eq!(numbers_of_header("lc_file_secret", "LC_FILE_"), collected(&rows));

    let mut errors: BTreeMap<String, i32> = Code::ALL
        .iter()
        .map(|&(code, name)| {
            let words = name.chars().enumerate().flat_map(|(at, letter)| {
                let gap = (at > 0 && letter.is_uppercase()).then_some('_');
                gap.into_iter().chain(letter.to_uppercase())
            });
            (format!("ERR_{}", words.collect::<String>()), code.number())
        })
        .collect();
    errors.insert("OK".to_owned(), 0);
    assert_eq!(numbers_of_header("lc_error", "LC_"), errors);
}

/// The algorithms of the header, made of the table. `LANECRYPT_WRITE` in the environment writes
/// them.
#[test]
fn algorithms_are_those_of_the_table() {
    let mut text = String::from("enum lc_algorithm {\n");
    for (title, is_in) in [
        (
            "    /* They seal and open messages. Which one? AES-128-GCM, or ChaCha20-Poly1305 where processors\n     \
             * have no AES instructions; XChaCha20-Poly1305 for random nonces; a SIV where a nonce might be\n     \
             * used twice. */\n",
            (|it| it.is_aead() && it.mac().is_none()) as fn(Algorithm) -> bool,
        ),
        ("\n    /* Encrypt-then-MAC: the key of the code, then that of the cipher. */\n", |it| {
            it.mac().is_some()
        }),
        ("\n    /* They do not authenticate: for lc_hazmat_session_new only. */\n", |it| {
            !it.is_aead()
        }),
    ] {
        let rows = Algorithm::ALL.iter().copied().filter(|&row| is_in(row));
        let mut rows: Vec<_> = rows.map(|row| (algorithm::number(row), row)).collect();
        rows.retain(|&(number, _)| number != 0);
        rows.sort_unstable();
        text += title;
        for (number, row) in rows {
            assert_eq!(algorithm::of_number(number), Ok(row));
            let constant = row.name().to_uppercase().replace(['-', '+', '/'], "_");
            text += &format!("    LC_{constant} = {number},\n");
        }
    }
    let last = text.rfind(',').expect("there are some");
    text.replace_range(last.., " /* protects nothing; for measurements */\n};\n");
    let from = HEADER.find("enum lc_algorithm {").expect("it is there");
    let to = from + HEADER[from..].find("};\n").expect("it ends") + 3;
    if HEADER[from..to] != text && std::env::var_os("LANECRYPT_WRITE").is_some() {
        let header = [&HEADER[..from], &text, &HEADER[to..]].concat();
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/include/lanecrypt.h"), header)
            .expect("the header is writable");
    }
    assert_eq!(HEADER[from..to], text);
    // Those without a number are behind the feature `legacy` everywhere.
    let old = ["arc4", "hc128", "des", "3des"];
    for row in Algorithm::ALL.iter().filter(|row| algorithm::number(**row) == 0) {
        assert!(old.iter().any(|old| row.name().starts_with(old)), "{row} has no number");
    }
}

#[test]
fn the_version_is_that_of_the_crate() {
    let number = |part: &str| {
        let line =
            HEADER.lines().find(|line| line.starts_with(&format!("#define LC_VERSION_{part} ")));
        line.and_then(|line| line.rsplit(' ').next()).expect("it is there").to_owned()
    };
    let version = ["MAJOR", "MINOR", "PATCH"].map(number).join(".");
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
}

/// The layouts of structures, which a compiler of C prints, against those of Rust.
#[test]
fn structures_have_the_same_layout() {
    macro_rules! layout {
        ($c:literal $rust:ident: $($field:ident)+) => {
            [
                vec![($c.to_owned(), size_of::<$rust>())],
                vec![(format!("{} align", $c), align_of::<$rust>())],
                vec![$((format!("{}.{}", $c, stringify!($field)), offset_of!($rust, $field))),+],
            ].concat()
        };
    }
    let own = [
        layout!("lc_request" Request: session operation outcome nonce nonce_len aad aad_len from to
            len tag tag_len),
        layout!("lc_algorithm_info" Info: authenticates random_nonces key_len shortest_key_len
            nonce_len tag_len block_len),
        layout!("lc_completion" Completion: user buffer len outcome),
        layout!("lc_file_options" FileOptions: algorithm memory passes lanes),
    ]
    .concat();
    let mut program = String::from(
        "#include <lanecrypt.h>\n#include <stdio.h>\n\
         #define ALIGN(t) offsetof(struct { char c; struct t s; }, s)\n\
         #define SAY(what, number) printf(\"%s %u\\n\", what, (unsigned)(number))\n\
         int main(void) {\n",
    );
    for (name, _) in &own {
        let number = match name.split_once(['.', ' ']) {
            None => format!("sizeof(struct {name})"),
            Some((of, "align")) => format!("ALIGN({of})"),
            Some((of, field)) => format!("offsetof(struct {of}, {field})"),
        };
        program.push_str(&format!("SAY(\"{name}\", {number});\n"));
    }
    program.push_str("return 0; }\n");

    let folder = std::env::temp_dir().join(format!("lanecrypt-c-layout-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (source, built) = (folder.join("layout.c"), folder.join("layout"));
    std::fs::write(&source, program).expect("written");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/include");
    let compiled = Command::new(compiler).arg(include).arg("-o").args([&built, &source]).status();
    assert!(compiled.expect("a compiler of C").success());
    let said = Command::new(&built).output().expect("it runs").stdout;
    std::fs::remove_dir_all(&folder).expect("removed");
    let right: String = own.iter().map(|(name, number)| format!("{name} {number}\n")).collect();
    assert_eq!(String::from_utf8(said).expect("text"), right);

    // Those fields, and no others.
    for name in ["lc_request", "lc_algorithm_info", "lc_completion", "lc_file_options"] {
        let header = bare_header();
        let body = header.split_once(&format!("struct {name} {{")).expect("it is there").1;
        let fields = body.split_once('}').expect("it ends").0.matches(';').count();
        let listed = own.iter().filter(|row| row.0.starts_with(&format!("{name}."))).count();
        assert_eq!(fields, listed, "{name}");
    }
}
