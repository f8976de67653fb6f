//! Followers of a build: they get its steps, and may stop it.

/// What a build is doing.
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

    /// So many lines of `make`'s output of about so many in all; more may come.
    fn compiled(&mut self, lines: u64, expected: u64);

    /// Whether to stop. Asked several times a second.
    fn stopped(&self) -> bool;
}
