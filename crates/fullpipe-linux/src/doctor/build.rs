//! Whether a kernel is there, or can be built.

use super::{Check, Problem};
use crate::kernel::{Cache, Error, Family, Wanted, needs, source};
use fullpipe_trace::stale;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{fs, io};

/// The programs of a build.
pub fn tools() -> Check {
    let missing = needs::missing(&std::env::var_os("PATH").unwrap_or_default());

    // The machine decides first: no program helps on another one.
    let found = match (missing.is_empty(), std::env::consts::ARCH) {
        (_, arch) if arch != "x86_64" => Err(Problem::new(
            format!("this is {arch}"),
            "use an x86-64 machine: user-mode Linux exists for no other",
        )),
        (true, _) => Ok(needs::PROGRAMS.map(|need| need.name).join(", ")),
        (false, _) => {
            let names: Vec<_> = missing.iter().map(|need| need.name).collect();
            Err(Problem::new(format!("no {}", names.join(", no ")), needs::install(&missing)))
        }
    };
    Check::new("build tools", "they compile the kernel", found)
}

/// The source of the default version, or where it can be had.
pub fn source() -> Check {
    let family = Family::default();
    let found = match source::installed(Path::new("/"), family) {
        Some(archive) => Ok(archive.display().to_string()),
        None => candidate(&source::package(family)),
    };
    Check::new("kernel source", "the kernel is built from the distribution's source package", found)
}

/// Version that apt would fetch.
fn candidate(package: &str) -> Result<String, Problem> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    source::fetchable(&path, package)
        .map_err(|error| Problem::new(error.to_string(), format!("install {package}")))?;
    let mut command = Command::new("apt-cache");
    command.args(["show", "--no-all-versions", package]).stdin(Stdio::null());
    let output = command.output().map(|ended| ended.stdout).unwrap_or_default();
    let output = String::from_utf8_lossy(&output);
    let version = output.lines().find_map(|line| line.strip_prefix("Version: "));
    version.map(|version| format!("{package} {version} from apt")).ok_or_else(|| {
        Problem::new(
            format!("apt knows no {package}"),
            "sudo apt-get update (or, on Debian 12, \
            add its security archive to apt's sources)",
        )
    })
}

/// Room for a build, in a cache that can be written; a user with a kernel needs neither.
pub fn space(cache: &Result<Cache, Error>) -> Check {
    let found = match cache {
        Err(error) => Err(Problem::new(error.to_string(), "export FULLPIPE_CACHE=DIRECTORY")),
        Ok(cache) => room(cache),
    };
    Check::new("disk", "a build unpacks the source into the cache", found)
}

fn room(cache: &Cache) -> Result<String, Problem> {
    let existing = cache.directory().ancestors().find(|path| path.exists());
    let existing = existing.unwrap_or(Path::new("/"));
    let built = cache.find(&Wanted::default()).is_some();

    // A kernel that is built already needs neither a writable cache nor space.
    if !built && let Err(why) = writable(existing) {
        let (cache, existing) = (cache.directory().display(), existing.display());
        return Err(Problem::new(
            format!("{cache} cannot be written: {existing}: {why}"),
            "name a directory of yours: export FULLPIPE_CACHE=DIRECTORY",
        ));
    }
    let free = needs::free_space(existing).unwrap_or(u64::MAX);
    let text = format!("{:.1} GB free at {}", needs::gb(free), existing.display());
    match free >= needs::SPACE || built {
        true => Ok(text),
        false => Err(Problem::new(
            text,
            format!(
                "make room for {:.1} GB, or name another directory in \
            FULLPIPE_CACHE",
                needs::gb(needs::SPACE)
            ),
        )),
    }
}

/// Whether a directory can be made in `place`, by making one.
fn writable(place: &Path) -> io::Result<()> {
    let tried = place.join(stale::hidden_name("fullpipe-doctor"));
    fs::create_dir(&tried)?;
    fs::remove_dir(&tried)
}

/// The kernel that runs take where none is named.
pub fn kernel(cache: &Result<Cache, Error>) -> Check {
    let entry = cache.as_ref().ok().and_then(|cache| cache.find(&Wanted::default()));
    let found = match entry {
        Some(entry) => Ok(entry.kernel().display().to_string()),
        None => Err(Problem::new(format!("no {} yet", Wanted::default()), "fullpipe kernel build")),
    };
    Check::new("kernel", "genuine runs are runs of this kernel", found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_cache_asks_for_a_build() {
        let root = tempfile::tempdir().expect("a directory");
        let check = kernel(&Ok(Cache::at(root.path())));
        assert!(!check.ok && check.remedy == "fullpipe kernel build", "{check:?}");
        assert!(check.found.contains("Linux 6.12 with HZ 1000"), "{check:?}");
    }

    #[test]
    fn a_cache_without_a_place_is_said() {
        let check = space(&Err(Error::new("no HOME")));
        assert!(!check.ok && check.remedy.contains("FULLPIPE_CACHE"), "{check:?}");
    }
}
