//! A block: a part of a table with a title, as its renderers take it.

use crate::text;

/// A part of a table: a title, lines of cells, and a note under them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Block {
    /// What it shows, and in which unit: `aes-128-gcm seal: cycles per message by size in bytes`.
    pub title: String,
    /// The names of the columns; those of a line's own names may be empty.
    pub header: Vec<String>,
    /// The lines, each with a cell for each column; none if everything is in the note.
    pub rows: Vec<Vec<String>>,
    /// Sentences about it, in lines that end with a newline.
    pub note: String,
}

/// The blocks of one table, and how to read them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sheet {
    /// The table's name.
    pub table: &'static str,
    /// Its blocks in their order.
    pub blocks: Vec<Block>,
    /// How to read the figures.
    pub legend: String,
}

impl Block {
    /// Sentences under a title.
    pub(crate) fn of_words(title: &str, note: String) -> Option<Self> {
        (!note.is_empty()).then(|| Self { title: title.to_owned(), note, ..Self::default() })
    }

    /// The block as text, between empty lines.
    pub(crate) fn text(&self) -> String {
        let Self { title, header, rows, note } = self;
        let table = if rows.is_empty() { String::new() } else { text::table(header, rows) };
        format!("{title}\n{table}{note}\n")
    }
}

impl Sheet {
    /// Everything as text.
    #[must_use]
    pub fn text(&self) -> String {
        let blocks: String = self.blocks.iter().map(Block::text).collect();
        if blocks.is_empty() { blocks } else { blocks + &self.legend }
    }

    /// The blocks whose title has `title` in it, in any case of letters, and how to read them; or
    /// the titles that there are, if none fits.
    #[must_use]
    pub fn titled(&self, title: &str) -> String {
        let wanted = title.to_lowercase();
        let mut found = self.clone();
        found.blocks.retain(|block| block.title.to_lowercase().contains(&wanted));
        match found.blocks.is_empty() {
            true => format!("no part has \"{title}\" in its title\n{}", self.contents()),
            false => found.text(),
        }
    }

    /// The titles, each up to its colon and each once.
    fn contents(&self) -> String {
        let mut titles: Vec<&str> = Vec::new();
        for Block { title, .. } in &self.blocks {
            let name = title.split_once(": ").map_or(&**title, |(name, _)| name);
            if !titles.contains(&name) {
                titles.push(name);
            }
        }
        let mut out = String::from("parts:");
        let mut width = out.len();
        for (i, title) in titles.iter().enumerate() {
            let more = if i + 1 < titles.len() { "," } else { "\n" };
            if width + title.len() + 2 > WIDTH {
                out += "\n ";
                width = 1;
            }
            out += &format!(" {title}{more}");
            width += title.len() + 2;
        }
        if titles.is_empty() { String::new() } else { out }
    }
}

/// Columns of a screen.
const WIDTH: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(titles: &[&str]) -> Sheet {
        let block = |title: &&str| Block {
            title: (*title).to_owned(),
            header: ["", "n"].map(str::to_owned).into(),
            rows: vec![["a", title].map(str::to_owned).into()],
            ..Block::default()
        };
        let blocks = titles.iter().map(block).collect();
        Sheet { table: "test", blocks, legend: "To read: a hint.\n".into() }
    }

    #[test]
    fn parts_are_found_by_their_titles() {
        let sheet = sheet(&["a seal: cycles", "b seal: cycles", "a open: cycles"]);
        let found = sheet.titled("A Seal");
        assert!(found.starts_with("a seal: cycles\n") && found.ends_with("\n\nTo read: a hint.\n"));
        let two = sheet.titled("seal");
        assert!(two.contains("a seal") && two.contains("b seal") && !two.contains("open"), "{two}");
        let none = sheet.titled("c seal");
        assert_eq!(none, "no part has \"c seal\" in its title\nparts: a seal, b seal, a open\n");
    }

    #[test]
    fn contents_fit_a_screen() {
        let titles: Vec<String> = (0..60).map(|i| format!("a cipher {i}: x")).collect();
        let contents = sheet(&titles.iter().map(|title| &**title).collect::<Vec<_>>()).contents();
        assert!(contents.lines().all(|line| line.len() <= WIDTH), "{contents}");
        assert_eq!(contents.matches("a cipher").count(), 60);
        assert_eq!((sheet(&[]).contents(), sheet(&[]).text()), (String::new(), String::new()));
    }
}
