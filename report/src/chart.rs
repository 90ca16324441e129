//! A chart: lines of figures over sizes, batches and the like.

use lanecrypt_speed::{Measure, Side};

/// A figure at a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) at: f64,
    pub(crate) figure: f64,
    /// The ends of its interval; the figure itself if it has none.
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The figures of a project, from left to right.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// The project, which has the colour.
    pub(crate) source: String,
    /// The project, with its version where there are several.
    pub(crate) label: String,
    pub(crate) marks: Vec<Mark>,
}

/// A chart of one run.
#[derive(Clone, Debug)]
pub struct Chart {
    pub(crate) table: &'static str,
    pub(crate) title: &'static str,
    /// What it is about, such as a cipher and an operation.
    pub(crate) about: String,
    pub(crate) over: Side,
    pub(crate) measure: Measure,
    pub(crate) lines: Vec<Line>,
    /// Whether an emulator ran the program, which every display of the figures has to say.
    pub(crate) is_emulated: bool,
}

impl Chart {
    /// The title with what it is about.
    pub(crate) fn heading(&self) -> String {
        let about = self.subtitle();
        match about.is_empty() {
            true => self.title.to_owned(),
            false => format!("{}: {about}", self.title),
        }
    }

    /// What it is about, and whether its figures are an emulator's.
    pub(crate) fn subtitle(&self) -> String {
        match (self.is_emulated, self.about.as_str()) {
            (false, about) => about.to_owned(),
            (true, "") => String::from("EMULATED"),
            (true, about) => format!("{about}, EMULATED"),
        }
    }

    /// A name for one picture: letters, digits and hyphens.
    #[must_use]
    pub fn name(&self) -> String {
        let text = format!("{} {} {}", self.table, self.title, self.about).to_lowercase();
        let words = text.split(|c: char| !c.is_ascii_alphanumeric());
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
    }

    /// The places, from left to right.
    pub(crate) fn places(&self) -> Vec<f64> {
        let mut places: Vec<f64> =
            self.lines.iter().flat_map(|line| line.marks.iter().map(|mark| mark.at)).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        places
    }

    /// The command that measures its points.
    pub(crate) fn command(&self) -> String {
        format!("lanecrypt speed {}", self.table)
    }
}
