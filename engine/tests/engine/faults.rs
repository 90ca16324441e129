//! Faults that batches could have, planted around the engine. The harness must find each of them,
//! otherwise it would test nothing.

use lanecrypt_engine::{Engine, Error, Operation};
use lanecrypt_testing::batches::batch::{Case, Rooms, Served, check_by, filled, processed, random};
use lanecrypt_testing::batches::keys::{algorithms, open, random_keys};
use lanecrypt_testing::batches::message::{Form, Message, Places};
use lanecrypt_testing::batches::numbers::Random;
use lanecrypt_testing::levels;

/// A fault around one way of serving batches.
struct Fault {
    name: &'static str,
    /// A part of the text that the harness must report.
    about: &'static str,
    plant: fn(Way, &mut Case<'_>) -> Served,
}

/// A way in which the engine serves a batch.
#[derive(Clone, Copy)]
struct Way(fn(&mut Case<'_>) -> Served);

const PLANTED: [Fault; 24] = [
    Fault { name: "two outputs swapped", about: "another output", plant: swapped_outputs },
    Fault { name: "a neighbour's key", about: "another o", plant: neighbours_key },
    Fault { name: "two nonces swapped", about: "another o", plant: swapped_nonces },
    Fault { name: "a nonce kept from the one before", about: "another o", plant: kept_nonce },
    Fault { name: "another's data", about: "another ", plant: neighbours_aad },
    Fault { name: "the last one left out", about: "another o", plant: without_the_last },
    Fault { name: "one in the middle left out", about: "another o", plant: without_one },
    Fault { name: "the last one not reported", about: "outcomes of", plant: all_but_the_last },
    Fault { name: "one that has no outcome", about: "another outcome", plant: no_outcome },
    Fault { name: "one served twice", about: "another o", plant: twice },
    Fault { name: "what was served before", about: "another o", plant: served_again },
    Fault { name: "a bit of the last byte", about: "", plant: last_bit },
    Fault { name: "a tag of zeros", about: "another ", plant: no_tag },
    Fault { name: "a failed open not wiped", about: "not wiped", plant: not_wiped },
    Fault { name: "outcomes of neighbours", about: "another outcome", plant: moved_outcome },
    Fault { name: "outcomes one further", about: "another outcome", plant: rotated_outcomes },
    Fault { name: "all have succeeded", about: "another outcome", plant: all_well },
    Fault { name: "another answer at once", about: "said at once", plant: other_answer },
    Fault { name: "a failure not reported", about: "another count", plant: nothing_failed },
    Fault { name: "a failure counted twice", about: "another count", plant: one_more_failed },
    Fault { name: "a byte before the output", about: "outside", plant: spilled_before },
    Fault { name: "a byte behind the output", about: "outside", plant: spilled_behind },
    Fault { name: "a byte behind the tag", about: "outside", plant: spilled_tag },
    Fault { name: "an input written", about: "its input", plant: written_input },
];

#[test]
fn planted_faults_are_found_at_every_level() {
    let keys = random_keys(4, &algorithms(), &mut Random(11));
    for isa in levels() {
        let engine = Engine::with_isa(isa);
        let (sessions, mut rooms) = (open(&engine, &keys), Rooms::new(&engine));
        for Fault { name, about, plant } in PLANTED {
            for (of, way) in [("processed", Way(processed)), ("filled", Way(filled))] {
                let mut numbers = Random(12);
                let found = (0..500).find_map(|_| {
                    let messages = random(&keys, &mut numbers);
                    let buffer = rooms.another();
                    check_by(way.0, &engine, &sessions, &messages, buffer)
                        .expect("nothing planted");
                    let planted = |case: &mut Case<'_>| plant(way, case);
                    check_by(planted, &engine, &sessions, &messages, buffer).err()
                });
                let level = isa.level();
                let what = found.unwrap_or_else(|| panic!("{name}: not found, {of}, {level}"));
                assert!(what.contains(about), "{name}: {what}");
            }
        }
    }
}

/// Serves different messages from the given ones.
fn altered(way: Way, case: &mut Case<'_>, alter: impl FnOnce(&mut [Message])) -> Served {
    let mut messages = case.messages.to_vec();
    alter(&mut messages);
    let Case { engine, sessions, places, buffer, .. } = case;
    (way.0)(&mut Case { engine, sessions, messages: &messages, places, buffer })
}

/// The first two neighbours that meet a condition.
fn pair(
    messages: &mut [Message],
    is: impl Fn(&Message, &Message) -> bool,
) -> Option<[&mut Message; 2]> {
    let at = messages.windows(2).position(|pair| {
        let good = |message: &Message| message.expected.outcome.is_ok();
        pair.iter().all(good) && is(&pair[0], &pair[1])
    })?;
    let [one, next] = &mut messages[at..at + 2] else { return None };
    Some([one, next])
}

fn swapped_outputs(way: Way, case: &mut Case<'_>) -> Served {
    let served = (way.0)(case);
    let outputs: Vec<Vec<u8>> =
        case.places.iter().map(|places| places.out.bytes().to_vec()).collect();
    let pair = (1..outputs.len()).find_map(|i| {
        let like = |j: &usize| outputs[*j].len() == outputs[i].len() && outputs[*j] != outputs[i];
        (0..i).find(like).map(|j| (i, j))
    });
    if let Some((i, j)) = pair {
        case.places[i].out.bytes_mut().copy_from_slice(&outputs[j]);
        case.places[j].out.bytes_mut().copy_from_slice(&outputs[i]);
    }
    served
}

fn neighbours_key(way: Way, case: &mut Case<'_>) -> Served {
    let sessions = case.sessions;
    altered(way, case, |messages| {
        let like = |one: &Message, next: &Message| {
            let [one, next] = [one, next].map(|message| message.key);
            one != next && sessions[one].algorithm() == sessions[next].algorithm()
        };
        if let Some([one, next]) = pair(messages, like) {
            one.key = next.key;
        }
    })
}

fn swapped_nonces(way: Way, case: &mut Case<'_>) -> Served {
    altered(way, case, |messages| {
        if let Some([one, next]) = pair(messages, other_nonces) {
            core::mem::swap(&mut one.nonce, &mut next.nonce);
        }
    })
}

fn kept_nonce(way: Way, case: &mut Case<'_>) -> Served {
    altered(way, case, |messages| {
        if let Some([one, next]) = pair(messages, other_nonces) {
            next.nonce.clone_from(&one.nonce);
        }
    })
}

fn other_nonces(one: &Message, next: &Message) -> bool {
    one.nonce.len() == next.nonce.len() && one.nonce != next.nonce
}

fn neighbours_aad(way: Way, case: &mut Case<'_>) -> Served {
    altered(way, case, |messages| {
        if let Some([one, next]) = pair(messages, |one, next| one.aad != next.aad) {
            core::mem::swap(&mut one.aad, &mut next.aad);
        }
    })
}

/// Serves all messages but one, and reports that it has served all.
fn without(way: Way, case: &mut Case<'_>, at: usize) -> Served {
    if at >= case.messages.len() {
        return (way.0)(case);
    }
    let Case { engine, sessions, messages, buffer, .. } = case;
    let left_out = &messages[at].expected.outcome;
    let mut others = messages.to_vec();
    others.remove(at);
    let place = |i: usize| messages[i].places();
    let of_others = (0..messages.len()).filter(|&i| i != at).map(place);
    let mut of_others: Vec<Places> = of_others.collect();
    let mut served =
        (way.0)(&mut Case { engine, sessions, messages: &others, places: &mut of_others, buffer });
    for (i, places) in of_others.into_iter().enumerate() {
        case.places[i + usize::from(i >= at)] = places;
    }
    served.at_once.insert(at, None);
    served.outcomes.insert(at, Some(*left_out));
    served.failed += usize::from(left_out.is_err());
    served
}

fn without_the_last(way: Way, case: &mut Case<'_>) -> Served {
    without(way, case, case.messages.len().wrapping_sub(1))
}

fn without_one(way: Way, case: &mut Case<'_>) -> Served {
    without(way, case, case.messages.len() / 2)
}

fn all_but_the_last(way: Way, case: &mut Case<'_>) -> Served {
    let mut served = (way.0)(case);
    served.outcomes.pop();
    served
}

fn no_outcome(way: Way, case: &mut Case<'_>) -> Served {
    let mut served = (way.0)(case);
    if let Some(last) = served.outcomes.last_mut() {
        *last = None;
    }
    served.at_once.fill(None);
    served
}

/// Serves the first message that meets a condition once more.
fn again(way: Way, case: &mut Case<'_>, is: impl Fn(&Message) -> bool) -> Served {
    let served = (way.0)(case);
    let mut each = case.messages.iter().zip(&mut *case.places);
    if let Some((message, places)) = each.find(|(message, _)| is(message)) {
        let _outcome = message.call(&case.sessions[message.key], places);
    }
    served
}

fn twice(way: Way, case: &mut Case<'_>) -> Served {
    again(way, case, |message| message.form == Form::InPlace)
}

fn served_again(way: Way, case: &mut Case<'_>) -> Served {
    again(way, case, |message| message.before && message.form != Form::Apart)
}

fn last_bit(way: Way, case: &mut Case<'_>) -> Served {
    let served = (way.0)(case);
    let last = case.places.last_mut();
    if let Some(byte) = last.and_then(|places| places.out.bytes_mut().last_mut()) {
        *byte ^= 0x80;
    }
    served
}

fn no_tag(way: Way, case: &mut Case<'_>) -> Served {
    let served = (way.0)(case);
    let mut each = case.messages.iter().zip(&mut *case.places).rev();
    let sealed = |message: &Message| {
        message.operation == Operation::Seal && message.expected.outcome.is_ok()
    };
    if let Some((message, places)) = each.find(|(message, _)| sealed(message)) {
        let place = if message.form == Form::Packet { &mut places.out } else { &mut places.tag };
        // A packet's tag is at the end of its output.
        place.bytes_mut().iter_mut().rev().take(16).for_each(|byte| *byte = 0);
    }
    served
}

fn not_wiped(way: Way, case: &mut Case<'_>) -> Served {
    let served = (way.0)(case);
    let places = case.places.iter_mut().zip(case.messages);
    for ((places, message), outcome) in places.zip(&served.outcomes) {
        // A packet that is shorter than a tag stays as it was.
        if *outcome == Some(Err(Error::Authentication)) && !message.is_short() {
            places.out.bytes_mut().fill(1);
        }
    }
    served
}

fn moved_outcome(way: Way, case: &mut Case<'_>) -> Served {
    let mut served = (way.0)(case);
    let differ = |pair: &[Option<Result<(), Error>>]| pair[0] != pair[1];
    if let Some(at) = served.outcomes.windows(2).position(differ) {
        served.outcomes.swap(at, at + 1);
        served.at_once.fill(None);
    }
    served
}

fn rotated_outcomes(way: Way, case: &mut Case<'_>) -> Served {
    let mut served = (way.0)(case);
    if !served.outcomes.is_empty() {
        served.outcomes.rotate_right(1);
        served.at_once.rotate_right(1);
    }
    served
}

fn all_well(way: Way, case: &mut Case<'_>) -> Served {
    let mut served = (way.0)(case);
    served.outcomes.fill(Some(Ok(())));
    served.at_once.fill(None);
    served
}

fn other_answer(way: Way, case: &mut Case<'_>) -> Served {
    let mut served = (way.0)(case);
    if let (Some(said), Some(outcome)) = (served.at_once.last_mut(), served.outcomes.last()) {
        *said = Some(if *outcome == Some(Ok(())) { Err(Error::Unsupported) } else { Ok(()) });
    }
    served
}

fn nothing_failed(way: Way, case: &mut Case<'_>) -> Served {
    Served { failed: 0, ..(way.0)(case) }
}

fn one_more_failed(way: Way, case: &mut Case<'_>) -> Served {
    let served = (way.0)(case);
    Served { failed: served.failed + usize::from(served.failed > 0), ..served }
}

fn spilled_before(way: Way, case: &mut Case<'_>) -> Served {
    spilled(way, case, true)
}

fn spilled_behind(way: Way, case: &mut Case<'_>) -> Served {
    spilled(way, case, false)
}

fn spilled(way: Way, case: &mut Case<'_>, before: bool) -> Served {
    let served = (way.0)(case);
    let at = case.places.len() / 2;
    if let Some(place) = case.places.get_mut(at) {
        place.out.spill(before);
    }
    served
}

fn spilled_tag(way: Way, case: &mut Case<'_>) -> Served {
    let served = (way.0)(case);
    if let Some(place) = case.places.last_mut() {
        place.tag.spill(false);
    }
    served
}

fn written_input(way: Way, case: &mut Case<'_>) -> Served {
    let served = (way.0)(case);
    let mut inputs = case.places.iter_mut().filter_map(|place| place.input.as_mut());
    if let Some(byte) = inputs.find_map(|input| input.bytes_mut().first_mut()) {
        *byte ^= 1;
    }
    served
}
