//! Sizes on the command line.

/// Parses a number of bytes: a decimal number with a unit.
///
/// The units are those of `dd` and `head`. `K`, `M`, `G`, `T`, `P`, `E`, also written `KiB` and so
/// on, are powers of 1,024. `kB`, `KB`, `MB` and so on are powers of 1,000. `k` is `K`; `B` is one
/// byte.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    if digits.is_empty() {
        return Err(String::from("a size is a whole number and a unit, such as 32, 1M or 4GiB"));
    }
    let factor = factor(unit).ok_or("units are K, M, G, T, P, E, KiB ..., kB ... and B")?;
    let number: u64 = digits.parse().map_err(|_| "too large")?;
    number.checked_mul(factor).ok_or_else(|| String::from("too large"))
}

fn factor(unit: &str) -> Option<u64> {
    let (prefix, base) = match unit {
        "" | "B" => return Some(1),
        "k" | "K" | "KiB" => ('K', 1024_u64),
        "kB" | "KB" => ('K', 1000),
        _ => match unit.split_at_checked(1)? {
            (prefix, "" | "iB") => (prefix.chars().next()?, 1024),
            (prefix, "B") => (prefix.chars().next()?, 1000),
            _ => return None,
        },
    };
    let power = "KMGTPE".find(prefix)? + 1;
    base.checked_pow(u32::try_from(power).ok()?)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn units_are_those_of_dd() {
        let sizes = [
            ("0", 0),
            ("32", 32),
            ("32B", 32),
            ("1k", 1024),
            ("1K", 1024),
            ("1kB", 1000),
            ("1KB", 1000),
            ("1KiB", 1024),
            ("3M", 3 << 20),
            ("4GiB", 4 << 30),
            ("2GB", 2_000_000_000),
            ("1T", 1 << 40),
            ("15E", 15 << 60),
            ("18446744073709551615", u64::MAX),
        ];
        for (text, size) in sizes {
            assert_eq!(parse(text), Ok(size), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let nonsense = [
            "",
            "M",
            "-1",
            "+1",
            "1.5M",
            "1m",
            "1 M",
            "0x10",
            "1Mi",
            "1MiBB",
            "16E",
            "1Z",
            "1kiB",
            "18446744073709551616",
            "99999999999999999999999G",
            "１",
            "1µ",
            "1_000",
            "1é",
        ];
        for text in nonsense {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
