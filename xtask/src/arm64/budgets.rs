//! Instructions of requests, and budgets for them, as `lanecrypt speed --count` has on x86-64. That
//! program would take ten minutes to compile for another processor.

use std::collections::BTreeMap;
use std::{fs, io};

const FILE: &str = "speed/budgets-arm64.txt";

/// What is counted: processor and level. The number poses as Neoverse V1, by which the C library
/// chooses its code. Neoverse N1 must keep the same budget.
const COUNTED: [(&str, &str); 4] =
    [(V1, "portable"), (V1, "neon"), (V1, "armaes"), (V1, "armsha3")];
const V1: &str = "max,midr=0x411fd402";
const COMPARED: (&str, &str) = ("neoverse-n1", "armaes");

/// What a budget may be exceeded by, in per cent: compilers differ.
const TOLERANCE: u64 = 2;

/// Instructions of all and the number of requests, by level and request.
type Counts<'a> = BTreeMap<(&'a str, &'a str), (u64, u64)>;

/// Counts, and compares with the file or writes it.
pub(super) fn check(
    count: impl Fn(&str, &str) -> io::Result<String>,
    update: bool,
) -> Result<(), String> {
    let count = |(processor, level)| {
        count(processor, level).map_err(|error| format!("{processor}, {level}: {error}"))
    };
    let counted = COUNTED.map(count).into_iter().collect::<Result<String, _>>()?;
    if update {
        let head = "# level request requests instructions-of-all\n";
        fs::write(FILE, format!("{head}{counted}")).map_err(|error| format!("{FILE}: {error}"))?;
    }
    let file = fs::read_to_string(FILE).map_err(|error| format!("{FILE}: {error}"))?;
    let budgets = parse(&file)?;
    let mut lines = over(&parse(&counted)?, &budgets);
    let compared = over(&parse(&count(COMPARED)?)?, &budgets);
    lines.extend(compared.iter().map(|line| format!("{}: {line}", COMPARED.0)));
    if lines.is_empty() { Ok(()) } else { Err(lines.join("\n")) }
}

fn parse(text: &str) -> Result<Counts<'_>, String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let counts = lines.map(|line| {
        let count = match line.split_whitespace().collect::<Vec<_>>()[..] {
            [level, name, requests, count] => requests
                .parse()
                .ok()
                .zip(count.parse().ok())
                .map(|(requests, count)| ((level, name), (count, requests))),
            _ => None,
        };
        count.ok_or_else(|| format!("no count of instructions: {line}"))
    });
    counts.collect()
}

/// The requests that take more than their budget, or have none, in words.
fn over(counts: &Counts<'_>, budgets: &Counts<'_>) -> Vec<String> {
    let lines = counts.iter().filter_map(|((level, name), &(count, requests))| {
        let Some(&(budget, of)) = budgets.get(&(*level, *name)) else {
            return Some(format!("{level} {name}: no budget"));
        };
        let is_over = count * of * 100 > budget * requests * (100 + TOLERANCE);
        is_over.then(|| format!("{level} {name}: {count} instructions, budget {budget}"))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_the_budget_is_said() {
        let budgets = parse("# a\nneon a 1 1000\nneon b 8 1000\narmaes a 1 1").expect("budgets");
        let counts = parse("neon a 1 1020\nneon b 16 2042\nneon c 1 1").expect("counts");
        let over = over(&counts, &budgets);
        assert_eq!(over, ["neon b: 2042 instructions, budget 1000", "neon c: no budget"]);
        assert!(parse("neon a 1").is_err());
    }
}
