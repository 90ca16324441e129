//! Who had the processors: this program, other programs, other guests of the host.

use std::fs;

use crate::clock::as_f64;
use crate::processors;

/// Processor time since the start of the system, in the kernel's ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    /// All time of the processors that this program may use, and of those that share a core with
    /// them.
    whole: u64,
    /// What programs and the kernel took of it.
    busy: u64,
    /// What the host gave to others while a program wanted it.
    steal: u64,
    /// What this program and its finished children took.
    own: u64,
}

/// Shares of the processors' time between two readings.
pub(super) struct Taken {
    pub(super) others: f64,
    pub(super) steal: f64,
}

impl Usage {
    /// Reads the kernel's counters; `None` where there are none.
    pub(super) fn read() -> Option<Self> {
        let cpus = processors::with_siblings(&processors::allowed());
        let all = fs::read_to_string("/proc/stat").ok()?;
        let own = fs::read_to_string("/proc/self/stat").ok()?;
        Self::of(&all, &own, cpus)
    }

    fn of(all: &str, own: &str, cpus: impl IntoIterator<Item = usize>) -> Option<Self> {
        let (mut whole, mut busy, mut steal) = (0, 0, 0);
        for cpu in cpus {
            let name = format!("cpu{cpu}");
            let line = all.lines().find(|line| line.split_ascii_whitespace().next() == Some(&name));
            let fields: Vec<u64> = line?
                .split_ascii_whitespace()
                .skip(1)
                .map_while(|field| field.parse().ok())
                .collect();
            // user, nice, system, idle, iowait, irq, softirq, steal; guests are part of user.
            let &[user, nice, system, idle, iowait, irq, softirq, stolen, ..] = &fields[..] else {
                return None;
            };
            let used = user + nice + system + irq + softirq;
            whole += used + idle + iowait + stolen;
            busy += used;
            steal += stolen;
        }
        // The name of the program, in parentheses, may have blanks and parentheses of its own.
        let (_, after) = own.rsplit_once(')')?;
        // utime, stime, cutime and cstime are the 14th to 17th field, and two are before.
        let own = after.split_ascii_whitespace().skip(11).take(4);
        let own = own.map(|field| field.parse::<u64>().unwrap_or(0)).sum();
        Some(Self { whole, busy, steal, own })
    }

    /// The shares since an earlier reading.
    pub(super) fn since(&self, old: &Self) -> Taken {
        let whole = as_f64(self.whole.saturating_sub(old.whole)).max(1.0);
        let busy = self.busy.saturating_sub(old.busy);
        let own = self.own.saturating_sub(old.own);
        let steal = self.steal.saturating_sub(old.steal);
        Taken {
            others: (as_f64(busy.saturating_sub(own)) / whole).min(1.0),
            steal: (as_f64(steal) / whole).min(1.0),
        }
    }
}

/// The mean number of threads that wanted a processor in the last minute.
pub(super) fn load() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "7 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 30 20 0 0 20 0 1 0 5 6 7";

    fn all(user: u64, stolen: u64) -> String {
        format!(
            "cpu  1 1 1 1 1 1 1 1 0 0\n\
             cpu0 9 9 9 9 9 9 9 9 0 0\n\
             cpu1 {user} 10 20 500 5 3 2 {stolen} 0 0\n\
             cpu10 7 7 7 7 7 7 7 7 0 0\nintr 1\n"
        )
    }

    #[test]
    fn only_the_processors_of_the_program_count() {
        let usage = Usage::of(&all(100, 10), OWN, [1]).expect("it is as the kernel writes it");
        assert_eq!(usage, Usage { whole: 650, busy: 135, steal: 10, own: 50 });
        let two = Usage::of(&all(100, 10), OWN, [1, 0]).expect("both are there");
        assert_eq!(two.whole, 650 + 72);
    }

    #[test]
    fn others_have_what_is_left() {
        let before = Usage { whole: 1000, busy: 500, steal: 10, own: 50 };
        let after = Usage { whole: 1200, busy: 650, steal: 14, own: 100 };
        let taken = after.since(&before);
        assert!((taken.others - 0.5).abs() < 1e-9 && (taken.steal - 0.02).abs() < 1e-9);
        let none = before.since(&before);
        assert!(none.others.abs() < 1e-9 && none.steal.abs() < 1e-9);
    }

    #[test]
    fn what_the_kernel_does_not_tell_is_not_known() {
        assert_eq!(Usage::of(&all(1, 1), OWN, [5]), None);
        assert_eq!(Usage::of("cpu1 1 2 3\n", OWN, [1]), None);
        assert_eq!(Usage::of(&all(1, 1), "nothing", [1]), None);
    }
}
