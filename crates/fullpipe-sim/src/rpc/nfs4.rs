//! Bytes of NFSv4.2's records over TCP: compounds that begin with SEQUENCE and PUTFH.
//!
//! Sources: RFC 5661 (COMPOUND, SEQUENCE, PUTFH, WRITE, GETATTR, COMMIT, READ), RFC 7862 (minor version 2). The
//! operations of a compound and its empty tag follow Linux 6.12 fs/nfs/nfs4xdr.c (`nfs4_xdr_enc_write`,
//! `nfs4_xdr_enc_commit`, `nfs4_xdr_enc_read`).

use super::Sizes;
use super::nfs3::{Caller, opaque, reply};

/// Number of an operation.
const OPERATION: u32 = 4;
/// Number of an operation, and its status.
const RESULT: u32 = 8;
/// Tag, minor version, count of operations.
const COMPOUND: u32 = 3 * 4;
/// Tag, count of operations, behind the status.
const RESULTS: u32 = 2 * 4;
/// Session; sequence, slot, highest slot, whether to cache.
const SEQUENCE: u32 = OPERATION + 16 + 4 * 4;
/// Session; sequence, slot, highest slot, target for it, flags.
const SEQUENCE_RESULT: u32 = RESULT + 16 + 5 * 4;
/// stateid4.
const STATE: u32 = 16;
/// verifier4.
const VERIFIER: u32 = 8;
/// Two words of a bitmap, with their count.
const BITMAP: u32 = 4 + 2 * 4;
/// GETATTR in the compound of WRITE, for a client without a delegation (6.12 `nfs4_write_need_cache_consistency_data`).
const GETATTR: u32 = OPERATION + BITMAP;
/// Attributes in the reply to GETATTR, with their length: change, size, space_used, time_metadata, time_modify.
const GETATTR_RESULT: u32 = RESULT + BITMAP + 4 + 3 * 8 + 2 * 12;

/// Most slots that nfsd grants a session, however many the client requests. A session has 64 KiB for cached replies. A
/// client requests room for the largest reply to OPEN, some 2 KiB (6.12 `nfsd4_get_drc_mem`,
/// `NFSD_MAX_MEM_PER_SESSION`, `encode_create_session`). Real 6.12 has this bound too.
pub const SESSION_SLOTS: u32 = 30;

/// Sizes for a file that is written.
pub fn write(caller: Caller) -> Sizes {
    // Offset, stability, length of the data.
    let call = call(caller) + OPERATION + STATE + 8 + 4 + 4 + GETATTR;
    // Count, stability.
    let reply = result() + RESULT + 4 + 4 + VERIFIER + GETATTR_RESULT;
    Sizes { call, reply }
}

/// Sizes for a file that is read.
pub fn read(caller: Caller) -> Sizes {
    // Offset, count.
    let call = call(caller) + OPERATION + STATE + 8 + 4;
    // End of file, length of the data.
    let reply = result() + RESULT + 4 + 4;
    Sizes { call, reply }
}

/// Sizes of COMMIT and its reply.
pub fn commit(caller: Caller) -> [u32; 2] {
    // Offset, count.
    [call(caller) + OPERATION + 8 + 4, result() + RESULT + VERIFIER]
}

/// Sizes of CLOSE with GETATTR and of its reply, for a file that was written, or read (`nfs4_close_prepare`).
pub fn close(caller: Caller, writes: bool) -> [u32; 2] {
    // Sequence.
    let call = call(caller) + GETATTR + OPERATION + 4 + STATE;
    // Change, size, time_metadata, time_modify; time_access for a reader.
    let attributes = RESULT + BITMAP + 4 + 2 * 8 + 2 * 12 + if writes { 0 } else { 12 };
    [call, result() + attributes + RESULT + STATE]
}

/// Head of a call, up to and including PUTFH.
fn call(caller: Caller) -> u32 {
    caller.head() + COMPOUND + SEQUENCE + OPERATION + opaque(caller.file_handle)
}

fn result() -> u32 {
    reply() + RESULTS + SEQUENCE_RESULT + RESULT
}
