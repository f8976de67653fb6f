//! The plainest programs that move data: the standard for the engine's cost.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;

use crate::error::{Context, Result};

/// Bytes of a write, and room for a read.
const SIZE: usize = 64 << 10;

/// Writes until the kernel ends.
pub fn write(socket: OwnedFd) -> Result<()> {
    let (mut socket, bytes) = (File::from(socket), vec![0; SIZE]);
    loop {
        socket.write_all(&bytes).at(|| "write")?;
    }
}

/// Reads to the end.
pub fn read(socket: OwnedFd) -> Result<()> {
    let (mut socket, mut bytes) = (File::from(socket), vec![0; SIZE]);
    while socket.read(&mut bytes).at(|| "read")? > 0 {}
    Ok(())
}
