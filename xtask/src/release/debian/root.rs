//! A system of its own in a folder, in which packages are installed.

use core::hash::{Hash as _, Hasher as _};
use std::collections::BTreeMap;
use std::hash::DefaultHasher;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use super::output_of;

/// A release of a distribution.
pub(super) struct Suite {
    pub(super) name: &'static str,
    mirror: &'static str,
    components: &'static str,
    keys: &'static str,
    /// The package that has the keys.
    pub(super) keys_package: &'static str,
}

pub(super) const SUITES: [Suite; 3] = [
    Suite::of_debian("bookworm"),
    Suite::of_debian("trixie"),
    Suite {
        name: "noble",
        mirror: "http://archive.ubuntu.com/ubuntu",
        components: "main,universe",
        keys: "/usr/share/keyrings/ubuntu-archive-keyring.gpg",
        keys_package: "ubuntu-keyring",
    },
];

impl Suite {
    const fn of_debian(name: &'static str) -> Self {
        Self {
            name,
            mirror: "http://deb.debian.org/debian",
            components: "main",
            keys: "/usr/share/keyrings/debian-archive-keyring.gpg",
            keys_package: "debian-archive-keyring",
        }
    }

    pub(super) fn has_keys(&self) -> bool {
        Path::new(self.keys).is_file()
    }

    /// An archive of the smallest system that has apt, and of packages, which is made once.
    fn archive(&self, folder: &Path, packages: &str) -> io::Result<PathBuf> {
        let archive = folder.join(format!("{}+{}.tar", self.name, packages.replace(',', "+")));
        if archive.is_file() {
            return Ok(archive);
        }
        fs::create_dir_all(folder)?;
        // It gets its name when it is whole.
        let new = folder.join("new.tar");
        let mut command = Command::new("mmdebstrap");
        command.args(["--quiet", "--mode=root", "--variant=minbase", "--format=tar"]);
        command.arg(format!("--keyring={}", self.keys));
        command.arg(format!("--components={}", self.components));
        // Debian counts apt among what every system has, Ubuntu does not.
        command.arg(format!("--include=apt,{packages}"));
        println!("debian: makes {}", archive.display());
        output_of(command.arg(self.name).arg(&new).arg(self.mirror))?;
        fs::rename(&new, &archive)?;
        Ok(archive)
    }
}

/// Parts of the system that change with every installation: caches, logs, lists and locks of apt,
/// former states of dpkg. Its present state is compared by [`Root::packages`].
const CHANGING: [&str; 14] = [
    "/dev",
    "/etc/ld.so.cache",
    "/proc",
    "/root",
    "/run",
    "/sys",
    "/test",
    "/tmp",
    "/var/backups",
    "/var/cache",
    "/var/lib/apt",
    "/var/lib/dpkg/status",
    "/var/lib/dpkg/triggers",
    "/var/log",
];
/// Users, who stay when a package goes: files that they have left would get another owner.
const USERS: [&str; 4] = ["/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow"];
/// Apt gives dpkg a terminal.
const TERMINALS: &str = "mount -t devpts -o newinstance,mode=620,ptmxmode=666 devpts /dev/pts";
/// The user of the packages.
const USER: &str = "lanecrypt:";

/// Paths of files, with what identifies their content and permissions.
pub(super) type Files = BTreeMap<String, u64>;

/// The system; its folder is removed with it.
pub(super) struct Root {
    pub(super) folder: PathBuf,
}

impl Root {
    /// A new one, with packages of the distribution, and its lists of packages up to date.
    pub(super) fn new(suite: &Suite, archives: &Path, packages: &str) -> io::Result<Self> {
        let archive = suite.archive(archives, packages)?;
        let folder = archives.join(format!("root-{}", suite.name));
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let root = Self { folder };
        output_of(Command::new("tar").arg("-xf").arg(archive).arg("-C").arg(&root.folder))?;
        fs::create_dir(root.folder.join("test"))?;
        root.shell("apt-get -qq update")?;
        Ok(root)
    }

