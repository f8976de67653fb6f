//! Kernels of which options of sockets, sysctls that act on one, and ECN are modelled.
//!
//! Source: Linux 6.1 and 6.12, which were read. Earlier kernels were not.

use super::behaviour::profile_of;
use super::profile::PROFILES;
use crate::config::Host;
use alloc::string::String;

/// Whether options, sysctls and ECN of a host's kernel are modelled, as [`modelled_since`] says for kernels as they are.
///
/// # Errors
/// An unknown kernel.
pub fn are_modelled(host: &Host) -> Result<bool, String> {
    Ok(!profile_of(host)?.cwnd_first())
}

/// Name of the first kernel of which options, sysctls and ECN are modelled.
pub fn modelled_since() -> &'static str {
    PROFILES.iter().find(|own| !own.cwnd_first()).map_or("", |own| own.name)
}
