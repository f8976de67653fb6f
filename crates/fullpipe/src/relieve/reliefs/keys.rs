//! Keys to set.

use crate::scenario::SetOption;
use fullpipe_base::units::Rate;

/// Largest buffer that a kernel's `int` holds, bytes.
pub const LARGEST: u64 = i32::MAX as u64;
/// Request of SO_SNDBUF or SO_RCVBUF that the kernel makes 2 GiB, bytes.
pub const LARGEST_ASKED: u64 = 1 << 30;
/// Rate that limits nothing.
pub const FAST: Rate = Rate::gbit(100_000);

/// `key=value`; the key's parts are quoted where TOML asks for it, and the value is TOML.
pub fn set(parts: &[&str], value: impl std::fmt::Display) -> SetOption {
    let parts: Vec<String> = parts.iter().map(|part| quoted(part)).collect();
    SetOption(format!("{}={value}", parts.join(".")))
}

/// A string of TOML.
pub fn text(value: impl std::fmt::Display) -> String {
    format!("\"{value}\"")
}

fn quoted(part: &str) -> String {
    if !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
        part.into()
    } else {
        format!("\"{part}\"")
    }
}
