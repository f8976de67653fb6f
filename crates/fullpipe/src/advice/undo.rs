//! How settings are taken back.

/// Commands that set sysctls to these values, one after the other.
pub fn sysctls(values: &[(&str, String)]) -> String {
    let commands: Vec<String> =
        values.iter().map(|(name, value)| format!("sysctl -w {name}=\"{value}\"")).collect();
    commands.join("; ")
}