    /// Copies files into its folder `/test`.
    pub(super) fn put<'a>(&self, files: impl IntoIterator<Item = &'a PathBuf>) -> io::Result<()> {
        for file in files {
            fs::copy(file, self.folder.join("test").join(file.file_name().unwrap_or_default()))?;
        }
        Ok(())
    }

    /// What a script prints, with its errors. It has processes and mounts of its own, which end
    /// with it.
    pub(super) fn shell(&self, script: &str) -> io::Result<String> {
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--wd=/test"])
            .arg(format!("--root={}", self.folder.display()))
            .args(["sh", "-e", "-u", "-c", &format!("exec 2>&1\n{TERMINALS}\n{script}")])
            .env_clear()
            .envs([("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"), ("HOME", "/root")])
            .envs([("LC_ALL", "C.UTF-8"), ("DEBIAN_FRONTEND", "noninteractive")]);
        output_of(&mut command)
    }

    /// The packages that dpkg knows, with their versions and states.
    pub(super) fn packages(&self) -> io::Result<String> {
        self.shell("dpkg-query --show --showformat '${Package} ${Version} ${Status}\\n'")
    }

    /// All files that an installation does not change by itself.
    pub(super) fn files(&self) -> io::Result<Files> {
        let mut files = Files::new();
        self.add(&self.folder, &mut files)?;
        Ok(files)
    }

    fn add(&self, folder: &Path, files: &mut Files) -> io::Result<()> {
        for file in fs::read_dir(folder)? {
            let path = file?.path();
            let inside = Path::new("/").join(path.strip_prefix(&self.folder).unwrap_or(&path));
            let name = inside.display().to_string();
            let is_former =
                name.ends_with("-old") || USERS.iter().any(|it| name == format!("{it}-"));
            if CHANGING.contains(&name.as_str()) || is_former {
                continue;
            }
            let metadata = path.symlink_metadata()?;
            let mut hasher = DefaultHasher::new();
            metadata.permissions().mode().hash(&mut hasher);
            if metadata.is_symlink() {
                path.read_link()?.hash(&mut hasher);
            } else if metadata.is_dir() {
                self.add(&path, files)?;
            } else if USERS.contains(&name.as_str()) {
                let lines = fs::read_to_string(&path)?;
                lines
                    .lines()
                    .filter(|it| !it.starts_with(USER))
                    .for_each(|it| it.hash(&mut hasher));
            } else if metadata.is_file() {
                fs::read(&path)?.hash(&mut hasher);
            }
            files.insert(name, hasher.finish());
        }
        Ok(())
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A line for each file that came, went or is another.
pub(super) fn differences(before: &Files, after: &Files) -> Vec<String> {
    let new = after.iter().filter(|(file, content)| before.get(*file) != Some(content));
    let gone = before.keys().filter(|file| !after.contains_key(*file));
    let new = new.map(|(file, _)| format!("new or changed: {file}"));
    new.chain(gone.map(|file| format!("gone: {file}"))).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::{env, fs};

    use super::{Root, differences};

    #[test]
    fn everything_that_stays_is_found() {
        let folder = env::temp_dir().join(format!("lanecrypt-root-{}", std::process::id()));
        let root = Root { folder: folder.clone() };
        for inside in ["etc", "usr/lib", "var/cache", "var/lib/dpkg/info"] {
            fs::create_dir_all(folder.join(inside)).expect("it can be made");
        }
        let write = |file: &str, text: &str| {
            fs::write(folder.join(file), text).expect("it can be written");
        };
        write("etc/passwd", "root:0\n");
        write("etc/settings", "a");
        write("usr/lib/gone", "a");
        let before = root.files().expect("it can be read");
        let found = || differences(&before, &root.files().expect("it can be read"));
        // What may change.
        write("etc/passwd", "root:0\nlanecrypt:999\n");
        write("etc/passwd-", "root:0\n");
        write("var/cache/new", "a");
        write("var/lib/dpkg/status", "a");
        assert_eq!(found(), [""; 0]);
        write("etc/passwd", "root:0\nlanecrypt:999\nother:1\n");
        write("etc/settings", "b");
        write("var/lib/dpkg/info/new", "a");
        fs::create_dir(folder.join("var/lib/lanecrypt")).expect("it can be made");
        symlink("nowhere", folder.join("etc/link")).expect("it can be made");
        let mode = fs::Permissions::from_mode(0o700);
        fs::set_permissions(folder.join("usr/lib"), mode).expect("it is ours");
        fs::remove_file(folder.join("usr/lib/gone")).expect("it is there");
        let changed = ["/etc/link", "/etc/passwd", "/etc/settings", "/usr/lib"];
        let changed = [&changed[..], &["/var/lib/dpkg/info/new", "/var/lib/lanecrypt"]].concat();
        let changed = changed.iter().map(|file| format!("new or changed: {file}"));
        let expected: Vec<_> = changed.chain([String::from("gone: /usr/lib/gone")]).collect();
        assert_eq!(found(), expected);
    }
}
