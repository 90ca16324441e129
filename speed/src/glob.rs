//! Patterns on the ids of points.

use core::fmt;

/// A pattern: `*` stands for any run of characters, slashes included, `?` for any single one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// The pattern as written; every string is one.
    #[must_use]
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    /// Whether the whole of `id` fits the pattern.
    #[must_use]
    pub fn matches(&self, id: &str) -> bool {
        let (pattern, id) = (self.0.as_bytes(), id.as_bytes());
        let (mut p, mut i) = (0, 0);
        // Where to continue when the last star takes one more character.
        let mut retry = None;
        while i < id.len() {
            match pattern.get(p) {
                Some(b'*') => {
                    retry = Some((p, i));
                    p += 1;
                }
                Some(&c) if c == b'?' || c == id[i] => {
                    p += 1;
                    i += 1;
                }
                _ => match retry {
                    Some((star, from)) => {
                        retry = Some((star, from + 1));
                        p = star + 1;
                        i = from + 1;
                    }
                    None => return false,
                },
            }
        }
        pattern[p..].iter().all(|&c| c == b'*')
    }
}

impl From<&str> for Glob {
    fn from(pattern: &str) -> Self {
        Self::new(pattern)
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, id, fits) in [
            ("random/*/u32/*", "random/lanecrypt/chacha20/per-thread/u32/4/t1", true),
            ("random/*/u32/*", "random/lanecrypt/chacha20/per-thread/fill/4/t1", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*t2", "random/x/t2", true),
            ("*t2", "random/x/t21", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("**", "anything", true),
        ] {
            assert_eq!(Glob::new(pattern).matches(id), fits, "{pattern} {id}");
        }
    }
}
