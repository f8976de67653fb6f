//! Large skbs that wait (tcp_tso_should_defer), in two cases that the profile's choice does not decide: the last one of
//! the queue, and any but in Open.

use crate::conversation::sender::Setup;
use crate::conversation::{host, profile};
use fullpipe_sim::tcp::profile::{InitialCwnd, TsoDeferral};

fn setup(rule: TsoDeferral) -> Setup {
    let mut host = host();
    host.tso = true;
    let profile = profile(|p| (p.tso_deferral, p.initial_cwnd) = (rule, InitialCwnd::Ten));
    Setup { profile, host, ..Setup::default() }
}

/// Two segments may go, and the last skb has two. It waits nevertheless, for the application may write
/// more, until a third of cwnd may go. (With others behind it it goes: `golden/recovery/tso_deferral_last.txt`.)
#[test]
fn the_last_skb_waits_though_it_may_go_whole() {
    setup(TsoDeferral::Last).check(
        "
           ms | event          | cwnd ssthresh flight state | sent
            0 | established 20 | 10 - 0 Open                |
            0 | write 10       | 10 - 10 Open               | 0..10
            0 | write 2        | 10 - 10 Open               |
          100 | ack 1          | 11 - 9 Open                |
          101 | ack 2          | 12 - 10 Open               | 10..12
        ",
    );
}

/// Allowed data is sent in Disorder: a segment for each SACK (limited transmit).
#[test]
fn nothing_waits_but_in_open() {
    setup(TsoDeferral::Any).check(
        "
           ms | event                | cwnd ssthresh flight state | sent
            0 | established 20       | 10 - 0 Open                |
            0 | write 20             | 10 - 10 Open               | 0..10
          100 | ack 0 sack 1..2      | 10 - 10 Disorder           | 10..11
          101 | ack 0 sack 1..3      | 10 - 10 Disorder           | 11..12
        ",
    );
}
