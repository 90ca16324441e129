//! A control group that limits memory.

use std::fs;
use std::path::{Path, PathBuf};

/// A child of this process's group, which is removed in the end.
pub(crate) struct Group(PathBuf);

impl Group {
    /// Makes a group with a limit in bytes.
    ///
    /// # Errors
    ///
    /// Why none can be made.
    pub(crate) fn new(limit: u64) -> Result<Self, String> {
        let own = fs::read_to_string("/proc/self/cgroup").map_err(|error| error.to_string())?;
        let first = own.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            controllers.split(',').any(|name| name == "memory").then_some(path)
        });
        let unified = own.lines().find_map(|line| line.strip_prefix("0::"));
        let (roots, own, limits) = match (first, unified) {
            (Some(path), _) => (&["/sys/fs/cgroup/memory"][..], path, "memory.limit_in_bytes"),
            (None, Some(path)) => {
                (&["/sys/fs/cgroup", "/sys/fs/cgroup/unified"][..], path, "memory.max")
            }
            (None, None) => return Err(String::from("use a kernel with control groups")),
        };
        let root = roots.iter().map(Path::new).find(|root| root.join("cgroup.procs").exists());
        let root = root.ok_or_else(|| format!("mount control groups at {}", roots[0]))?;
        // In version 2, groups with processes have no children with limits, except the root: a
        // parent may.
        let mut parent = root.join(own.trim_start_matches('/'));
        loop {
            let path = parent.join(format!("lanecrypt-test-{}", std::process::id()));
            fs::create_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let group = Self(path);
            match fs::write(group.0.join(limits), limit.to_string()) {
                Ok(()) => return Ok(group),
                Err(error) if first.is_some() || parent == root || !parent.pop() => {
                    return Err(format!("{}: {error}", group.0.join(limits).display()));
                }
                Err(_) => {}
            }
        }
    }

    /// The file that takes the processes of the group.
    pub(crate) fn processes(&self) -> String {
        self.0.join("cgroup.procs").display().to_string()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}
