//! The kernel's configuration: the wanted options, and a check of the result.

use super::{Error, Wanted};
use std::path::Path;

/// Options beyond allnoconfig, as a file for `KCONFIG_ALLCONFIG`.
pub const FRAGMENT: &str = include_str!("fragment.config");

/// Options that a kernel with NFS has in addition.
pub const NFS: &str = include_str!("nfs.config");

/// Options that the configuration of a kernel must have.
pub fn asked(wanted: &Wanted) -> String {
    wanted.contents.fragments().join("\n")
}

/// All options of the finished configuration: the wanted ones, and HZ, which `arch/um` does not offer and the change of
/// its source sets.
pub fn wanted(wanted: &Wanted) -> String {
    format!("{}\nCONFIG_HZ={}\n", asked(wanted), wanted.hz)
}

/// Checks that the finished configuration `config`, a file at `path`, has each option of `fragment`. Kconfig silently
/// drops an option that depends on one which is off.
///
/// # Errors
/// An option is missing; the message names all that are.
pub fn check(fragment: &str, config: &str, path: &Path) -> Result<(), Error> {
    let missing: Vec<String> = options(fragment).filter_map(|o| refused(o, config)).collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(Error::at(
            path,
            format!(
                "this source cannot be configured as fullpipe needs it: {}",
                missing.join(", ")
            ),
        )
        .hint("build another version, or report this with the version of the source package")),
    }
}

/// Lines that set something.
fn options(fragment: &str) -> impl Iterator<Item = &str> {
    fragment.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The line in the place of `option`, if the option is missing.
fn refused(option: &str, config: &str) -> Option<String> {
    let (name, value) = option.split_once('=')?;
    let found = config.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    let found = found.unwrap_or("n");
    (found != value).then(|| format!("{name} is {found} instead of {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Contents;

    const ASKED: &str = "# comment\nCONFIG_A=y\nCONFIG_B=n\n\nCONFIG_C=\"fd:0\"\n";

    fn error_of(config: &str) -> String {
        check(ASKED, config, Path::new("x/.config")).expect_err("refused").to_string()
    }

    #[test]
    fn what_was_granted_passes() {
        let granted = "CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=\"fd:0\"\nCONFIG_AB=n\n";
        assert_eq!(check(ASKED, granted, Path::new("x")), Ok(()));
        assert_eq!(check(ASKED, "CONFIG_C=\"fd:0\"\nCONFIG_A=y\n", Path::new("x")), Ok(()));
    }

    #[test]
    fn all_that_was_refused_is_named() {
        let error = error_of("CONFIG_AA=y\nCONFIG_B=y\nCONFIG_C=\"null\"\n");
        for part in [
            "x/.config",
            "CONFIG_A is n instead of y",
            "CONFIG_B is y instead of n",
            "CONFIG_C is \"null\" instead of \"fd:0\"",
        ] {
            assert!(error.contains(part), "no {part} in {error}");
        }
    }

    #[test]
    fn another_hz_is_refused() {
        let granted: String = options(FRAGMENT).map(|option| format!("{option}\n")).collect();
        let check = |hz: &str| {
            let wanted = Wanted { hz: "250".parse().expect("an HZ"), ..Wanted::default() };
            let wanted = super::wanted(&wanted);
            check(&wanted, &format!("{granted}{hz}"), Path::new("x"))
        };
        assert_eq!(check("CONFIG_HZ=250\n"), Ok(()));
        for (hz, found) in [("CONFIG_HZ=100\n", "100"), ("CONFIG_HZ_250=y\n", "n")] {
            let error = check(hz).expect_err("refused").to_string();
            assert!(error.contains(&format!("CONFIG_HZ is {found} instead of 250")), "{error}");
        }
    }

    #[test]
    fn every_option_of_the_fragment_is_set_once() {
        let both = asked(&Wanted { contents: Contents::Nfs, ..Wanted::default() });
        let mut names: Vec<_> = options(&both).map(|o| o.split_once('=').expect("=").0).collect();
        let all = names.len();
        assert!(all > 80 && names.iter().all(|name| name.starts_with("CONFIG_")));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
