//! Faults that batches could have, planted around the engine: a harness that finds none of them
//! tests nothing.

#[allow(dead_code, reason = "each test uses its part of it")]
mod common;

use common::batch::{ENGINE, Server, check, random};
use common::keys::{algorithms, open, random_keys};
use common::levels;
use common::message::Places;
use common::numbers::Random;
use lanecrypt_engine::{BatchError, Engine, Error, Operation, Request};

/// A fault, and what the harness must say of it.
const PLANTED: [(&str, Server, &str); 15] = [
    ("the outputs of two messages swapped", instead(swapped_outputs), "another output"),
    ("a neighbour's key", instead(|engine, batch| neighbours(engine, batch, true)), "another o"),
    ("a neighbour's nonce", instead(|engine, batch| neighbours(engine, batch, false)), "another o"),
    ("the last one not served", instead(without_the_last), "another o"),
    ("the last one not looked at", instead(all_but_the_last), "another outcome"),
    ("a bit of the last byte", instead(last_bit), ""),
    ("a tag of zeros", instead(no_tag), "another "),
    ("a failed open not wiped", instead(not_wiped), "not wiped"),
    ("an outcome moved to the neighbour", instead(moved_outcome), "another outcome"),
    ("a failure not reported", instead(nothing_failed), "another count"),
    ("a failure not counted", instead(one_not_counted), "another count"),
    ("a byte before the output", besides(|places| spill(places, true)), "outside"),
    ("a byte behind the output", besides(|places| spill(places, false)), "outside"),
    ("a byte behind the tag", besides(spilled_tag), "outside"),
    ("an input written", besides(written_input), "its input"),
];

#[test]
fn planted_faults_are_found_at_every_level() {
    let keys = random_keys(4, &algorithms(), &mut Random(11));
    for isa in levels() {
        let engine = Engine::with_isa(isa);
        let sessions = open(&engine, &keys);
        for (name, server, about) in PLANTED {
            let mut numbers = Random(12);
            let found = (0..500).find_map(|_| {
                let messages = random(&keys, &mut numbers);
                check(&engine, &sessions, &messages, ENGINE).expect("nothing is planted");
                check(&engine, &sessions, &messages, server).err()
            });
            let what = found.unwrap_or_else(|| panic!("{name} is not found at {}", isa.level()));
            assert!(what.contains(about), "{name}: {what}");
        }
    }
}

const fn instead(process: fn(&Engine, &mut [Request<'_>]) -> Result<(), BatchError>) -> Server {
    Server { process, besides: |_| {} }
}

const fn besides(besides: fn(&mut [Places])) -> Server {
    Server { besides, ..ENGINE }
}

fn swapped_outputs(engine: &Engine, batch: &mut [Request<'_>]) -> Result<(), BatchError> {
    let answer = engine.process(batch);
    let outputs: Vec<Vec<u8>> =
        batch.iter_mut().map(|request| request.data().get_out().to_vec()).collect();
    let pair = (1..outputs.len()).find_map(|i| {
        let like = |j: &usize| outputs[*j].len() == outputs[i].len() && outputs[*j] != outputs[i];
        (0..i).find(like).map(|j| (i, j))
    });
    if let Some((i, j)) = pair {
        batch[i].data().get_out().copy_from_slice(&outputs[j]);
        batch[j].data().get_out().copy_from_slice(&outputs[i]);
    }
    answer
}

/// One message is served under the key of the next, or with its nonce.
fn neighbours(engine: &Engine, batch: &mut [Request<'_>], key: bool) -> Result<(), BatchError> {
    for i in 1..batch.len() {
        let [one, next] = &mut batch[i - 1..=i] else { continue };
        let differs = if key {
            !core::ptr::eq(one.session(), next.session())
        } else {
            one.nonce() != next.nonce() && one.nonce().len() == next.nonce().len()
        };
        let alike = one.session().algorithm() == next.session().algorithm();
        if !alike || !differs || one.outcome().is_some() || one.operation() != Operation::Encrypt {
            continue;
        }
        let (session, nonce) = match key {
            true => (next.session(), one.nonce()),
            false => (one.session(), next.nonce()),
        };
        let outcome = session.encrypt(nonce, one.data());
        one.settle(outcome);
        break;
    }
    engine.process(batch)
}

fn without_the_last(engine: &Engine, batch: &mut [Request<'_>]) -> Result<(), BatchError> {
    if let Some(last) = batch.last_mut().filter(|last| last.outcome().is_none()) {
        last.settle(Ok(()));
    }
    engine.process(batch)
}

fn all_but_the_last(engine: &Engine, batch: &mut [Request<'_>]) -> Result<(), BatchError> {
    match batch.split_last_mut() {
        Some((_, others)) => engine.process(others),
        None => engine.process(batch),
    }
}

fn last_bit(engine: &Engine, batch: &mut [Request<'_>]) -> Result<(), BatchError> {
    let answer = engine.process(batch);
    if let Some(byte) = batch.last_mut().and_then(|last| last.data().into_out().last_mut()) {
        *byte ^= 0x80;
    }
    answer
}

fn no_tag(engine: &Engine, batch: &mut [Request<'_>]) -> Result<(), BatchError> {
    let answer = engine.process(batch);
    // That of a packet is at its end, and its output.
    let _found = batch.iter_mut().rev().find_map(|request| request.put_tag(&[0; 16]).ok());
    answer
}

fn not_wiped(engine: &Engine, batch: &mut [Request<'_>]) -> Result<(), BatchError> {
    // Those that are refused before keep what they have.
    let served: Vec<bool> = batch.iter().map(|request| request.outcome().is_none()).collect();
    let answer = engine.process(batch);
    for (request, served) in batch.iter_mut().zip(served) {
        if served && request.outcome() == Some(Err(Error::Authentication)) {
            request.data().get_out().fill(1);
        }
    }
    answer
}

fn moved_outcome(engine: &Engine, batch: &mut [Request<'_>]) -> Result<(), BatchError> {
    let answer = engine.process(batch);
    let differ = |i: &usize| batch[i - 1].outcome() != batch[*i].outcome();
    if let Some(i) = (1..batch.len()).find(differ)
        && let (Some(one), Some(other)) = (batch[i - 1].outcome(), batch[i].outcome())
    {
        batch[i - 1].settle(other);
        batch[i].settle(one);
    }
    answer
}

fn nothing_failed(engine: &Engine, batch: &mut [Request<'_>]) -> Result<(), BatchError> {
    let _failed = engine.process(batch);
    Ok(())
}

fn one_not_counted(engine: &Engine, batch: &mut [Request<'_>]) -> Result<(), BatchError> {
    engine.process(batch).map_err(|mut error| {
        error.failed -= 1;
        error
    })
}

fn spill(places: &mut [Places], before: bool) {
    let at = places.len() / 2;
    if let Some(place) = places.get_mut(at) {
        place.out.spill(before);
    }
}

fn spilled_tag(places: &mut [Places]) {
    if let Some(place) = places.last_mut() {
        place.tag.spill(false);
    }
}

fn written_input(places: &mut [Places]) {
    let mut inputs = places.iter_mut().filter_map(|place| place.input.as_mut());
    if let Some(byte) = inputs.find_map(|input| input.bytes_mut().first_mut()) {
        *byte ^= 1;
    }
}
