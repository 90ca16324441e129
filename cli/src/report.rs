//! `lanecrypt report`: a page, pictures or tables of what `speed` measured.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lanecrypt_report::{Results, Run, csv, filled, markdown, page, picture, pictures};

use crate::{compare, exit};

/// Arguments of `report`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What `speed --json` wrote: files, folders of a machine's files, or - (standard input)
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    form: Form,
}

/// What to make; the page, if nothing is said.
#[derive(clap::Args)]
#[group(multiple = false)]
struct Form {
    /// A page with charts, in one file that needs no network
    #[arg(long)]
    html: bool,
    /// All points as CSV
    #[arg(long)]
    csv: bool,
    /// The tables in Markdown
    #[arg(long)]
    markdown: bool,
    /// One chart as a picture; a name that there is not lists those that there are
    #[arg(long, value_name = "NAME")]
    svg: Option<String>,
    /// Fill the tables of a Markdown file that comments describe: <!-- figures: NAME, UNIT
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> ExitCode {
    let made = runs(args).and_then(|runs| match &args.form.into {
        Some(document) => fill(document, &runs).map(|()| None),
        None => made(args, &runs).map(Some),
    });
    match made {
        Ok(Some(text)) => exit::print(&text),
        Ok(None) => ExitCode::SUCCESS,
        Err(reason) => exit::bad_arguments(&reason),
    }
}

/// Puts the figures into a document. It is not touched if one of its tables cannot be filled.
fn fill(document: &Path, runs: &[Run]) -> Result<(), String> {
    let at = document.display();
    let text = fs::read_to_string(document).map_err(|error| format!("{at}: {error}"))?;
    let new = filled(&text, runs).map_err(|reason| format!("{at}: {reason}"))?;
    if new == text {
        return Ok(());
    }
    fs::write(document, new).map_err(|error| format!("{at}: {error}"))
}

fn runs(args: &Args) -> Result<Vec<Run>, String> {
    let mut runs = Vec::new();
    for path in &args.files {
        add(&mut runs, path)?;
    }
    Ok(runs)
}

fn made(args: &Args, runs: &[Run]) -> Result<String, String> {
    let form = &args.form;
    if form.csv {
        return Ok(csv(runs));
    }
    if form.markdown {
        return Ok(markdown(runs));
    }
    let Some(name) = &form.svg else { return Ok(page(runs)) };
    if let Some(svg) = runs.iter().find_map(|run| picture(&run.results, name)) {
        return Ok(svg + "\n");
    }
    let names: Vec<String> = runs.iter().flat_map(|run| pictures(&run.results)).collect();
    Err(format!("no chart {name}; there are {}", names.join(", ")))
}

/// Adds a file as a run, or the files of a folder as one: tables of one machine, measured apart.
fn add(runs: &mut Vec<Run>, path: &Path) -> Result<(), String> {
    let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    if !path.is_dir() {
        runs.push(Run { name, results: compare::read(path)? });
        return Ok(());
    }
    let at = path.display();
    let entries = path.read_dir().map_err(|error| format!("{at}: {error}"))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "json"));
    files.sort();
    let mut whole: Option<Results> = None;
    for file in files {
        let results = compare::read(&file)?;
        match &mut whole {
            None => whole = Some(results),
            Some(whole) => {
                let differences = lanecrypt_speed::differences(&whole.machine, &results.machine);
                if !differences.is_empty() {
                    let file = file.display();
                    return Err(format!("{file}: another machine: {}", differences.join("; ")));
                }
                for library in results.machine.libraries {
                    if !whole.machine.libraries.contains(&library) {
                        whole.machine.libraries.push(library);
                    }
                }
                whole.points.extend(results.points);
                match (&mut whole.conditions, &results.conditions) {
                    (Some(all), Some(these)) => all.add(these),
                    (all, these) => *all = all.take().or_else(|| these.clone()),
                }
            }
        }
    }
    let results = whole.ok_or_else(|| no_results(path))?;
    runs.push(Run { name, results });
    Ok(())
}

/// Says that a folder has no file of results, and which of its folders have some.
fn no_results(folder: &Path) -> String {
    let is_json = |file: &Path| file.extension().is_some_and(|end| end == "json");
    let list = |folder: &Path| -> Vec<PathBuf> {
        let entries = folder.read_dir().into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let mut folders = list(folder);
    folders.retain(|inner| list(inner).iter().any(|file| is_json(file)));
    folders.sort();
    let at = folder.display();
    match folders.is_empty() {
        true => format!("{at}: no file of results in it; 'lanecrypt speed --json FILE' writes one"),
        false => {
            let names: Vec<String> = folders.iter().map(|at| at.display().to_string()).collect();
            format!("{at}: no file of results in it; there are some in {}", names.join(", "))
        }
    }
}
