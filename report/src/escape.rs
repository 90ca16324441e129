//! Text for HTML, SVG and tables. Names in results come from files of others.

/// Text as HTML and SVG have it, in content and in attributes with double quotes.
pub(crate) fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A cell of a CSV file (RFC 4180). One that a spreadsheet would take for a formula gets an
/// apostrophe.
pub(crate) fn csv(text: &str) -> String {
    let guarded = match text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number(text) {
        true => format!("'{text}"),
        false => text.to_owned(),
    };
    match guarded.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", guarded.replace('"', "\"\"")),
        false => guarded,
    }
}

fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok()
}

/// A cell of a table in Markdown.
pub(crate) fn markdown(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names() {
        assert_eq!(html("<a b=\"c\">&\n"), "&lt;a b=&quot;c&quot;&gt;&amp; ");
        assert_eq!(csv("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(csv("=1+1"), "'=1+1");
        assert_eq!(csv("-1.5"), "-1.5");
        assert_eq!(markdown("a|b\nc"), "a\\|b c");
    }
}
