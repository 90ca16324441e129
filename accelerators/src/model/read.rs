//! Reads the fields of a TOML file, each with its range, and reports line and field of an error.

use core::ops::{Range, RangeInclusive};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::FileError;

/// A table of the file. A field that was read is removed; the remaining ones are unknown.
pub(super) struct Fields<'i> {
    text: &'i str,
    /// The names of the tables around it and its own, with dots.
    path: String,
    /// The offset of its start in the text.
    at: usize,
    table: DeTable<'i>,
}

impl<'i> Fields<'i> {
    /// The whole file.
    pub(super) fn parse(text: &'i str) -> Result<Self, FileError> {
        let root = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            // The parser's message may have several lines.
            let reason = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
            FileError { line: line(text, at), field: String::new(), reason }
        })?;
        Ok(Self { text, path: String::new(), at: 0, table: root.into_inner() })
    }

    /// The error that this file or table has.
    pub(super) fn wrong(&self, reason: &str) -> FileError {
        let field = self.path.clone();
        FileError { line: line(self.text, self.at), field, reason: reason.to_owned() }
    }

    /// The error that the field `name` has, at the table's first line.
    pub(super) fn wrong_field(&self, name: &str, reason: &str) -> FileError {
        self.error(name, self.at, reason.to_owned())
    }

    /// Checks that a file has the expected kind.
    pub(super) fn kind(&mut self, wanted: &str) -> Result<(), FileError> {
        match self.text("kind")? {
            kind if kind == wanted => Ok(()),
            kind => Err(self.wrong_field("kind", &format!("must be {wanted:?}, is {kind:?}"))),
        }
    }

    /// The name of a card or host, which is part of a driver's name.
    pub(super) fn name(&mut self) -> Result<String, FileError> {
        let name = self.text("name")?;
        let good =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._".contains(&byte);
        match name.bytes().all(good) && name.len() <= 64 {
            true => Ok(name),
            false => {
                Err(self.wrong_field("name", "must be lower case without spaces, 64 bytes at most"))
            }
        }
    }

    /// A text, which may not be empty.
    pub(super) fn text(&mut self, name: &str) -> Result<String, FileError> {
        let (at, value) = self.required(name)?;
        match value {
            DeValue::String(text) if !text.trim().is_empty() => Ok(text.into_owned()),
            DeValue::String(_) => Err(self.error(name, at, "is empty".to_owned())),
            other => Err(self.mistyped(name, at, "a text", &other)),
        }
    }

    /// The source of the figures of this table, which each table must name.
    pub(super) fn source(&mut self) -> Result<String, FileError> {
        self.text("source")
    }

    /// A number in a range.
    pub(super) fn number(
        &mut self,
        name: &str,
        range: RangeInclusive<f64>,
    ) -> Result<f64, FileError> {
        let (at, value) = self.required(name)?;
        self.as_number(name, at, &value, &range)
    }

    /// A number in a range, if the field is there.
    pub(super) fn optional(
        &mut self,
        name: &str,
        range: RangeInclusive<f64>,
    ) -> Result<Option<f64>, FileError> {
        let Some((at, value)) = self.take(name) else { return Ok(None) };
        self.as_number(name, at, &value, &range).map(Some)
    }

    /// A whole number in a range.
    pub(super) fn count(
        &mut self,
        name: &str,
        range: RangeInclusive<u32>,
    ) -> Result<u32, FileError> {
        let (at, value) = self.required(name)?;
        let DeValue::Integer(number) = &value else {
            return Err(self.mistyped(name, at, "a whole number", &value));
        };
        let count = u32::from_str_radix(number.as_str(), number.radix()).ok();
        count.filter(|count| range.contains(count)).ok_or_else(|| {
            let (from, to) = (range.start(), range.end());
            self.error(name, at, format!("must be from {from} to {to}, is {number}"))
        })
    }

    /// Yes or no; no if the field is absent.
    pub(super) fn flag(&mut self, name: &str) -> Result<bool, FileError> {
        match self.take(name) {
            None => Ok(false),
            Some((_, DeValue::Boolean(flag))) => Ok(flag),
            Some((at, other)) => Err(self.mistyped(name, at, "true or false", &other)),
        }
    }

    /// A table, which must be there.
    pub(super) fn table(&mut self, name: &str) -> Result<Self, FileError> {
        let (at, value) = self.required(name)?;
        self.inner(name, at, value)
    }

    /// The tables inside of the table `name`, with their names; none if it is absent.
    pub(super) fn tables(&mut self, name: &str) -> Result<Vec<(String, Self)>, FileError> {
        let Some((at, value)) = self.take(name) else { return Ok(Vec::new()) };
        let mut outer = self.inner(name, at, value)?;
        let names: Vec<String> = outer.table.keys().map(|key| key.get_ref().to_string()).collect();
        names.into_iter().map(|name| Ok((name.clone(), outer.table(&name)?))).collect()
    }

    /// Refuses fields that were not read.
    pub(super) fn end(self) -> Result<(), FileError> {
        match self.table.iter().next() {
            None => Ok(()),
            Some((key, _)) => {
                Err(self.error(key.get_ref(), key.span().start, "unknown".to_owned()))
            }
        }
    }

    fn inner(&self, name: &str, at: usize, value: DeValue<'i>) -> Result<Self, FileError> {
        match value {
            DeValue::Table(table) => {
                Ok(Self { text: self.text, path: self.named(name), at, table })
            }
            other => Err(self.mistyped(name, at, "a table", &other)),
        }
    }

    fn as_number(
        &self,
        name: &str,
        at: usize,
        value: &DeValue<'i>,
        range: &RangeInclusive<f64>,
    ) -> Result<f64, FileError> {
        let number = match value {
            DeValue::Float(number) => number.as_str().parse().ok(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
            other => return Err(self.mistyped(name, at, "a number", other)),
        };
        // A value that is not a number is in no range.
        number.filter(|number| range.contains(number)).ok_or_else(|| {
            let shown = shown(value);
            let (from, to) = (range.start(), range.end());
            self.error(name, at, format!("must be from {from} to {to:e}, is {shown}"))
        })
    }

    fn required(&mut self, name: &str) -> Result<(usize, DeValue<'i>), FileError> {
        self.take(name).ok_or_else(|| self.error(name, self.at, "missing".to_owned()))
    }

    /// Removes a field: its place, and its value.
    fn take(&mut self, name: &str) -> Option<(usize, DeValue<'i>)> {
        let value: Spanned<DeValue<'i>> = self.table.remove(name)?;
        let Range { start, .. } = value.span();
        Some((start, value.into_inner()))
    }

    fn mistyped(&self, name: &str, at: usize, wanted: &str, is: &DeValue<'_>) -> FileError {
        self.error(name, at, format!("must be {wanted}, is {}", shown(is)))
    }

    fn error(&self, name: &str, at: usize, reason: String) -> FileError {
        FileError { line: line(self.text, at), field: self.named(name), reason }
    }

    fn named(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }
}

/// A value in a message, shortened.
fn shown(value: &DeValue<'_>) -> String {
    let text = match value {
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    };
    if text.chars().count() <= 40 { text } else { text.chars().take(40).chain(['…']).collect() }
}

/// The line at this place of the text, from 1.
fn line(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count()
}
