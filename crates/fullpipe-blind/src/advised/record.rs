//! Records of measurements, to be kept: a line of JSON for each path or case.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The items as text.
pub fn written<T: Serialize>(all: &[T]) -> String {
    let line = |own: &T| serde_json::to_string(own).expect("no key is other than text");
    all.iter().map(|own| line(own) + "\n").collect()
}

/// The items of such a text.
///
/// # Errors
/// A line has not the form of [`written`]; the message has its number.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, String> {
    let one = |(n, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|wrong| format!("line {}: {wrong}", n + 1))
    };
    text.lines().enumerate().map(one).collect()
}
