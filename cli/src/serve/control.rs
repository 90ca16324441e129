//! What threads of the program ask of the running daemon.

use lanecrypt_device::{Event, Handle};
use lanecrypt_engine::Operation;

use super::log::{Field, Log};

/// Stops the daemon, reloads it, and asks it for its statistics.
pub(super) type Control = Handle;

/// Writes an event of the daemon to the log.
pub(super) fn report(log: &Log, event: &Event<'_>) {
    use Field::{Number, Text};
    match *event {
        Event::Connected { client, user, process } => log.event(
            "connected",
            &[
                ("client", Number(client)),
                ("user", Number(user.into())),
                ("process", Number(process.into())),
            ],
        ),
        Event::Refused { user, reason } => {
            let reason = reason.to_string();
            let user = user.map(|user| ("user", Number(user.into())));
            let fields: Vec<_> = user.into_iter().chain([("reason", Text(&reason))]).collect();
            log.event("refused", &fields);
        }
        Event::Disconnected { client, user } => {
            let fields = [("client", Number(client)), ("user", Number(user.into()))];
            log.event("disconnected", &fields);
        }
        Event::SessionOpened { client, user, session, key, algorithm } => {
            let mut fields = of_session(client, user, session, key);
            if !algorithm.is_empty() {
                fields.push(("algorithm", Text(algorithm)));
            }
            log.event("session-opened", &fields);
        }
        Event::SessionRefused { client, user, asked, reason } => {
            let reason = reason.to_string();
            let fields = [
                ("client", Number(client)),
                ("user", Number(user.into())),
                ("asked", Text(asked)),
                ("reason", Text(&reason)),
            ];
            log.event("session-refused", &fields);
        }
        Event::SessionClosed { client, user, session, key, requests } => {
            let mut fields = of_session(client, user, session, key);
            let counts = Operation::ALL
                .into_iter()
                .map(|operation| (operation.name(), Number(requests.of(operation))));
            fields.extend(counts.filter(|(_, count)| !matches!(count, Number(0))));
            log.event("session-closed", &fields);
        }
        Event::Reloaded { keys, ended_sessions } => {
            let fields =
                [("keys", Number(keys.into())), ("ended-sessions", Number(ended_sessions.into()))];
            log.event("reloaded", &fields);
        }
        // Of a later version of the library.
        _ => {}
    }
}

fn of_session(
    client: u64,
    user: u32,
    session: u32,
    key: Option<&str>,
) -> Vec<(&'static str, Field<'_>)> {
    let mut fields = vec![
        ("client", Field::Number(client)),
        ("user", Field::Number(user.into())),
        ("session", Field::Number(session.into())),
    ];
    fields.extend(key.map(|key| ("key", Field::Text(key))));
    fields
}
