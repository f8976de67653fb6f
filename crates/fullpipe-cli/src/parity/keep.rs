//! Files of `--keep`: of each run its scenario and both tables.

use crate::failure::Failure;
use fullpipe::parity::case::Case;
use fullpipe::parity::table::Table;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder that was empty.
pub struct Folder(PathBuf);

impl Folder {
    /// Makes it.
    ///
    /// # Errors
    /// The path is a file or below one, the folder is not empty, or it cannot be made.
    pub fn new(path: &Path) -> Result<Folder, Failure> {
        // The deepest part of the path that exists must be a directory.
        if let Some(file) =
            path.ancestors().find(|part| part.exists()).filter(|part| !part.is_dir())
        {
            let (file, hint) = (file.display(), "name a directory that is new or empty");
            let asked = path.display();
            return Err(Failure::Input(format!(
                "--keep {asked}: {file} is not a directory; {hint}"
            )));
        }

        // An old result would mix with the new one.
        if fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some()) {
            let why =
                "is not empty, and nothing is overwritten; name a directory that is new or empty";
            return Err(Failure::Input(format!("--keep {0}: {0} {why}", path.display())));
        }
        fs::create_dir_all(path)
            .map_err(|e| Failure::environment(format!("cannot make {}", path.display()), e))?;
        Ok(Folder(path.into()))
    }

    /// Keeps the scenario, before it is run.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn scenario(&self, case: &Case) -> Result<(), Failure> {
        self.write(case, "toml", &case.text)
    }

    /// Keeps both tables.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn tables(&self, case: &Case, linux: &Table, sim: &Table) -> Result<(), Failure> {
        self.write(case, "linux.csv", &linux.body())?;
        self.write(case, "sim.csv", &sim.body())
    }

    fn write(&self, case: &Case, ending: &str, text: &str) -> Result<(), Failure> {
        let name: String = case
            .name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' })
            .collect();
        let path = self.0.join(format!("{name}.{ending}"));
        fs::write(&path, text)
            .map_err(|e| Failure::environment(format!("cannot write {}", path.display()), e))
    }
}
