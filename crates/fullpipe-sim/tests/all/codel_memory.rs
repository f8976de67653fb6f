//! CoDel's memory by hand: the rate of drops with which it resumes after a pause without a queue.
//!
//! Rule (Linux 6.12 `codel_dequeue`, codel_impl.h): dropping resumes with the drops of the last time (count -
//! lastcount). Conditions: it starts within 16 intervals of the drop that was due next, and these drops are more than
//! one. Otherwise count is 1.

use crate::qdisc::{CODEL, Desk, MTU};
use fullpipe_sim::config::{Discipline, QueueLimit};
use fullpipe_sim::units::Time;

/// Packets that stand in the queue.
const STANDING: u32 = 50;

fn desk() -> Desk {
    Desk::new(Discipline::Codel(CODEL), QueueLimit::Packets(1000))
}

/// Milliseconds of drops from a queue that stands between two times, which is empty before and afterwards.
fn drops(desk: &mut Desk, from: u64, until: u64) -> Vec<u64> {
    let put = |desk: &mut Desk, at, count: u32| {
        (0..count).for_each(|_| {
            desk.put(Time::ms(at), 0, MTU);
        });
    };
    let mut times = Vec::new();
    put(desk, from, STANDING);

    for at in from..until {
        put(desk, at, 1);
        desk.take(Time::ms(at));
        let dropped = desk.effects.dropped.drain(..).count() as u32;
        // One packet for each dropped one, so that the queue stands.
        put(desk, at, dropped);
        times.extend((0..dropped).map(|_| at));
    }

    while desk.take(Time::ms(until)).is_some() {}
    assert!(desk.effects.dropped.is_empty(), "a drop was due at {until} ms");
    times
}

/// Drops of a queue that stands from 0 to 490 ms: at 105 ms, and then after the pauses of
/// `codel_drops_from_a_standing_queue_ever_sooner`. From later times on the first drop comes after more than 105 ms,
/// because Linux counts in units of 1024 ns, and time 0 begins one. The count is 8, its root 0.3515, and the next drop
/// was due at 517.3 ms.
fn first(desk: &mut Desk) {
    assert_eq!(drops(desk, 0, 490), [105, 205, 255, 312, 361, 405, 445, 483]);
}

/// Dropping begins 106 ms after a queue (`first`). Sixteen intervals after 517.3 ms are 2117.3 ms.
///
/// Seven drops followed the first one, so the count is 7. One step of Newton's method from 0.3515 gives 0.3515 (3 - 7 x
/// 0.3515^2) / 2 = 0.3752. The next drop is due 37.5 ms after the first. The one after it is due 35.2 ms later: 0.3752
/// (3 - 8 x 0.1408) / 2 = 0.3515. With a count of 1 the next drops are due after 100 and 50 ms more.
#[test]
fn the_last_rate_holds_for_sixteen_intervals() {
    for (from, later) in [(700, [38, 73]), (2_005, [38, 73]), (2_030, [100, 150])] {
        let mut desk = desk();
        first(&mut desk);
        let found = drops(&mut desk, from, from + 270);
        let begins = from + 106;
        assert_eq!(found[..3], [begins, begins + later[0], begins + later[1]], "from {from} ms");
    }
}

/// Drops since the beginning of the second time count, not the seven with which it began.
///
/// The second time begins at 806 ms with a count of 7. Drops are due at 843.5, 878.7 (8), 911.9 (9: 0.3318) and
/// 943.4 ms (10: 0.3151). A third time then begins with the drops after the first of the second time:
///
/// - three (until 930 ms): 3; one step from 0.3151 gives 0.3151 (3 - 3 x 0.0993) / 2 = 0.4257, 42.6 ms;
/// - two (until 900 ms): 2; one step from 0.3318 gives 0.3318 (3 - 2 x 0.1101) / 2 = 0.4612, 46.1 ms;
/// - one (until 860 ms): that is not more than one, and the count is 1: 100 ms.
#[test]
fn only_the_drops_since_the_beginning_are_remembered() {
    for (until, count, later) in [(930, 4, 43), (900, 3, 47), (860, 2, 100)] {
        let mut desk = desk();
        first(&mut desk);
        assert_eq!(drops(&mut desk, 700, until).len(), count, "until {until} ms");
        let found = drops(&mut desk, 1_500, 1_710);
        assert_eq!(found[..2], [1_606, 1_606 + later], "until {until} ms");
    }
}
