//! Settings and key files: names in them, and the directories that they are in.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::{end, output, secret, serve};
use crate::support::{Folder, assert_one_line, lanecrypt};

const KEY: &str = "[[key]]\nname = \"k\"\nfile = \"FILE\"\nalgorithm = \"aes-256-gcm\"\n";

fn folder(at: &Folder, name: &str, mode: u32) {
    let path = at.path(name);
    fs::create_dir(&path).expect("it is new");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is ours");
}

#[test]
fn names_stand_for_users_and_groups() {
    let folder = Folder::new("serve-names");
    let socket = folder.path("socket");
    secret(&folder, "key", &[7; 32]);
    let key = KEY.replace("FILE", "key");
    let text = format!("allow = [\"nobody\", 1234]\n{key}allow = [\"nobody\", \"@root\"]\n");
    let config = secret(&folder, "config.toml", text.as_bytes());
    let daemon = serve(&["--socket", &socket, "--config", &config]);
    let mode = fs::metadata(&socket).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode, 0o666, "others are served");
    end(daemon);
}

#[test]
fn directories_that_others_may_write_to_are_refused() {
    let place = Folder::new("serve-folders");
    let socket = place.path("socket");
    folder(&place, "group", 0o770);
    folder(&place, "all", 0o707);
    folder(&place, "sticky", 0o1777);
    folder(&place, "own", 0o755);
    folder(&place, "all/own", 0o700);
    for name in ["group/key", "all/own/key", "sticky/key", "own/key"] {
        secret(&place, name, &[7; 32]);
    }
    symlink(place.path("own/key"), place.path("all/link")).expect("it is new");
    symlink(place.path("all/own"), place.path("own/link")).expect("it is new");
    for (file, directory) in [
        ("group/key", "group (mode 770)"),
        ("all/own/key", "all (mode 707)"),
        ("all/link", "all (mode 707)"),
        ("own/link/key", "all (mode 707)"),
        ("own/../all/own/key", "all (mode 707)"),
    ] {
        let config =
            secret(&place, "own/config.toml", KEY.replace("FILE", &place.path(file)).as_bytes());
        let said = output(lanecrypt(&["serve", "--socket", &socket, "--config", &config]));
        assert_one_line(&said, 1, "others can write to the directory ");
        assert_one_line(&said, 1, directory);
    }
    let config = secret(&place, "group/config.toml", b"");
    let said = output(lanecrypt(&["serve", "--socket", &socket, "--config", &config]));
    assert_one_line(&said, 1, "others can write to the directory ");
    symlink("circle", place.path("own/circle")).expect("it is new");
    let said = output(lanecrypt(&["serve", "--config", &place.path("own/circle")]));
    assert_one_line(&said, 1, "too many links");
    for file in ["sticky/key", "own/key"] {
        let config =
            secret(&place, "own/config.toml", KEY.replace("FILE", &place.path(file)).as_bytes());
        end(serve(&["--socket", &socket, "--config", &config]));
    }
}

#[test]
fn a_credential_is_a_key() {
    let place = Folder::new("serve-credential");
    let socket = place.path("socket");
    folder(&place, "credentials", 0o700);
    secret(&place, "credentials/backup", &[7; 32]);
    let key = |name: &str| KEY.replace("file", "credential").replace("FILE", name);
    let config = secret(&place, "config.toml", key("backup").as_bytes());
    let mut command = lanecrypt(&["serve", "--socket", &socket, "--config", &config]);
    command.env_remove("CREDENTIALS_DIRECTORY");
    assert_one_line(&output(command), 1, "there is no $CREDENTIALS_DIRECTORY");
    let by_manager = || {
        let mut command = lanecrypt(&["serve", "--socket", &socket, "--config", &config]);
        command.env("CREDENTIALS_DIRECTORY", place.path("credentials"));
        command
    };
    // As they are with an access list.
    let path = place.path("credentials/backup");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o440)).expect("it is ours");
    end(super::serve_by(by_manager()));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("it is ours");
    assert_one_line(&output(by_manager()), 1, "others can read or change it");
    for name in ["../config.toml", "", ".."] {
        secret(&place, "config.toml", key(name).as_bytes());
        assert_one_line(&output(by_manager()), 1, "is not a name");
    }
    secret(&place, "config.toml", (key("backup") + "file = \"key\"").as_bytes());
    assert_one_line(&output(by_manager()), 1, "either file or credential");
}
