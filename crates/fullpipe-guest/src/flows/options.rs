//! Socket options by their names.

use std::os::fd::OwnedFd;

use crate::error::{Context, Error, Result};
use crate::sys;

/// include/uapi/linux/tcp.h
const TCP_TX_DELAY: i32 = 37;

/// Level and number of each.
const OPTIONS: &[(&str, i32, i32)] = &[
    ("IP_TOS", libc::IPPROTO_IP, libc::IP_TOS),
    ("SO_MAX_PACING_RATE", libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE),
    ("SO_PRIORITY", libc::SOL_SOCKET, libc::SO_PRIORITY),
    ("SO_RCVLOWAT", libc::SOL_SOCKET, libc::SO_RCVLOWAT),
    ("TCP_CORK", libc::IPPROTO_TCP, libc::TCP_CORK),
    ("TCP_NODELAY", libc::IPPROTO_TCP, libc::TCP_NODELAY),
    ("TCP_NOTSENT_LOWAT", libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT),
    ("TCP_QUICKACK", libc::IPPROTO_TCP, libc::TCP_QUICKACK),
    ("TCP_SYNCNT", libc::IPPROTO_TCP, libc::TCP_SYNCNT),
    ("TCP_THIN_LINEAR_TIMEOUTS", libc::IPPROTO_TCP, libc::TCP_THIN_LINEAR_TIMEOUTS),
    ("TCP_TX_DELAY", libc::IPPROTO_TCP, TCP_TX_DELAY),
    ("TCP_USER_TIMEOUT", libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT),
    ("TCP_WINDOW_CLAMP", libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP),
];

/// Sets all.
pub fn set_all(socket: &OwnedFd, options: &[(String, i64)]) -> Result<()> {
    options.iter().try_for_each(|(name, value)| set(socket, name, *value))
}

fn set(socket: &OwnedFd, name: &str, value: i64) -> Result<()> {
    let what = || format!("socket option {name} = {value}");
    let Some((_, level, number)) = OPTIONS.iter().find(|(known, ..)| *known == name) else {
        return Err(Error::new(what(), "not known"));
    };
    // Of these only SO_MAX_PACING_RATE can be more than an int; it may have 64 bits (since Linux 5.0).
    if name == "SO_MAX_PACING_RATE" {
        return sys::set_option(socket, *level, *number, &value.to_ne_bytes()).at(what);
    }
    // TCP_NOTSENT_LOWAT is unsigned.
    sys::set_number(socket, *level, *number, value as i32).at(what)
}
