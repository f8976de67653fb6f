//! Followers of a build: they get its steps, and may stop it.

/// Steps of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Another process builds in the same cache; its number where it is known.
    Waiting(Option<u32>),
    /// The source package of this name is fetched.
    Fetching(String),
    /// The source is unpacked.
    Unpacking,
    /// The source is changed and configured.
    Configuring,
    /// The kernel is compiled.
    Compiling,
    /// The kernel is in the cache; its source is removed.
    Removing,
}

/// Follows a build.
pub trait Watch {
    /// A step begins.
    fn step(&mut self, step: &Step);

    /// Progress: lines of `make`'s output so far, and about how many in all; more may follow.
    fn compiled(&mut self, lines: u64, expected: u64);

    /// Whether to stop. Asked several times a second.
    fn stopped(&self) -> bool;
}
