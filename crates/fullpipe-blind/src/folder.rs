//! Folders of cases: NAME.toml, an ordinary scenario, and NAME.label.json, its label.

use crate::generate::Case;
use crate::label::Label;
use std::fs;
use std::path::Path;

/// Ending of a label's file.
const LABEL: &str = ".label.json";

/// Folder of unscored cases, within that of a set.
pub const APART: &str = "apart";

/// Writes cases into a folder, which is made where it is missing.
///
/// # Errors
/// A file cannot be written; the message names it.
pub fn write(folder: &Path, cases: &[Case]) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|why| format!("cannot make {}: {why}", folder.display()))?;
    for case in cases {
        let label = serde_json::to_string_pretty(&case.label).map_err(|why| why.to_string())?;
        for (ending, text) in [(".toml", &case.text), (LABEL, &(label + "\n"))] {
            let file = folder.join(format!("{}{ending}", case.name));
            fs::write(&file, text)
                .map_err(|why| format!("cannot write {}: {why}", file.display()))?;
        }
    }
    Ok(())
}

/// Cases of a folder, in the order of their names.
///
/// # Errors
/// The folder has no case, or a file of one is missing or wrong; the message names it.
pub fn read(folder: &Path) -> Result<Vec<Case>, String> {
    let entries = fs::read_dir(folder);
    let entries = entries.map_err(|why| format!("cannot read {}: {why}", folder.display()))?;

    // Labels make a case; a scenario without one is none.
    let names = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.strip_suffix(LABEL).map(String::from)
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    if names.is_empty() {
        let folder = folder.display();
        return Err(format!("{folder} has no case: a case is NAME.toml beside NAME{LABEL}"));
    }
    names.into_iter().map(|name| one(folder, name)).collect()
}

fn one(folder: &Path, name: String) -> Result<Case, String> {
    let read = |ending: &str| {
        let file = folder.join(format!("{name}{ending}"));
        let text = fs::read_to_string(&file);
        text.map_err(|why| format!("cannot read {}: {why}", file.display()))
    };
    let label: Label = serde_json::from_str(&read(LABEL)?)
        .map_err(|why| format!("{}: {why}", folder.join(format!("{name}{LABEL}")).display()))?;
    Ok(Case { text: read(".toml")?, name, label })
}
