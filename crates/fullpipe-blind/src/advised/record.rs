//! Records of measurements, to be kept: a line of JSON for each path or case.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The items as text.
pub fn written<T: Serialize>(all: &[T]) -> String {
    all.iter()
        .map(|own| serde_json::to_string(own).expect("no key is other than text") + "\n")
        .collect()
}

/// The items of such a text.
///
/// # Errors
/// A line has not the form of [`written`]; the message has its number.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, String> {
    text.lines()
        .enumerate()
        .map(|(n, line)| {
            serde_json::from_str(line).map_err(|wrong| format!("line {}: {wrong}", n + 1))
        })
        .collect()
}
