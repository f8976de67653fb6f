//! Bytes of NFSv3's records over TCP.
//!
//! Sources: RFC 5531 (calls, replies, AUTH_SYS, record marking), RFC 1813 (WRITE, COMMIT, READ and their attributes),
//! RFC 4506 (XDR, in units of four bytes).

use super::{MARKER, Sizes, padded};

/// Transaction, direction, version of RPC, program, version, procedure.
const CALL: u32 = 6 * 4;
/// Transaction, direction, that it was accepted, an empty verifier, that it was done.
const REPLY: u32 = 6 * 4;
/// Flavour of a credential or a verifier, and its length.
const AUTH: u32 = 2 * 4;
/// fattr3.
const ATTRIBUTES: u32 = 84;
/// Status of NFS.
const STATUS: u32 = 4;
/// writeverf3.
const VERIFIER: u32 = 8;

/// Properties of a client and a file that decide the size of each call, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Length of the client's host name.
    pub machine_name: u32,
    /// Supplementary groups of the user.
    pub groups: u32,
    /// Length of the file's handle.
    pub file_handle: u32,
}

impl Caller {
    /// Sizes for a file that is written.
    pub fn write(self) -> Sizes {
        // Offset, count, stability, length of the data.
        let call = self.call() + 8 + 4 + 4 + 4;
        // Count, stability.
        let reply = reply() + wcc_data() + 4 + 4 + VERIFIER;
        Sizes { call, reply }
    }

    /// Sizes for a file that is read.
    pub fn read(self) -> Sizes {
        // Offset, count.
        let call = self.call() + 8 + 4;
        // Count, end of file, length of the data.
        let reply = reply() + post_op_attr() + 4 + 4 + 4;
        Sizes { call, reply }
    }

    /// Sizes of COMMIT and its reply.
    pub fn commit(self) -> [u32; 2] {
        // Offset, count.
        [self.call() + 8 + 4, reply() + wcc_data() + VERIFIER]
    }

    /// Head of each call, up to the file's handle.
    fn call(self) -> u32 {
        self.head() + opaque(self.file_handle)
    }

    /// Head of each call of any version.
    pub(super) fn head(self) -> u32 {
        // Stamp, name, user, group, groups.
        let credential = 4 + opaque(self.machine_name) + 4 + 4 + (4 + 4 * self.groups);
        MARKER as u32 + CALL + AUTH + credential + AUTH
    }
}

/// Head of each reply of any version, up to the status.
pub(super) fn reply() -> u32 {
    MARKER as u32 + REPLY + STATUS
}

/// Variable-length bytes with their length.
pub(super) fn opaque(bytes: u32) -> u32 {
    4 + padded(bytes)
}

fn post_op_attr() -> u32 {
    4 + ATTRIBUTES
}

/// Attributes of a file before and after; knfsd leaves out those before a WRITE or a COMMIT.
fn wcc_data() -> u32 {
    4 + post_op_attr()
}
