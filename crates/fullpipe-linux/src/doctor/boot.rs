//! Boots every cached kernel for a moment.

use super::{Check, Problem};
use crate::kernel::{Cache, Contents, Entry, Error};
use std::time::Duration;

/// Boots each kernel that this version of fullpipe would use.
pub fn check(cache: &Result<Cache, Error>) -> Check {
    let entries: Vec<Entry> = cache.as_ref().map(Cache::list).unwrap_or_default();
    let current: Vec<Entry> = entries.into_iter().filter(Entry::is_current).collect();
    Check::new("boot", "a run begins with the boot of a kernel", judge(&current, crate::boot))
}

/// Lists the time of each boot, or the first kernel that does not boot.
fn judge(
    entries: &[Entry],
    boot: impl Fn(&Entry) -> Result<Duration, String>,
) -> Result<String, Problem> {
    if entries.is_empty() {
        return Err(Problem::new("no kernel to boot", "fullpipe kernel build"));
    }
    let mut times = Vec::new();
    for entry in entries {
        match boot(entry) {
            Ok(time) => times.push(format!("{} in {:.1} s", name(entry), time.as_secs_f64())),
            Err(why) => return Err(failed(entry, &why)),
        }
    }
    Ok(times.join(", "))
}

fn name(entry: &Entry) -> String {
    let nfs = if entry.contents == Contents::Nfs { " with NFS" } else { "" };
    format!("{} HZ {}{nfs}", entry.family, entry.hz)
}

/// The kernel, the reason, and the command that rebuilds it.
fn failed(entry: &Entry, why: &str) -> Problem {
    let config = match entry.contents {
        Contents::Tcp => String::new(),
        other => format!(" --config {other}"),
    };
    let rebuild = format!(
        "fullpipe kernel build --force --version {} --hz {}{config}; if that does not help, \
         report the lines above",
        entry.family, entry.hz
    );
    Problem::new(format!("{} does not boot: {why}", name(entry)), rebuild)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Family;

    fn entry(contents: Contents) -> Entry {
        Entry {
            directory: "kernels/x".into(),
            family: Family::V6_12,
            hz: "250".parse().expect("an HZ"),
            contents,
            hash: "0".into(),
            record: Err(Error::new("not read")),
        }
    }

    #[test]
    fn each_boot_has_its_time() {
        let both = [entry(Contents::Tcp), entry(Contents::Nfs)];
        let found = judge(&both, |_| Ok(Duration::from_millis(430))).map_err(|p| p.found);
        assert_eq!(found, Ok("6.12 HZ 250 in 0.4 s, 6.12 HZ 250 with NFS in 0.4 s".into()));
    }

    #[test]
    fn a_kernel_that_does_not_boot_is_named_with_the_reason() {
        let both = [entry(Contents::Tcp), entry(Contents::Nfs)];
        let problem = judge(&both, |entry| match entry.contents {
            Contents::Tcp => Ok(Duration::ZERO),
            Contents::Nfs => Err("the guest ended by signal 6".into()),
        })
        .expect_err("a problem");
        assert_eq!(
            problem.found,
            "6.12 HZ 250 with NFS does not boot: the guest ended by signal 6"
        );
        let rebuild = "fullpipe kernel build --force --version 6.12 --hz 250 --config nfs;";
        assert!(problem.remedy.starts_with(rebuild), "{}", problem.remedy);
    }

    #[test]
    fn without_a_kernel_one_is_to_be_built() {
        let problem = judge(&[], |_| unreachable!("nothing to boot")).expect_err("a problem");
        assert_eq!(problem.remedy, "fullpipe kernel build");
    }
}
