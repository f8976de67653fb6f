//! Rows of a profile by name, so that a scenario can override one of them: `behaviour = { reduction = "prr" }`. A row
//! also states which choices of other rows it needs.

mod needs;

pub use needs::{Need, Refusal, refusals};

use super::choice::Choice;
use super::profile::{Profile, find};
use super::rows::*;
use crate::config::Host;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A row that can be overridden.
pub struct Behaviour {
    /// Name, which is the name of the field of [`Profile`].
    pub name: &'static str,
    /// Meaning.
    pub doc: &'static str,
    /// Kernel functions that are the source of its choices.
    pub read: &'static str,
    /// Choices of other rows without which no profile reads this row.
    pub needs: &'static [Need],
    /// Tests that flip the row, where no conversation of two endpoints can: file and name of each.
    pub tests: &'static [&'static str],
    /// Names of the choices.
    pub choices: fn() -> Vec<&'static str>,
    apply: fn(&mut Profile, &str) -> bool,
    of: fn(&Profile) -> &'static str,
}

fn names<T: Choice>() -> Vec<&'static str> {
    T::ALL.iter().map(|(name, _)| *name).collect()
}

fn set<T: Choice>(field: &mut T, name: &str) -> bool {
    let found = T::ALL.iter().find(|(known, _)| *known == name);
    found.map(|(_, choice)| *field = *choice).is_some()
}

fn name_of<T: Choice>(value: T) -> &'static str {
    T::ALL.iter().find(|(_, choice)| *choice == value).map_or("", |(name, _)| name)
}

/// Declares the rows of `rows/` as rows that a scenario can override.
macro_rules! behaviours {
    (
        { $($(#[$since:meta])* $row:ident: $type:ident {
            means: $means:literal,
            read_in: $read:literal,
            values: { $($version:ident: $value:tt),+ $(,)? },
            $(needs: [$($need:expr),+ $(,)?],)?
            $(tests: [$($test:literal),+ $(,)?],)?
        })* }
        $constants:tt
    ) => {
        /// Every row that can be overridden.
        pub const BEHAVIOURS: &[Behaviour] = &[$(Behaviour {
            name: stringify!($row),
            doc: $means,
            read: $read,
            needs: &[$($($need),+)?],
            tests: &[$($($test),+)?],
            choices: names::<$type>,
            apply: |profile, name| set(&mut profile.$row, name),
            of: |profile| name_of(profile.$row),
        },)*];
    };
}

all_rows!(behaviours);

/// The row called `name`.
pub fn behaviour(name: &str) -> Option<&'static Behaviour> {
    BEHAVIOURS.iter().find(|row| row.name == name)
}

impl Behaviour {
    /// Choice of `profile` in this row.
    pub fn of(&self, profile: &Profile) -> &'static str {
        (self.of)(profile)
    }

    /// Sets the choice of that name in `profile`; false if there is none.
    pub fn apply(&self, profile: &mut Profile, choice: &str) -> bool {
        (self.apply)(profile, choice)
    }
}

/// The profile of a host, with the host's overrides.
///
/// # Errors
/// An unknown kernel, behaviour or choice, or a row that the profile does not read.
pub fn profile_of(host: &Host) -> Result<Profile, String> {
    let known = find(&host.kernel).ok_or_else(|| format!("unknown profile {}", host.kernel))?;
    let mut profile = *known;
    for (name, choice) in &host.behaviour {
        let row = behaviour(name).ok_or_else(|| format!("unknown behaviour {name}"))?;
        if !row.apply(&mut profile, choice) {
            return Err(format!("behaviour {name}: unknown choice {choice}"));
        }
    }
    let overridden: Vec<&str> = host.behaviour.iter().map(|(name, _)| name.as_str()).collect();
    match refusals(&profile, &overridden).first() {
        Some(refusal) => Err(format!("behaviour {}: {refusal}", refusal.row)),
        None => Ok(profile),
    }
}
