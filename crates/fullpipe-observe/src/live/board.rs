//! Connections of a host over time: the last looks at each, in bounded memory.

use super::replay::{Looks, write};
use super::rows::Flows;
use super::sampler::Followed;
use super::{Host, Lateness};
use crate::diag::state;
use crate::process::Process;
use crate::sockets::Connection;
use crate::tcp_info::TcpInfo;
use fullpipe_base::limits::{About, Derived, Limit};
use fullpipe_base::trace::Sink;
use fullpipe_base::units::Time;
use std::collections::{BTreeMap, VecDeque};

/// Number that identifies a socket.
pub type Cookie = [u8; 8];

/// Fewest looks that a busy connection keeps.
const FEWEST: usize = 16;

/// Bounds of the memory of a board.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Looks of all connections together.
    pub all: usize,
    /// Looks of one connection.
    pub each: usize,
    /// Time for which a closed connection is kept.
    pub closed: Time,
}

/// A look at a socket.
#[derive(Clone, Debug)]
pub struct Look {
    /// Moment of the look.
    pub time: Time,
    /// State of the socket.
    pub info: TcpInfo,
}

/// A connection and the last looks at it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The connection at the first look.
    pub first: Connection,
    /// The process that has it, where it was looked for and may be seen.
    pub process: Option<Process>,
    /// Moment at which it was found closed.
    pub closed: Option<Time>,
    /// Moment of the first look.
    pub begun: Time,
    /// Whether its process was looked for.
    pub(super) is_named: bool,
    /// The looks, one at least. An idle connection keeps one.
    looks: VecDeque<Look>,
}

impl Entry {
    fn new(time: Time, first: Connection) -> Entry {
        let looks = VecDeque::from([Look { time, info: first.info.clone() }]);
        Entry { first, process: None, closed: None, begun: time, is_named: false, looks }
    }

    /// The looks, the oldest one first.
    pub fn looks(&self) -> impl DoubleEndedIterator<Item = &Look> + ExactSizeIterator {
        self.looks.iter()
    }

    /// The last look.
    pub fn last(&self) -> &Look {
        // An entry begins with a look, and never loses its last one.
        &self.looks[self.looks.len() - 1]
    }

    /// Whether data has moved within the looks, or is about to.
    pub fn is_awake(&self) -> bool {
        self.looks.len() > 1
    }

    /// Whether it waits for the look that tells whether it is idle.
    pub(super) fn is_fresh(&self) -> bool {
        self.looks.len() == 1 && self.last().time == self.begun
    }

    /// Adds a look, of at most `most`. Of looks that have seen nothing the last one is left.
    fn push(&mut self, time: Time, info: TcpInfo, most: usize) {
        let info = info.after(&self.last().info);
        if !has_moved(&self.looks[0].info, &info) {
            self.looks.clear();
        }
        self.looks.push_back(Look { time, info });
        while self.looks.len() > most {
            self.looks.pop_front();
        }
    }

    /// State now, with rates over the time `over` before the last look.
    pub fn figures(&self, over: Time) -> Figures {
        let last = self.last();
        let from = Time(last.time.0.saturating_sub(over.0));
        let base = self.looks.iter().rev().find(|own| own.time <= from);
        let base = base.unwrap_or(&self.looks[0]);
        let spent = Time(last.time.0 - base.time.0).as_secs_f64();
        let rate = |of: fn(&TcpInfo) -> u64| match spent > 0.0 && self.closed.is_none() {
            true => of(&last.info).saturating_sub(of(&base.info)) as f64 / spent,
            false => 0.0,
        };
        let (sent, received) = (rate(|own| own.bytes_acked), rate(|own| own.bytes_received));
        let again = |of: &TcpInfo| last.info.total_retrans.saturating_sub(of.total_retrans);
        Figures {
            sent,
            received,
            retransmitted: again(&base.info),
            retransmitted_so_far: again(&self.first.info),
            limit: self.limit(base.time, sent, received),
        }
    }

    /// Limit that held most of the time since `from`; none where only the other end could tell.
    fn limit(&self, from: Time, sent: f64, received: f64) -> Option<&'static About> {
        let info = &self.last().info;
        if self.closed.is_some() {
            return Some(Derived::Done.about());
        }
        if info.state == state::SYN_SENT {
            return Some(Derived::Connecting.about());
        }

