//! JSON lines in, JSON lines out.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use lanecrypt_ciphers::Isa;

use super::hex::encode;
use super::refusal::Refusal;
use super::request::Request;

/// The longest line that is read, in bytes. It bounds the memory.
pub(crate) const LIMIT: usize = 64 << 20;

/// The most memory that a buffer keeps from one line to the next, in bytes.
const KEPT: usize = 1 << 20;

/// Answers each line of `input` until its end. Empty lines get no answer.
pub(crate) fn answer_all(
    input: &mut impl Read,
    output: &mut impl Write,
    isa: Isa,
) -> io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 16, input);
    let mut output = BufWriter::with_capacity(1 << 16, output);
    let mut line = Vec::new();
    loop {
        // A client that has sent no further whole line may be waiting for this answer.
        if !input.buffer().contains(&b'\n') {
            output.flush()?;
        }
        let answer = match read_line(&mut input, &mut line)? {
            Line::End => return output.flush(),
            Line::Whole if line.trim_ascii().is_empty() => continue,
            Line::Whole => answer(isa, &line),
            Line::TooLong => refusal("null", &format!("line longer than {LIMIT} bytes")),
        };
        output.write_all(answer.as_bytes())?;
    }
}

/// The answer to a line, with its newline.
fn answer(isa: Isa, line: &[u8]) -> String {
    // The parser would also accept a list of ten fields as a request.
    if !line.trim_ascii_start().starts_with(b"{") {
        return refusal("null", "not a request in JSON: expected an object");
    }
    let request: Request<'_> = match serde_json::from_slice(line) {
        Ok(request) => request,
        Err(error) => return refusal("null", &format!("not a request in JSON: {error}")),
    };
    // Copied as text: it may be a number that fits no integer type.
    let id = request.id.map_or("null", |id| id.get());
    match request.parse().and_then(|task| task.run(isa)) {
        Ok(out) => format!("{{\"id\":{id},\"out\":\"{}\"}}\n", encode(&out)),
        Err(Refusal(reason)) => refusal(id, &reason),
    }
}

fn refusal(id: &str, reason: &str) -> String {
    format!("{{\"id\":{id},\"err\":{}}}\n", serde_json::Value::from(reason))
}

enum Line {
    End,
    TooLong,
    Whole,
}

/// Reads up to the next newline, or to the end of the input, into `line`.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    line.shrink_to(KEPT);
    // One byte more than the limit, to tell a longer line from one of exactly that length.
    input.by_ref().take(LIMIT as u64 + 1).read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.is_empty() {
        return Ok(Line::End);
    }
    if line.len() <= LIMIT {
        return Ok(Line::Whole);
    }
    input.skip_until(b'\n')?;
    Ok(Line::TooLong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(input: &[u8]) -> Vec<String> {
        let mut output = Vec::new();
        answer_all(&mut &input[..], &mut output, Isa::PORTABLE).expect("memory takes it all");
        let text = String::from_utf8(output).expect("JSON is UTF-8");
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn long_lines_are_refused_and_the_next_is_answered() {
        let mut input = vec![b'x'; LIMIT + 1];
        input.extend_from_slice(b"\n\n  \r\n{\"id\":7}\n");
        let answers = answers(&input);
        assert_eq!(answers.len(), 2, "{answers:?}");
        assert!(answers[0].contains("longer"), "{answers:?}");
        assert!(answers[1].contains("\"id\":7"), "{answers:?}");
    }

    #[test]
    fn the_last_line_needs_no_newline() {
        assert_eq!(answers(b"{\"id\":1}\n{\"id\":2}").len(), 2);
        assert!(answers(b"").is_empty());
    }
}
