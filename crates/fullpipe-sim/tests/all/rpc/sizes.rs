//! Bytes of NFSv3's records, added up by hand from RFC 5531 and RFC 1813.

use fullpipe_sim::rpc::nfs3::Caller;
use fullpipe_sim::rpc::{Sizes, server_buffer_2008};

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
    assert_eq!(caller.write(), Sizes { call: 128, reply: 140, commit: [120, 132] });
    let shorter = Caller { machine_name: 5, groups: 0, file_handle: 18 };
    assert_eq!(shorter.write().call, 128 - 4 - 8);
}

/// READ: offset 8, count 4; attributes 88 alone, count 4, end 4, length 4.
#[test]
fn of_reads() {
    let caller = Caller { machine_name: 8, groups: 1, file_handle: 28 };
    let Sizes { call, reply, .. } = caller.read();
    assert_eq!((call, reply), (120, 132));
}

/// The buffer that was published in 2008 for rsize = wsize = 1 MiB.
#[test]
fn of_the_server_of_2008() {
    assert_eq!(server_buffer_2008(1 << 20), 3_158_016);
}