        // Unread data takes its room from the window. Before Linux 6.2 the kernel does not show the window.
        let unread = info.receiver_socket().unread;
        let is_slow = unread > 0 && 2 * unread >= info.rcv_wnd.into();
        if received > sent || is_slow && sent + received == 0.0 {
            return is_slow.then(|| Derived::Reader.about());
        }
        let mut looks = self.looks.iter().skip_while(|own| own.time < from);
        let base = looks.next()?;
        if !has_moved(&base.info, info) {
            return Some(Limit::Idle.about());
        }

        // The trace of these looks shares the time out, as it does in an observation.
        let at = |own: &Look| Connection { info: own.info.clone(), ..self.first.clone() };
        let mut flows = Flows::new(0, &at(base));
        let rows = looks.map(|own| flows.rows(Time(own.time.0 - base.time.0), &at(own)).0);
        let [sent, _] = rows.last()?;
        let most = (0..Limit::COUNT).max_by_key(|limit| sent.limits[*limit])?;
        Some(fullpipe_base::limits::about(most))
    }

    /// Bytes of both directions in each of the last `count` intervals before `now`.
    pub fn course(&self, over: Time, count: usize, now: Time) -> Vec<u64> {
        let mut bins = vec![0; count];
        let of = |own: &Look| own.info.bytes_acked + own.info.bytes_received;
        for (before, own) in self.looks.iter().zip(self.looks.iter().skip(1)) {
            let ago = now.0.saturating_sub(own.time.0) / over.0.max(1);
            let bin = usize::try_from(ago).ok().and_then(|ago| count.checked_sub(ago + 1));
            if let Some(bin) = bin {
                bins[bin] += of(own).saturating_sub(of(before));
            }
        }
        bins
    }

    /// Bytes sent and received since the first look that is kept.
    pub fn sent_and_received(&self) -> [u64; 2] {
        let of = |own: &TcpInfo| [own.bytes_acked, own.bytes_received];
        let [first, last] = [&self.looks[0], self.last()].map(|own| of(&own.info));
        [0, 1].map(|at| last[at].saturating_sub(first[at]))
    }

    /// Bytes of both directions since the first look that is kept.
    pub fn moved(&self) -> u64 {
        self.sent_and_received().iter().sum()
    }
}

/// State of a connection over an interval.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Bytes per second that the other end has acknowledged.
    pub sent: f64,
    /// Bytes per second that have arrived in order.
    pub received: f64,
    /// Segments sent again in the interval.
    pub retransmitted: u64,
    /// Segments sent again since the first look.
    pub retransmitted_so_far: u64,
    /// Limit that held most of the interval; none where only the other end could tell.
    pub limit: Option<&'static About>,
}

/// Whether data has moved from one look to the other, or waits to.
fn has_moved(before: &TcpInfo, now: &TcpInfo) -> bool {
    let counted = |own: &TcpInfo| {
        [own.bytes_sent, own.bytes_acked, own.bytes_received, own.total_retrans, own.state.into()]
    };
    counted(before) != counted(now) || now.unacked > 0 || now.notsent_bytes > 0
}

/// The connections that are watched.
#[derive(Clone, Debug)]
pub struct Board {
    entries: BTreeMap<Cookie, Entry>,
    room: Room,
    /// Looks that a connection may keep now.
    each: usize,
    /// Moment of the last looks.
    now: Time,
}

impl Board {
    /// A board without connections.
    pub fn new(room: Room) -> Board {
        Board { entries: BTreeMap::new(), room, each: room.each, now: Time::ZERO }
    }

