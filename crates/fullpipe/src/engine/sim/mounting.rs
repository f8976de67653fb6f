//! Calls before the program of a mount: they mount it and open the file, one after the other.
//!
//! The calls and their bytes are what 6.12 counts of itself (`/proc/self/mountstats`, `bytes_sent` and `bytes_recv`, to
//! which a reply's marker is added). The client had no host name, and the file was in the root of a tmpfs. A test
//! compares the number of calls and the sum of their bytes. Their order was read (`nfs_create_server`,
//! `nfs4_create_server`, open(2)).

use crate::scenario::{Nfs, NfsOperation, NfsVersion};

/// Bytes of a call, and of its reply behind the marker.
type Sizes = (u32, u32);

/// A call that asks for nothing.
const NULL: Sizes = (44, 24);

/// Version 3: FSINFO and PATHCONF of the server, then FSINFO and GETATTR of the root. open(2) asks for the root's
/// attributes again, and for access to it.
const V3: [Sizes; 7] = [NULL, (84, 80), (84, 56), (84, 80), (84, 112), (84, 112), (88, 120)];
/// CREATE.
const V3_WRITE: [Sizes; 1] = [(136, 260)];
/// LOOKUP, and ACCESS of the file.
const V3_READ: [Sizes; 2] = [(96, 228), (100, 120)];
/// Round trips over another connection, to mountd: of its handshake and of two calls (`nfs_mount`). Here they are calls of the
/// first connection that ask for nothing.
const V3_MOUNTD: [Sizes; 3] = [NULL; 3];

/// Version 4.2.
#[rustfmt::skip]
const V4: [Sizes; 14] = [
    NULL,
    (200, 100), (200, 100), // EXCHANGE_ID, twice: the server may be known by another address
    (200, 124), // CREATE_SESSION
    (128, 88), // RECLAIM_COMPLETE
    (156, 172), (144, 260), // what the server can, and its root (GETATTR, PUTROOTFH)
    (156, 172), (156, 164), (148, 116), // what it can of the root, FSINFO, PATHCONF
    (156, 172), (156, 164), (152, 240), // the same once more, and attributes
    (160, 168), // ACCESS of the root
];
/// OPEN of a file that is made, and of one that is there.
const V4_WRITE: Sizes = (280, 356);
const V4_READ: Sizes = (240, 348);

/// Bytes of each call and of its reply, with their markers. The handshakes of further connections are made one after the other: a round
/// trip each, here a call of the first one that asks for nothing.
pub fn calls(own: &Nfs) -> Vec<[u32; 2]> {
    let writes = own.operation == NfsOperation::Write;
    let handshakes = vec![NULL; usize::from(own.nconnect) - 1];
    let sizes = match own.version {
        NfsVersion::V3 if writes => [&V3_MOUNTD[..], &handshakes, &V3, &V3_WRITE].concat(),
        NfsVersion::V3 => [&V3_MOUNTD[..], &handshakes, &V3, &V3_READ].concat(),
        NfsVersion::V4_2 if writes => [&handshakes[..], &V4, &[V4_WRITE]].concat(),
        NfsVersion::V4_2 => [&handshakes[..], &V4, &[V4_READ]].concat(),
    };
    sizes.into_iter().map(|(call, reply)| [call, MARKER + reply]).collect()
}

/// Bytes of a record's marker.
const MARKER: u32 = fullpipe_sim::rpc::MARKER as u32;
