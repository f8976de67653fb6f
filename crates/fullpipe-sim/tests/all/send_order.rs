//! Losses by time are searched in the order of sending. The search ends at the first packet that was not sent before
//! the newest arrival. By hand from Linux 6.12 `tcp_rack_detect_loss`, with the list `tsorted_sent_queue`.

use fullpipe_sim::tcp::scoreboard::{Age, Scoreboard, Window};
use fullpipe_sim::tcp::skb::SendQueue;
use fullpipe_sim::units::Time;

const MSS: u32 = 100;

/// Two segments at 1 ms. At 2 ms two more and then the first two again.
#[test]
fn what_was_sent_again_waits_for_what_stands_before_it() {
    let mut queue = SendQueue::new(0);
    let mut nxt = 0;
    for ms in [1, 1, 2, 2] {
        queue.write(MSS, false, true);
        nxt = queue.send(nxt, Time::ms(ms), MSS);
    }
    let mut board = Scoreboard::new(true);
    board.packets_out = 4;
    for start in [0, 100] {
        board.note_retransmitted(start, start + 100, Time::ms(2), nxt);
    }
    let window = Window { queue: &queue, snd_una: 0, snd_nxt: nxt, mss: MSS };
    let mut lost_when_arrived = |start, end| {
        board.sack(start, end, window);
        let age = Age { before_us: 2000, end_seq: end, lost_by_us: Some(2000) };
        board.mark_lost_by_age(age, window);
        board.lost_out
    };
    assert_eq!(lost_when_arrived(200, 300), 0, "the fourth stands before them");
    assert_eq!(lost_when_arrived(300, 400), 2);
}