    /// The connections, in the order of their cookies.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// The connections, for their names.
    pub(super) fn entries_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.entries.values_mut()
    }

    /// Moment of the last looks.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The connection of a socket.
    pub fn get(&self, cookie: &Cookie) -> Option<&Entry> {
        self.entries.get(cookie)
    }

    /// Takes a look at a socket.
    pub fn look(&mut self, time: Time, own: Connection) {
        match self.entries.get_mut(&own.cookie) {
            Some(entry) => entry.push(time, own.info, self.each),
            None => _ = self.entries.insert(own.cookie, Entry::new(time, own)),
        }
    }

    /// The socket is gone.
    pub fn close(&mut self, cookie: &Cookie, time: Time) {
        if let Some(entry) = self.entries.get_mut(cookie) {
            entry.closed = Some(time);
        }
    }

    /// Forgets what does not fit the room any more.
    pub fn tidy(&mut self, now: Time) {
        self.now = now;
        let kept = self.room.closed;
        let is_kept = |own: &Entry| own.closed.is_none_or(|at| now.0 < at.0.saturating_add(kept.0));
        self.entries.retain(|_, own| is_kept(own));

        // Closed ones make room first, the oldest before the others.
        let looks = |own: &Entry| own.looks.len();
        let mut all: usize = self.entries.values().map(looks).sum();
        let mut closed: Vec<(Time, Cookie)> =
            self.entries.iter().filter_map(|(cookie, own)| Some((own.closed?, *cookie))).collect();
        closed.sort_unstable();
        for (_, cookie) in closed {
            if all <= self.room.all {
                break;
            }
            all -= self.entries.remove(&cookie).as_ref().map_or(0, looks);
        }
        let awake = self.entries.values().filter(|own| own.is_awake()).count();
        self.each = (self.room.all / awake.max(1)).clamp(FEWEST, self.room.each);
    }

    /// The trace of some connections, in this order, from their looks not before `from` on.
    pub fn observed(
        &self,
        chosen: &[Cookie],
        from: Time,
        host: Host,
        sink: &mut dyn Sink,
    ) -> Followed {
        let entries = chosen.iter().filter_map(|cookie| self.entries.get(cookie));
        let since = |time: Time| Time(time.0.saturating_sub(from.0));
        let all: Vec<Looks> = entries
            .filter_map(|own| {
                let mut looks = own.looks.iter().filter(|own| own.time >= from);
                let zero = looks.next()?;
                let first = Connection { info: zero.info.clone(), ..own.first.clone() };
                let later = looks.map(|own| (since(own.time), own.info.clone())).collect();
                let closed = own.closed.map(since);
                let (begun, process) = (since(zero.time), own.process.clone());
                Some(Looks { first, begun, later, process, closed })
            })
            .collect();
        let end = all.iter().filter_map(|own| own.later.last()).map(|own| own.0).max();
        let subjects = write(all, host.sysctls.tcp_wmem.map(|own| own[2]), sink);
        let (lasted, lateness) = (end.unwrap_or(Time::ZERO), Lateness::default());
        Followed { subjects, host, lateness, lasted, stopped: false }
    }
}

#[cfg(test)]
mod tests {
    use super::super::replay::tests::Rows;
    use super::*;

    const ROOM: Room = Room { all: 64, each: 40, closed: Time::secs(5) };

    fn connection(number: u8, info: TcpInfo) -> Connection {
        Connection {
            here: ([10, 0, 0, 1], number.into()).into(),
            there: ([10, 0, 0, 2], 80).into(),
            cookie: [number; 8],
            inode: 0,
            congestion: "cubic".into(),
            info: TcpInfo { state: 1, ..info },
        }
    }

    /// A sender that had so many bytes acknowledged.
    fn sent(bytes: u64) -> TcpInfo {
        let busy_time = bytes / 10;
        TcpInfo { bytes_acked: bytes, bytes_sent: bytes, busy_time, ..TcpInfo::default() }
    }

    #[test]
    fn an_idle_connection_keeps_one_look_and_a_busy_one_a_bounded_number() {
        let mut board = Board::new(ROOM);
        for second in 0..100 {
            board.look(Time::secs(second), connection(1, sent(7)));
            board.look(Time::secs(second), connection(2, sent(1000 * second)));
            board.tidy(Time::secs(second));
        }
        let looks = |number: u8| board.get(&[number; 8]).map(|own| own.looks().len());
        assert_eq!((looks(1), looks(2)), (Some(1), Some(40)));

        // One that falls silent is forgotten but for its last look, when no look has seen it move.
        for second in 100..200 {
            board.look(Time::secs(second), connection(2, sent(99_000)));
        }
        assert_eq!(board.get(&[2; 8]).map(|own| own.looks().len()), Some(1));
    }

    #[test]
    fn rates_are_those_of_the_interval() {
        let mut board = Board::new(ROOM);
        for (ms, bytes) in [(0, 0), (500, 1_000_000), (1000, 1_100_000), (1500, 1_200_000)] {
            board.look(Time::ms(ms), connection(1, sent(bytes)));
        }
        let own = board.get(&[1; 8]).expect("the connection");
        assert_eq!(own.figures(Time::secs(1)).sent, 200_000.0);
        assert_eq!(own.figures(Time::ms(500)).sent, 200_000.0);
        assert_eq!(own.figures(Time::secs(60)).sent, 800_000.0, "since the first look");
        let course = own.course(Time::secs(1), 3, Time::ms(1500));
        assert_eq!(course, [0, 1_000_000, 200_000], "each look counts when it is taken");

        board.close(&[1; 8], Time::secs(2));
        let closed = board.get(&[1; 8]).expect("the connection").figures(Time::secs(1));
        assert_eq!((closed.sent, closed.limit.map(|own| own.name)), (0.0, Some("done")));
        board.tidy(Time::secs(8));
        assert!(board.get(&[1; 8]).is_none(), "kept for 5 s");
    }

