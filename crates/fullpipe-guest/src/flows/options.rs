//! Socket options by their names.

use std::os::fd::OwnedFd;

use fullpipe_base::sockopt::Sockopt;
use fullpipe_guest::refusal::{Asked, Role};

use crate::error::{Error, Result, granted};
use crate::sys;

/// Sets all options of one end of a flow.
pub fn set_all(socket: &OwnedFd, flow: usize, role: Role, options: &[(String, i64)]) -> Result<()> {
    options.iter().try_for_each(|(name, value)| {
        let asked = || Asked::Option { flow, role, name: name.clone(), value: *value };
        let known = Sockopt::find(name).ok_or_else(|| Error::new(asked(), "not known"))?;
        granted(set(socket, known, *value), asked)
    })
}

fn set(socket: &OwnedFd, option: &Sockopt, value: i64) -> std::io::Result<()> {
    let (level, number) = option.number;
    // An option with more than 32 bits may have 64 (SO_MAX_PACING_RATE, since Linux 5.0).
    if option.bounds.max > u32::MAX.into() {
        return sys::set_option(socket, level, number, &value.to_ne_bytes());
    }
    // TCP_NOTSENT_LOWAT is unsigned.
    sys::set_number(socket, level, number, value as i32)
}
