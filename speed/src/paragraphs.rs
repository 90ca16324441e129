//! Parts of a long text, by their titles.

/// The paragraphs whose first line has `title` in it, in any case of letters, and after them the one
/// that says how to read the figures; or the titles that there are, if none fits.
pub(crate) fn titled(text: &str, title: &str) -> String {
    let paragraphs: Vec<&str> = text.split("\n\n").filter(|p| !p.trim().is_empty()).collect();
    let wanted = title.to_lowercase();
    let fits = |paragraph: &&&str| {
        let first = paragraph.trim_start().lines().next().unwrap_or_default();
        first.to_lowercase().contains(&wanted)
    };
    let found: Vec<&str> = paragraphs.iter().filter(fits).copied().collect();
    let explains = |paragraph: &&&str| paragraph.contains(LEGEND);
    if found.is_empty() {
        return format!("no part has \"{title}\" in its title\n{}", contents(text));
    }
    let legend = paragraphs.iter().filter(explains).filter(|p| !found.contains(*p));
    let all: Vec<&str> = found.iter().chain(legend).map(|p| p.trim_matches('\n')).collect();
    all.join("\n\n") + "\n"
}

/// How the explanation of figures begins.
const LEGEND: &str = "To read: ";

/// The titles of a text's parts, each up to its colon and each once.
pub(crate) fn contents(text: &str) -> String {
    let mut titles: Vec<&str> = Vec::new();
    for paragraph in text.split("\n\n").filter(|p| !p.starts_with(LEGEND)) {
        let first = paragraph.trim_start().lines().next().unwrap_or_default();
        if let Some((title, _)) = first.split_once(": ")
            && !titles.contains(&title)
        {
            titles.push(title);
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

/// Columns of a screen.
const WIDTH: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a seal: cycles\n 1  2\n\nb seal: cycles\n 3  4\n\n\na open: cycles\n 5\n\n\
                        To read: a hint.\n";

    #[test]
    fn parts_are_found_by_their_titles() {
        let found = titled(TEXT, "A Seal");
        assert_eq!(found, "a seal: cycles\n 1  2\n\nTo read: a hint.\n");
        let two = titled(TEXT, "seal");
        assert!(two.contains("1  2") && two.contains("3  4") && !two.contains(" 5"), "{two}");
    }

    #[test]
    fn a_title_that_there_is_not_shows_those_that_there_are() {
        let none = titled(TEXT, "c seal");
        assert_eq!(none, "no part has \"c seal\" in its title\nparts: a seal, b seal, a open\n");
        assert_eq!(contents("nothing"), "");
    }

    #[test]
    fn contents_fit_a_screen() {
        let long: String = (0..60).map(|i| format!("a cipher {i}: x\n 1\n\n")).collect();
        let contents = contents(&long);
        assert!(contents.lines().all(|line| line.len() <= WIDTH), "{contents}");
        assert_eq!(contents.matches("a cipher").count(), 60);
    }
}