    #[test]
    fn closed_ones_make_room_first() {
        let mut board = Board::new(Room { all: 10, closed: Time::NEVER, ..ROOM });
        for number in 1..4 {
            for at in 0..6 {
                board.look(Time::secs(at), connection(number, sent(at)));
            }
        }
        board.close(&[2; 8], Time::secs(7));
        board.close(&[1; 8], Time::secs(8));
        board.tidy(Time::secs(9));
        let left: Vec<u8> = board.entries().map(|own| own.first.cookie[0]).collect();
        assert_eq!(left, [3]);
    }

    #[test]
    fn the_limit_is_what_held_most_of_the_interval() {
        let limit = |infos: [TcpInfo; 3]| {
            let mut board = Board::new(ROOM);
            for (at, info) in infos.into_iter().enumerate() {
                board.look(Time::ms(100 * at as u64), connection(1, info));
            }
            let figures = board.get(&[1; 8]).expect("the connection").figures(Time::secs(1));
            figures.limit.map(|own| own.name)
        };
        let window = |us: u64| TcpInfo {
            rwnd_limited: us,
            busy_time: us,
            unacked: 5,
            notsent_bytes: 9_000,
            ..sent(us)
        };
        assert_eq!(limit([window(0), window(90_000), window(190_000)]), Some("receive_window"));
        let full = |us: u64| TcpInfo { rwnd_limited: 0, snd_cwnd: 5, ..window(us) };
        let full = [full(0), full(100_000), full(200_000)];
        assert_eq!(
            limit(full.map(|own| TcpInfo { snd_ssthresh: 4, ..own })),
            Some("cwnd_avoidance")
        );
        assert_eq!(limit([sent(9), sent(9), sent(9)]), Some("idle"));

        // A reader that has stopped moves nothing.
        let unread = TcpInfo { rqueue: 60_000, rcv_wnd: 1000, bytes_received: 70_000, ..sent(9) };
        assert_eq!(limit([unread.clone(), unread.clone(), unread]), Some("reader"));

        // The receiving end knows only whether its own program reads.
        let receives = |bytes: u64, rqueue: u32| TcpInfo {
            bytes_received: bytes,
            rqueue,
            rcv_wnd: 1000,
            ..TcpInfo::default()
        };
        assert_eq!(limit([receives(0, 0), receives(5, 0), receives(10, 0)]), None);
        for (rqueue, expected) in [(9_000, Some("reader")), (500, Some("reader")), (499, None)] {
            let slow = [receives(0, 0), receives(5000, 0), receives(10_000, rqueue)];
            assert_eq!(limit(slow), expected, "{rqueue}");
        }
    }

    #[test]
    fn a_trace_begins_with_its_first_look() {
        let mut board = Board::new(ROOM);
        for second in 0..10 {
            board.look(Time::secs(second), connection(1, sent(1000 * second)));
            if second > 6 {
                board.look(Time::secs(second), connection(2, sent(500 * second)));
            }
        }
        let mut rows = Rows::default();
        let from = Time::secs(4);
        let followed = board.observed(&[[2; 8], [1; 8]], from, Host::default(), &mut rows);
        let ports: Vec<u16> = followed.subjects.iter().map(|own| own.first.here.port()).collect();
        assert_eq!((ports, followed.lasted), (vec![2, 1], Time::secs(5)));
        let of = |flow: u16| -> Vec<(Time, u64)> {
            rows.0
                .iter()
                .filter(|row| row.flow == flow)
                .map(|row| (row.time, row.bytes_acked))
                .collect()
        };
        assert_eq!(of(0), [(Time::secs(4), 500), (Time::secs(5), 1000)]);
        assert_eq!(of(2)[0], (Time::secs(1), 1000));
        let late = rows.0.iter().find(|row| row.flow == 0).expect("a row");
        assert_eq!(late.limits[Limit::Idle as usize], Time::secs(3).0, "before it was there");
    }
}
