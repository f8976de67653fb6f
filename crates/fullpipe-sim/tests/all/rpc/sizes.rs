//! Bytes of NFSv3's records, added up by hand from RFC 5531 and RFC 1813.

use fullpipe_sim::rpc::nfs3::Caller;
use fullpipe_sim::rpc::{Sizes, nfs4, server_buffer_2008};

/// | | call | reply |
/// |---|--:|--:|
/// | marker | 4 | 4 |
/// | header | 24 | 24 |
/// | credential: 8, stamp 4, name 4 + 8, user 4, group 4, groups 4 + 4 | 40 | |
/// | verifier | 8 | |
/// | handle 4 + 28 | 32 | |
/// | status | | 4 |
/// | before: absent 4; after 4 + 84 | | 92 |
/// | WRITE: offset 8, count 4, stable 4, length 4; count 4, committed 4, verifier 8 | 20 | 16 |
#[test]
fn of_writes() {
    let caller = Caller { machine_name: 8, groups: 1, file_handle: 28 };
    assert_eq!(caller.write(), Sizes { call: 128, reply: 140 });
    assert_eq!(caller.commit(), [120, 132]);
    let shorter = Caller { machine_name: 5, groups: 0, file_handle: 18 };
    assert_eq!(shorter.write().call, 128 - 4 - 8);
}

/// READ: offset 8, count 4; attributes 88 alone, count 4, end 4, length 4.
#[test]
fn of_reads() {
    let caller = Caller { machine_name: 8, groups: 1, file_handle: 28 };
    assert_eq!(caller.read(), Sizes { call: 120, reply: 132 });
}

/// Counts of `mountstats` of Linux 6.12, from a client called "(none)", without groups, of files on a tmpfs. It counts
/// the markers of calls, and not those of replies.
#[test]
fn as_real_linux_counts_them() {
    let caller = Caller { machine_name: 6, groups: 0, file_handle: 20 };
    let sizes = |own: Sizes| [own.call, own.reply - 4];
    assert_eq!(sizes(caller.write()), [116, 136]);
    assert_eq!(sizes(caller.read()), [108, 128]);
    assert_eq!(sizes(nfs4::write(caller)), [200, 184]);
    assert_eq!(sizes(nfs4::read(caller)), [180, 104]);
    let both = |[call, reply]: [u32; 2]| [call, reply - 4];
    assert_eq!(both(caller.commit()), [108, 128]);
    assert_eq!(both(nfs4::commit(caller)), [164, 104]);
    assert_eq!(both(nfs4::close(caller, true)), [188, 176]);
    assert_eq!(both(nfs4::close(caller, false)), [188, 188]);
}

/// The buffer that was published in 2008 for rsize = wsize = 1 MiB.
#[test]
fn of_the_server_of_2008() {
    assert_eq!(server_buffer_2008(1 << 20), 3_158_016);
}
