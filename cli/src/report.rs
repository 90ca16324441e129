//! `lanecrypt report`: a page, pictures or tables of what `speed` measured.

use std::path::PathBuf;
use std::process::ExitCode;

use lanecrypt_report::{Results, Run, charts, csv, markdown, page};

use crate::{compare, exit};

/// Arguments of `report`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What `speed --json` wrote: files, or folders of a machine's files
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
    /// The charts as tables in Markdown
    #[arg(long)]
    markdown: bool,
    /// One chart as a picture; a name that there is not lists those that there are
    #[arg(long, value_name = "NAME")]
    svg: Option<String>,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> ExitCode {
    match made(args) {
        Ok(text) => exit::print(&text),
        Err(reason) => exit::bad_arguments(&reason),
    }
}

fn made(args: &Args) -> Result<String, String> {
    let mut runs = Vec::new();
    for path in &args.files {
        add(&mut runs, path)?;
    }
    let form = &args.form;
    if form.csv {
        return Ok(csv(&runs));
    }
    if form.markdown {
        return Ok(markdown(&runs));
    }
    let Some(name) = &form.svg else { return Ok(page(&runs)) };
    let all: Vec<_> = runs.iter().flat_map(|run| charts(&run.results)).collect();
    match all.iter().find(|chart| chart.name() == *name) {
        Some(chart) => Ok(chart.svg() + "\n"),
        None => {
            let names: Vec<String> = all.iter().map(lanecrypt_report::Chart::name).collect();
            Err(format!("no chart {name}; there are {}", names.join(", ")))
        }
    }
}

/// Adds a file as a run, or the files of a folder as one: tables of one machine, measured apart.
fn add(runs: &mut Vec<Run>, path: &std::path::Path) -> Result<(), String> {
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
            }
        }
    }
    let results = whole.ok_or_else(|| {
        format!("{at}: no file of results in it; 'lanecrypt speed --json FILE' writes one")
    })?;
    runs.push(Run { name, results });
    Ok(())
}
