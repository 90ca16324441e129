//! Runs tests, each in a process of its own, as many at a time as there are processors.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use crate::suite;

/// One test, or several that one command runs.
pub(crate) struct Test {
    /// The program that it is in, under which it is counted: `engine/isolated`.
    pub(crate) program: String,
    pub(crate) name: String,
    pub(crate) command: Command,
    /// Whether it ends with the result of a test harness, without which it has failed. An example
    /// does not.
    pub(crate) has_result: bool,
}

impl Test {
    /// Program and test: `engine/isolated stack::sessions`.
    pub(crate) fn full_name(&self) -> String {
        format!("{} {}", self.program, self.name)
    }
}

/// What a run of tests came to.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) passed: usize,
    pub(crate) failed: Vec<String>,
    pub(crate) ignored: usize,
    /// Lines that tests print.
    skipped: BTreeSet<String>,
    matrix: Vec<String>,
    times: Vec<(Duration, String)>,
    /// Tests by program: those that have not ended, those that have, and their time.
    programs: BTreeMap<String, (usize, usize, Duration)>,
}

/// How a test ended: without a status it was stopped at its limit.
struct Ended {
    status: Option<ExitStatus>,
    output: String,
    time: Duration,
}

impl Report {
    /// Runs tests and adds what they came to. None may take longer than `limit`.
    pub(crate) fn run(&mut self, tests: Vec<Test>, limit: Duration) {
        for test in &tests {
            self.programs.entry(test.program.clone()).or_default().0 += 1;
        }
        // Two runs may be under way.
        let folder = suite::target().join(format!("test-output-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("the folder of build results can be written");
        let (queue, report) = (Mutex::new(VecDeque::from(tests)), Mutex::new(self));
        // From both ends: tests of one program often want the same thing, such as one processor.
        let next = |worker: usize| {
            let mut queue = queue.lock().expect("no thread panics");
            if worker.is_multiple_of(2) { queue.pop_front() } else { queue.pop_back() }
        };
        thread::scope(|scope| {
            for worker in 0..thread::available_parallelism().map_or(1, usize::from) {
                let file = folder.join(worker.to_string());
                let (next, report) = (&next, &report);
                scope.spawn(move || {
                    while let Some(mut test) = next(worker) {
                        let ended = end(&mut test.command, &file, limit);
                        report.lock().expect("no thread panics").add(&test, ended);
                    }
                });
            }
        });
        // What is left takes a few kilobytes.
        let _ = fs::remove_dir_all(folder);
    }

    fn add(&mut self, test: &Test, ended: Ended) {
        let name = test.full_name();
        let passed = if test.has_result { counted(&ended.output) } else { 1 };
        let outcome = match ended.status {
            Some(status) if status.success() && passed > 0 => None,
            Some(status) if status.success() => Some(String::from("no test ended")),
            Some(status) => Some(status.to_string()),
            None => Some(format!("stopped after {} s", ended.time.as_secs())),
        };
        for line in ended.output.lines() {
            if line.starts_with("SKIPPED ") {
                self.skipped.insert(line.to_owned());
            }
            self.matrix.extend(line.strip_prefix("MATRIX ").map(str::to_owned));
        }
        match outcome {
            None => self.passed += passed,
            Some(outcome) => {
                println!("\n-- {name}\n{}\n-- {name} FAILED: {outcome}\n", ended.output.trim_end());
                self.failed.push(name.clone());
            }
        }
        let program = self.programs.entry(test.program.clone()).or_default();
        *program = (program.0 - 1, program.1 + 1, program.2 + ended.time);
        if let (0, count, time) = *program {
            println!("{:<28}{count:>5} tests {:>7.1} s", test.program, time.as_secs_f64());
        }
        self.times.push((ended.time, name));
    }

    /// Adds one line for a check that is no test of a program.
    pub(crate) fn check(&mut self, name: &str, passed: bool) {
        if passed {
            self.passed += 1;
        } else {
            println!("{name} FAILED");
            self.failed.push(name.to_owned());
        }
    }

    pub(crate) fn skip(&mut self, line: String) {
        self.skipped.insert(line);
    }

    /// Prints the slowest tests, what was skipped, what failed, the counts, and the table of
    /// kernels and levels. Returns whether all passed.
    pub(crate) fn print(mut self) -> bool {
        self.times.sort_unstable_by(|one, other| other.cmp(one));
        let lines = |times: &[(Duration, String)]| {
            let line = |(time, name): &(Duration, String)| {
                format!("{:7.1} s  {name}\n", time.as_secs_f64())
            };
            times.iter().map(line).collect::<String>()
        };
        // All times, for whoever makes the tests faster.
        let _ = fs::write(suite::target().join("test-times.txt"), lines(&self.times));
        println!("\nSlowest:\n{}", lines(&self.times[..self.times.len().min(12)]));
        for line in &self.skipped {
            println!("{line}");
        }
        for name in &self.failed {
            println!("FAILED {name}");
        }
        let (passed, failed, skipped) = (self.passed, self.failed.len(), self.skipped.len());
        println!("{passed} passed, {failed} failed, {skipped} skipped, {} ignored", self.ignored);
        if !self.matrix.is_empty() {
            println!();
        }
        for line in &self.matrix {
            println!("{line}");
        }
        failed == 0 && passed > 0
    }

    pub(crate) fn has_matrix(&self) -> bool {
        !self.matrix.is_empty()
    }
}

/// How many tests passed, by the lines of Rust's own harness.
fn counted(output: &str) -> usize {
    let results = output.lines().filter_map(|line| line.strip_prefix("test result: ok. "));
    results.filter_map(|line| line.split_once(' ')?.0.parse::<usize>().ok()).sum()
}

/// Runs a command to its end, with its output in a file. A test may leave processes behind that
/// keep a pipe open, so there is no pipe.
fn end(command: &mut Command, file: &Path, limit: Duration) -> Ended {
    let start = Instant::now();
    let mut run = || -> io::Result<(Option<ExitStatus>, String)> {
        let output = File::create(file)?;
        command.stdin(Stdio::null()).stderr(output.try_clone()?).stdout(output);
        let mut child = command.spawn()?;
        let mut pause = Duration::from_micros(500);
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if start.elapsed() > limit {
                child.kill()?;
                child.wait()?;
                break None;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        };
        Ok((status, String::from_utf8_lossy(&fs::read(file)?).into_owned()))
    };
    let (status, output) = run().unwrap_or_else(|error| (None, format!("cannot be run: {error}")));
    // Output appears as tests end, also in a pipe.
    let _ = io::stdout().flush();
    Ended { status, output, time: start.elapsed() }
}
