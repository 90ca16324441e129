//! What the processes do that the table starts.

use core::time::Duration;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufReader, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use lanecrypt_device::{Limits, Server};
use lanecrypt_peers::PeerLibraries;
use rustix::thread::{CpuSet, sched_setaffinity};

use super::fills::Fills;
use super::link::Link;
use super::messages::Messages;
use super::process::{Job, Order, PKCS11, RANDOM, Reply, read_line, write_line};
use super::token::{Calls, Token};
use crate::row::{Arena, Workload};
use crate::verify::Defect;

/// Is a daemon, a client or an echo of the table `device`, in a process that it has started by
/// [`DeviceOptions::command`](crate::DeviceOptions::command). It returns when the measuring process
/// has ended or has no more use for it. `libraries` are those that the user has named.
///
/// # Errors
///
/// If the standard input is not the socket that the table gives, or the system refuses something.
pub fn child(libraries: &PeerLibraries) -> io::Result<()> {
    let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut answers = stream.try_clone()?;
    let mut orders = BufReader::new(stream);
    let ended = match read_line(&mut orders)? {
        Order::Daemon { socket, processors, spin_us } => {
            run_on(&processors);
            return daemon(&socket, Duration::from_micros(spin_us), &mut answers);
        }
        Order::Echo { processors } => {
            run_on(&processors);
            return echo(&mut orders, &mut answers);
        }
        first => clients(libraries, first, &mut orders, &mut answers),
    };
    match ended {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
        ended => ended,
    }
}

/// Keeps this thread on these processors; where that is refused, it stays where it is.
fn run_on(processors: &[usize]) {
    let mut set = CpuSet::new();
    processors.iter().for_each(|&processor| set.set(processor));
    let _ = sched_setaffinity(None, &set);
}

/// Serves until the stream ends.
fn daemon(socket: &Path, spin: Duration, stream: &mut UnixStream) -> io::Result<()> {
    let limits = Limits { sessions: 1 << 16, ..Limits::default() };
    let server = Server::new().allow_null().spin(spin).limits(limits);
    let daemon = server.prepare().ok().and_then(|prepared| prepared.bind(socket).ok());
    match daemon {
        Some(mut daemon) => {
            write_line(stream, &Reply::DONE)?;
            let (handle, mut stream) = (daemon.handle(), stream.try_clone()?);
            std::thread::spawn(move || {
                let _ = io::copy(&mut stream, &mut io::sink());
                handle.stop();
            });
            let ended = daemon.run();
            if let Some(folder) = socket.parent() {
                // It is the table's, which may have been killed.
                let _ = fs::remove_dir_all(folder);
            }
            ended
        }
        None => write_line(stream, &Reply::Failed),
    }
}

/// Returns all bytes that come; the first may have come with the order.
fn echo(from: &mut BufReader<UnixStream>, to: &mut UnixStream) -> io::Result<()> {
    let mut bytes = vec![0; 1 << 16];
    loop {
        match from.read(&mut bytes)? {
            0 => return Ok(()),
            length => to.write_all(&bytes[..length])?,
        }
    }
}

/// Executes orders until the stream ends.
fn clients(
    libraries: &PeerLibraries,
    first: Order,
    orders: &mut BufReader<UnixStream>,
    answers: &mut UnixStream,
) -> io::Result<()> {
    let libraries = libraries.clone();
    let mut clients = Clients { libraries, ..Clients::default() };
    let mut order = first;
    loop {
        let done = clients.obey(&order);
        write_line(
            answers,
            &done.unwrap_or_else(|defect| match defect {
                Defect::Failed => Reply::Failed,
                _ => Reply::Wrong,
            }),
        )?;
        order = read_line(orders)?;
    }
}

/// The connections of a client process, and the requests that it has prepared.
#[derive(Default)]
struct Clients {
    libraries: PeerLibraries,
    token: Option<Arc<Mutex<Token>>>,
    links: BTreeMap<PathBuf, Arc<Mutex<Link>>>,
    works: Vec<(Job, Box<dyn Workload>)>,
    arena: Option<Arena>,
}

impl Clients {
    fn obey(&mut self, order: &Order) -> Result<Reply, Defect> {
        let (Order::Prepare(job) | Order::Begin(job) | Order::Run(job, _) | Order::Check(job)) =
            order
        else {
            return Err(Defect::Failed);
        };
        if !matches!(order, Order::Run(..)) {
            // Batches are prepared where they run.
            run_on(&job.processors);
        }
        if let Order::Prepare(_) = order
            && !self.works.iter().any(|(known, _)| known == job)
        {
            let work = self.work(job).ok_or(Defect::Failed)?;
            self.works.push((job.clone(), work));
        }
        let arena = self.arena.get_or_insert_with(Arena::new);
        let work = self.works.iter_mut().find(|(known, _)| known == job);
        let (_, work) = work.ok_or(Defect::Failed)?;
        match order {
            Order::Prepare(_) => Ok(Reply::Done { sample: work.check(arena)?, digest: 0 }),
            Order::Run(_, requests) => {
                work.run(arena, *requests);
                Ok(Reply::Done { sample: Vec::new(), digest: work.digest(arena) })
            }
            Order::Begin(_) => work.begin(arena).map(|()| Reply::DONE),
            _ => work.check_again(arena).map(|()| Reply::DONE),
        }
    }

    fn work(&mut self, job: &Job) -> Option<Box<dyn Workload>> {
        if job.subject == PKCS11 {
            if self.token.is_none() {
                self.token = Some(Arc::new(Mutex::new(Token::open(&self.libraries)?)));
            }
            return Some(Box::new(Calls::new(self.token.as_ref()?, job.size)?));
        }
        let link = match self.links.get(&job.socket) {
            Some(link) => link.clone(),
            None => {
                let link = Arc::new(Mutex::new(Link::connect(&job.socket, job.setting)?));
                self.links.insert(job.socket.clone(), link.clone());
                link
            }
        };
        match job.subject.as_str() {
            RANDOM => Some(Box::new(Fills::new(&link, job.size, job.depth))),
            _ => Some(Box::new(Messages::new(&link, job.plan()?)?)),
        }
    }
}
