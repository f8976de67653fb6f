//! The text of a scenario, and the files that it names. This module alone reads files.

use super::format::diagnostic::{Diagnostic, Diagnostics};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A scenario's text with the name that diagnostics use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// File name, or recipe name with ".toml".
    pub name: String,
    /// The text.
    pub text: String,
    /// Where files named by the scenario (published figures) are looked for.
    pub beside: Beside,
    /// The variants that it is; none: all of the text's.
    pub variants: Vec<String>,
}

/// Where files that a scenario names are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Beside {
    /// In this directory.
    Directory(PathBuf),
    /// Among the files built into the program: (path relative to the scenario, text).
    BuiltIn(&'static [(&'static str, &'static str)]),
    /// Nowhere.
    Nothing,
}

/// `key=value`, as after `--set`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetOption(pub String);

impl Source {
    /// A text that names no other files.
    pub fn text(name: &str, text: &str) -> Source {
        Source {
            name: name.into(),
            text: text.into(),
            beside: Beside::Nothing,
            variants: Vec::new(),
        }
    }

    /// Reads a scenario file.
    ///
    /// # Errors
    /// The file cannot be read ("cannot-read") or is not UTF-8 ("bad-encoding").
    pub fn read(path: &Path) -> Result<Source, Diagnostics> {
        let name = path.display().to_string();
        if path.is_dir() {
            return Err(is_directory(&name, path));
        }
        let bytes = read(path).map_err(|why| cannot_read(&name, &why))?;
        let directory = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Source::from_bytes(&name, &bytes, Beside::Directory(directory))
    }

    /// Takes bytes as a scenario.
    ///
    /// # Errors
    /// Not UTF-8 ("bad-encoding"), with the line and column of the first wrong byte.
    pub fn from_bytes(name: &str, bytes: &[u8], beside: Beside) -> Result<Source, Diagnostics> {
        let text = decode(name, bytes)?;
        Ok(Source { name: name.into(), text, beside, variants: Vec::new() })
    }

    /// The text of a file that the scenario names, and its full name; the error is a sentence.
    pub(super) fn beside(&self, path: &str) -> Result<(String, Vec<u8>), String> {
        match &self.beside {
            Beside::Directory(directory) => {
                let full = directory.join(path);
                let bytes = read(&full)?;
                Ok((full.display().to_string(), bytes))
            }
            Beside::BuiltIn(files) => match files.iter().find(|(name, _)| *name == path) {
                Some((name, text)) => Ok((name.to_string(), text.as_bytes().to_vec())),
                None => Err("not among the built-in files".into()),
            },
            Beside::Nothing => Err("this scenario has no directory to look in".into()),
        }
    }
}

/// Largest file that is read: far more than a scenario or its figures need.
const LARGEST: u64 = 16 << 20;

/// A file's bytes; the error is a sentence.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    match bytes.len() as u64 > LARGEST {
        true => Err(format!("it is larger than {} MiB", LARGEST >> 20)),
        false => Ok(bytes),
    }
}

/// UTF-8 or a diagnostic at the first wrong byte.
pub(super) fn decode(name: &str, bytes: &[u8]) -> Result<String, Diagnostics> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return Ok(text.to_string()),
        Err(error) => error,
    };

    // The line is shown with its wrong bytes replaced.
    let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
    let last = good.rsplit('\n').next().unwrap_or("");
    let rest = &bytes[error.valid_up_to()..];
    let end = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
    let line = format!("{last}{}", String::from_utf8_lossy(&rest[..end]));
    let item = Diagnostic {
        code: "bad-encoding",
        message: format!("byte 0x{:02x} is not UTF-8", rest[0]),
        file: name.into(),
        line: good.matches('\n').count() + 1,
        column: last.chars().count() + 1,
        source: line.trim_end_matches('\r').to_string(),
        width: 1,
        expected: Some("a TOML file, which is UTF-8 text".into()),
        near: Vec::new(),
    };
    Err(Diagnostics { items: vec![item] })
}

/// Number of a directory's scenario files that are named.
const NAMED: usize = 5;

/// A directory in a scenario's place; the message names the scenario files in it.
fn is_directory(name: &str, path: &Path) -> Diagnostics {
    let files = path.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<String> = files
        .filter(|file| file.extension().is_some_and(|ending| ending == "toml"))
        .map(|file| file.strip_prefix(".").unwrap_or(&file).display().to_string())
        .collect();
    files.sort();
    files.truncate(NAMED);
    let mut diagnostics = cannot_read(name, "it is a directory");
    diagnostics.items[0].near = files;
    diagnostics
}

fn cannot_read(name: &str, why: &str) -> Diagnostics {
    let item = Diagnostic {
        code: "cannot-read",
        message: format!("cannot read the scenario: {why}"),
        file: name.into(),
        line: 0,
        column: 0,
        source: String::new(),
        width: 1,
        expected: Some("a readable file, or the name of a recipe".into()),
        near: Vec::new(),
    };
    Diagnostics { items: vec![item] }
}
