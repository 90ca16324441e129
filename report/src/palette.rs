//! Colours: one for each project, the same in every chart, and distinct for people who see few.

/// The colours of Okabe and Ito ("Color universal design"), and grey for what is not measured here.
/// The page darkens or lightens none of them: all can be distinguished on white and on near-black.
const COLOURS: &[(&str, &str)] = &[
    ("lanecrypt", "#d55e00"),
    ("openssl", "#0072b2"),
    ("aws-lc", "#009e73"),
    ("ring", "#56b4e9"),
    ("ipsec-mb", "#cc79a7"),
    ("crypto-mb", "#cc79a7"),
    ("libgcrypt", "#b8860b"),
    ("nettle", "#7a6ff0"),
    ("rustcrypto", "#8c564b"),
    ("rand", "#8c564b"),
    ("dalek", "#8c564b"),
    ("libsodium", "#17a2b8"),
    ("kernel", "#c0392b"),
    ("glibc", "#6b8e23"),
    ("graviola", "#2e8b57"),
    ("document", "#808080"),
    ("machine", "#a0a0a0"),
];

/// The colour of all others.
const OTHER: &str = "#708090";

/// The colour of a project.
pub(crate) fn colour(source: &str) -> &'static str {
    COLOURS.iter().find(|(name, _)| *name == source).map_or(OTHER, |(_, colour)| colour)
}

/// The class that has a project's colour in a page: short, because a page has thousands.
pub(crate) fn class(source: &str) -> String {
    let place = COLOURS.iter().position(|(name, _)| *name == source);
    format!("c{}", place.unwrap_or(COLOURS.len()))
}

/// The styles of these classes.
pub(crate) fn classes() -> String {
    let colours = COLOURS.iter().map(|(_, colour)| *colour).chain([OTHER]).enumerate();
    colours.map(|(place, colour)| format!(".c{place}{{color:{colour}}}")).collect()
}

/// How lines of one project differ: dashes.
pub(crate) fn dashes(source: &str, nth: usize) -> &'static str {
    match (source, nth) {
        ("document", _) => "2 3",
        (_, 0) => "",
        (_, 1) => "7 3",
        _ => "3 3",
    }
}
