//! The files that the daemon may use, by Landlock.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus,
    PathBeneath, PathFd, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetError,
    RulesetStatus, Scope,
};

/// Files that are always readable: names of users and groups, and the descriptor in reserve.
const READABLE: [&str; 3] = ["/dev/null", "/etc/group", "/etc/passwd"];

/// The files that the daemon uses while it serves.
#[derive(Debug, Default)]
pub(in crate::serve) struct Files {
    /// Directories whose files are read again by a reload.
    pub(in crate::serve) read: Vec<PathBuf>,
    /// Directories of the own sockets, which are removed at the end.
    pub(in crate::serve) remove: Vec<PathBuf>,
    /// A directory in which everything is allowed.
    pub(in crate::serve) state: Option<PathBuf>,
    /// Whether the service manager listens at an abstract socket.
    pub(in crate::serve) abstract_sockets: bool,
}

/// What the kernel enforces.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) status: RulesetStatus,
    landlock: LandlockStatus,
}

impl Outcome {
    /// What the kernel has, in words.
    pub(super) fn kernel(&self) -> String {
        let has = match self.landlock {
            LandlockStatus::NotImplemented => return "the kernel has no Landlock".into(),
            LandlockStatus::NotEnabled => return "Landlock is not enabled".into(),
            LandlockStatus::Available { effective_abi, .. } => {
                format!("Landlock, version {}", effective_abi as i32)
            }
        };
        match self.status {
            RulesetStatus::FullyEnforced => format!("enforced; {has}"),
            RulesetStatus::PartiallyEnforced => format!("enforced in part; {has}"),
            _ => format!("not enforced; {has}"),
        }
    }
}

impl Files {
    /// Restricts this thread, and those that it starts.
    pub(super) fn restrict(&self) -> Result<Outcome, String> {
        self.apply().map_err(|error| format!("Landlock: {error}"))
    }

    fn apply(&self) -> Result<Outcome, RulesetError> {
        let all = AccessFs::from_all(ABI::V5);
        let scopes = match self.abstract_sockets {
            true => BitFlags::from(Scope::Signal),
            false => Scope::from_all(ABI::V6),
        };
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(all)?
            .handle_access(AccessNet::from_all(ABI::V4))?
            .scope(scopes)?
            .create()?;
        let readable = READABLE.iter().map(Path::new).chain(self.read.iter().map(PathBuf::as_path));
        let readable = readable.map(|path| (path, BitFlags::from(AccessFs::ReadFile)));
        let removed = self.remove.iter().map(|path| (&**path, AccessFs::RemoveFile.into()));
        let state = self.state.iter().map(|path| (&**path, all & !AccessFs::Execute));
        for (path, access) in readable.chain(removed).chain(state) {
            // What does not exist needs no right.
            let Ok(place) = PathFd::new(path) else { continue };
            ruleset = ruleset.add_rule(PathBeneath::new(place, access))?;
        }
        let status = ruleset.restrict_self()?;
        Ok(Outcome { status: status.ruleset, landlock: status.landlock })
    }

    /// The allowed files, in lines.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |what: &str, path: &Path| {
            text += &format!("  {what:<8}{}\n", path.display());
        };
        READABLE.iter().for_each(|path| line("read", Path::new(path)));
        self.read.iter().for_each(|path| line("read", &path.join("*")));
        self.remove.iter().for_each(|path| line("remove", &path.join("*")));
        self.state.iter().for_each(|path| line("all", &path.join("*")));
        text
    }
}
