//! Numbers as people read them.

/// A count as a number that can be drawn.
#[expect(clippy::cast_precision_loss, reason = "pictures have fewer digits")]
pub(crate) fn of(count: u64) -> f64 {
    count as f64
}

/// A figure with three digits or so: `1,250`, `43.7`, `0.92`.
pub(crate) fn figure(value: f64) -> String {
    if value >= 1e9 {
        format!("{:.2} G", value / 1e9)
    } else if value >= 1e6 {
        format!("{:.2} M", value / 1e6)
    } else if value >= 1000.0 {
        thousands(value)
    } else if value >= 100.0 {
        format!("{value:.0}")
    } else if value >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

/// A figure for a document: `0.15`, `3.0`, `16.8`, `27`, `1,250`.
pub(crate) fn quoted(value: f64) -> String {
    match value {
        _ if value >= 20.0 => thousands(value),
        _ if value >= 2.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The size of an axis's mark: `64`, `1 Ki`, `4 Mi`.
pub(crate) fn place(value: f64) -> String {
    let units = [(1024.0 * 1024.0 * 1024.0, " Gi"), (1024.0 * 1024.0, " Mi"), (1024.0, " Ki")];
    for (unit, name) in units {
        let share = value / unit;
        if share >= 1.0 && share.fract() == 0.0 {
            return format!("{share}{name}");
        }
    }
    format!("{value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        let pairs = [
            (0.917, "0.92"),
            (9.5, "9.50"),
            (43.66, "43.7"),
            (250.0, "250"),
            (1250.4, "1,250"),
            (999_999.0, "999,999"),
            (12_500_000.0, "12.50 M"),
        ];
        for (value, text) in pairs {
            assert_eq!(figure(value), text);
        }
    }

    #[test]
    fn places() {
        let pairs =
            [(64.0, "64"), (1024.0, "1 Ki"), (1500.0, "1500"), (4_194_304.0, "4 Mi"), (3.0, "3")];
        for (value, text) in pairs {
            assert_eq!(place(value), text);
        }
    }
}
