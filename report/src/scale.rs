//! Logarithmic axes: where a value is, and which values are marked.

/// An axis from a least to a greatest value, over so many pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    least: f64,
    greatest: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// An axis of the values, with room at both ends, from pixel `from` to pixel `to`.
    pub(crate) fn new(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (mut least, mut greatest) = (f64::INFINITY, 0.0_f64);
        for value in values.filter(|value| value.is_finite() && *value > 0.0) {
            least = least.min(value);
            greatest = greatest.max(value);
        }
        if !least.is_finite() {
            (least, greatest) = (1.0, 10.0);
        }
        // A tenth of an octave or more, so that a flat line is not at the border.
        let room = (greatest / least).powf(0.04).max(1.07);
        Self { least: least / room, greatest: greatest * room, from, to }
    }

    /// The pixel of a value.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = (value / self.least).ln() / (self.greatest / self.least).ln();
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Values to mark: 1, 2 and 5 times powers of ten, or only the powers where there are many.
    pub(crate) fn marks(&self) -> Vec<f64> {
        let decades = (self.greatest / self.least).log10();
        let steps: &[f64] = if decades < 3.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let mut marks = Vec::new();
        let mut power = 10.0_f64.powf(self.least.log10().floor());
        while power <= self.greatest {
            marks.extend(steps.iter().map(|step| step * power));
            power *= 10.0;
        }
        marks.retain(|mark| (self.least..=self.greatest).contains(mark));
        marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_pixels() {
        let scale = Scale::new([10.0, 1000.0].into_iter(), 0.0, 100.0);
        assert!((scale.at(100.0) - 50.0).abs() < 1e-9, "half of the decades");
        assert!(scale.at(10.0) > 0.0 && scale.at(1000.0) < 100.0);
        assert_eq!(scale.marks(), [10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]);
        assert!((scale.at(0.001)).abs() < 1e-9, "nothing is drawn outside");
    }

    #[test]
    fn values_that_are_none() {
        let scale = Scale::new([f64::NAN, 0.0, -1.0].into_iter(), 0.0, 1.0);
        assert!(scale.at(5.0).is_finite());
        let one = Scale::new([7.0].into_iter(), 0.0, 100.0);
        assert!((one.at(7.0) - 50.0).abs() < 1e-9);
    }
}
