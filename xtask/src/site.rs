//! The documents and results as pages for any web server: `cargo xtask site PROGRAM FOLDER`.

use core::fmt::Write as _;
use std::collections::{BTreeMap, BTreeSet};

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

const STYLE: &str = "\
:root{color-scheme:light dark;--back:#fff;--text:#222;--line:#ddd;--card:#f6f6f6;--link:#0a58a8}
@media(prefers-color-scheme:dark){:root{--back:#16181c;--text:#e6e6e6;--line:#3a3d42;\
--card:#1d2025;--link:#7db7f0}}
body{margin:0 auto;max-width:60rem;padding:1rem;background:var(--back);color:var(--text);\
font:16px/1.55 system-ui,sans-serif;overflow-wrap:anywhere}
nav a{display:inline-block;margin:.2rem 1rem .2rem 0}a{color:var(--link)}
img{max-width:100%;height:auto}
pre,code{background:var(--card);border-radius:4px;font-size:.9em}pre{padding:.7rem;overflow-x:auto}
pre code{font-size:1em}.table{overflow-x:auto}
table{border-collapse:collapse}td,th{padding:.2rem .6rem;border-bottom:1px solid var(--line)}";

/// What stands above every page.
const MENU: &[(&str, &str)] = &[
    ("README.md", "Lanecrypt"),
    ("GUIDE.md", "Guide"),
    ("FIGURES.md", "Figures"),
    ("SECURITY.md", "Security"),
    ("ARCHITECTURE.md", "Architecture"),
    ("CONTRIBUTING.md", "Contributing"),
];
/// The charts of all results.
const REPORT: &str = "report.html";
/// The documentation of the published crate.
const API: &str = "https://docs.rs/lanecrypt";

/// Writes the pages of the README and of all documents that it leads to, with their pictures, and
/// the charts of `results/`. False if a link leads nowhere.
///
/// `program` is the built program.
pub(crate) fn write(program: &Path, folder: &Path) -> bool {
    let (mut open, mut seen) = (vec![PathBuf::from("README.md")], BTreeSet::new());
    open.extend(MENU.iter().map(|(file, _)| PathBuf::from(file)));
    let mut is_whole = true;
    while let Some(document) = open.pop() {
        if !seen.insert(document.clone()) {
            continue;
        }
        let text = fs::read_to_string(&document).expect("links were checked");
        let mut links = Links { document: &document, found: Vec::new(), pictures: Vec::new() };
        let page = page(&text, &mut links);
        let to = folder.join(target(&document));
        fs::create_dir_all(to.parent().expect("a file is in a folder")).expect("a folder");
        fs::write(&to, page).expect("a page");
        for picture in links.pictures {
            let to = folder.join(&picture);
            fs::create_dir_all(to.parent().expect("a file is in a folder")).expect("a folder");
            is_whole &= fs::copy(&picture, to).is_ok();
        }
        for link in links.found {
            match link.exists() {
                true if link.extension().is_some_and(|end| end == "md") => open.push(link),
                true => (),
                false => {
                    println!("{}: nothing is at {}", document.display(), link.display());
                    is_whole = false;
                }
            }
        }
    }
    let results = fs::read_dir("results").expect("the folder is there").flatten();
    let mut machines: Vec<PathBuf> = results.map(|entry| entry.path()).collect();
    machines.retain(|path| {
        path.is_dir()
            && fs::read_dir(path).is_ok_and(|inner| {
                inner.flatten().any(|it| it.path().extension().is_some_and(|end| end == "json"))
            })
    });
    machines.sort();
    let report = Command::new(program).arg("report").args(&machines).output();
    let report = report.expect("the program runs");
    is_whole &= report.status.success() && fs::write(folder.join(REPORT), report.stdout).is_ok();
    println!("{} pages in {}", seen.len() + 1, folder.display());
    is_whole
}

/// The links of a document, relative to the root.
struct Links<'d> {
    document: &'d Path,
    found: Vec<PathBuf>,
    pictures: Vec<PathBuf>,
}

impl Links<'_> {
    /// The file that a relative link names, without the place in it.
    fn file(&self, link: &str) -> Option<(PathBuf, String)> {
        if link.contains("://") || link.starts_with(['#', '/']) || link.starts_with("mailto:") {
            return None;
        }
        let (path, place) = link.split_once('#').unwrap_or((link, ""));
        let mut whole = self.document.parent().unwrap_or(Path::new("")).to_owned();
        for part in Path::new(path).components() {
            match part {
                Component::ParentDir => drop(whole.pop()),
                Component::Normal(name) => whole.push(name),
                _ => (),
            }
        }
        Some((whole, if place.is_empty() { String::new() } else { format!("#{place}") }))
    }

    /// The way from the document's page back to the root.
    fn up(&self) -> String {
        "../".repeat(self.document.components().count() - 1)
    }
}

/// Where the page of a document is.
fn target(document: &Path) -> PathBuf {
    match document == Path::new("README.md") {
        true => PathBuf::from("index.html"),
        false => document.with_extension("html"),
    }
}

fn page(text: &str, links: &mut Links<'_>) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut events: Vec<Event<'_>> = Vec::new();
    // Links to files that are no pages are text.
    let mut plain = false;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let Some((file, place)) = links.file(&dest_url) else {
                    events.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
                    continue;
                };
                plain = file.extension().is_none_or(|end| end != "md");
                if !plain {
                    let to = target(&file);
                    let dest_url = format!("{}{}{place}", links.up(), to.display()).into();
                    events.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
                }
                links.found.push(file);
            }
            Event::End(TagEnd::Link) if core::mem::take(&mut plain) => (),
            Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                if let Some((file, _)) = links.file(&dest_url) {
                    links.pictures.push(file);
                }
                events.push(Event::Start(Tag::Image { link_type, dest_url, title, id }));
            }
            Event::Start(Tag::Table(columns)) => {
                events.push(Event::Html(CowStr::Borrowed("<div class=\"table\">")));
                events.push(Event::Start(Tag::Table(columns)));
            }
            Event::End(TagEnd::Table) => {
                events.push(Event::End(TagEnd::Table));
                events.push(Event::Html(CowStr::Borrowed("</div>")));
            }
            // Comments say how the figures are filled in.
            Event::Html(_) => (),
            other => events.push(other),
        }
    }
    name_headings(&mut events, &mut counts);
    let mut body = String::new();
    html::push_html(&mut body, events.into_iter());
    let up = links.up();
    let mut menu = String::new();
    for (file, name) in MENU {
        let _ = write!(menu, "<a href=\"{up}{}\">{name}</a>", target(Path::new(file)).display());
    }
    let _ = write!(menu, "<a href=\"{up}{REPORT}\">Charts</a><a href=\"{API}\">API</a>");
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <link rel=\"icon\" href=\"data:,\"><title>{}</title><style>{STYLE}</style></head>\
         <body><nav>{menu}</nav>{body}</body></html>\n",
        title(text)
    )
}

/// Gives each heading the identifier that code hosts give it.
fn name_headings(events: &mut [Event<'_>], counts: &mut BTreeMap<String, usize>) {
    for at in 0..events.len() {
        if !matches!(events[at], Event::Start(Tag::Heading { .. })) {
            continue;
        }
        let mut name = String::new();
        for event in &events[at + 1..] {
            match event {
                Event::End(TagEnd::Heading(_)) => break,
                Event::Text(text) | Event::Code(text) => name += text,
                _ => (),
            }
        }
        let kept = |c: char| c.is_alphanumeric() || "-_ ".contains(c);
        let name: String = name.to_lowercase().chars().filter(|&c| kept(c)).collect();
        let name = name.replace(' ', "-");
        let count = counts.entry(name.clone()).or_insert(0);
        *count += 1;
        let name = if *count > 1 { format!("{name}-{}", *count - 1) } else { name };
        if let Event::Start(Tag::Heading { id, .. }) = &mut events[at] {
            *id = Some(name.into());
        }
    }
}

/// The text of the first heading.
fn title(text: &str) -> String {
    let mut parser = Parser::new(text);
    let is_first = |event: &Event<'_>| {
        matches!(event, Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }))
    };
    parser.find(is_first);
    match parser.next() {
        Some(Event::Text(text)) => text.into_string(),
        _ => String::from("Lanecrypt"),
    }
}
