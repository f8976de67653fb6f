//! A receive buffer that is more than full.
//!
//! Source: Linux 2.6.20 `tcp_prune_queue`; 6.1 and 6.12 `tcp_try_rmem_schedule`, `tcp_prune_queue`, `tcp_clamp_window`,
//! `tcp_prune_ofo_queue`, `tcp_data_queue`. Not modelled: copies of data beyond holes (`tcp_collapse_ofo_queue`), and
//! all copies in 2.6.20.
//!
//! Limits:
//! - Up to 3.14 no data is copied (`tcp_collapse`), and the buffer does not grow to its content (`tcp_clamp_window`).

use super::{OutOfOrder, Receiver};
use crate::tcp::Segment;
use crate::tcp::memory::{Member, TcpMemory};
use crate::tcp::profile::ReceiveShortage;

impl Receiver {
    /// Shares the memory of the host from now on. Under pressure the socket may have `least` bytes (the first number of
    /// tcp_rmem).
    pub(crate) fn share_memory(&mut self, memory: &TcpMemory, least: u64) {
        self.window.share(memory.clone());
        self.fast.share(Member::new(memory, least));
    }

    /// Counts the socket among its host's, until all data is read.
    pub(crate) fn open_in_memory(&mut self) {
        if let Some(own) = self.fast.member() {
            own.open();
        }
    }

    /// Ends this, after the program has read the end of the stream and closes.
    pub(crate) fn close_in_memory(&mut self) {
        if self.has_ended
            && self.readable() == 0
            && let Some(own) = self.fast.member()
        {
            own.close();
        }
    }

    /// Returns discarded memory to the host at once.
    fn follow_common(&mut self) {
        if self.fast.is_shared() {
            self.fast.follow(self.window.rmem_alloc);
        }
    }

    /// Takes memory for a segment, or frees some; `next`: the segment is in order. Returns whether there is memory. If
    /// not, it may request an ACK with a closed window.
    pub(super) fn has_room(&mut self, segment: &Segment, next: bool) -> bool {
        let truesize = self.truesize(segment);
        let first = next && self.waiting.bytes() == 0;
        // 6.1 tcp_data_queue: an empty queue takes a segment in any case.
        if first && self.profile.receive_shortage == ReceiveShortage::Grow {
            self.fast.force(truesize);
            return true;
        }

        // tcp_try_rmem_schedule: no shortage.
        if self.window.has_room() && self.fast.schedule(truesize) {
            return true;
        }

        let spares = match self.profile.receive_shortage {
            ReceiveShortage::Discard => {
                if next {
                    self.discard_beyond_hole();
                }
                self.fast.force(truesize);
                return self.window.has_room();
            }
            ReceiveShortage::Grow => 0,
            ReceiveShortage::GrowOrClose => segment.seq,
        };

        // tcp_prune_queue, then tcp_prune_ofo_queue as long as the host lacks pages.
        let found = self.prune(spares) && self.schedule_or_prune(truesize, spares);
        if next && !found {
            self.ask_to_shut();
        }
        if first && !found {
            self.fast.force(truesize);
        }
        first || found
    }

    /// Frees memory; returns whether the buffer has room, or had (tcp_prune_queue). Data before `seq` is kept.
    fn prune(&mut self, seq: u64) -> bool {
        self.prunes += 1;

        // tcp_clamp_window lets the buffer grow; under pressure the window shrinks (tcp_adjust_rcv_ssthresh).
        if self.window.rmem_alloc >= self.window.rcvbuf {
            self.acks.quick = 0;
            self.window.clamp(!self.is_locked);
        } else {
            self.window.save_memory();
        }

        // tcp_collapse copies unread data.
        if !self.window.has_room() {
            self.collapse();
        }

        // tcp_prune_ofo_queue discards data beyond holes.
        if !self.window.has_room() {
            self.prune_beyond_hole(seq);
        }
        let found = self.window.has_room();
        self.prunes_failed += u64::from(!found);
        found
    }

    /// Takes memory from the host, and discards data beyond holes for it; returns whether there was enough.
    fn schedule_or_prune(&mut self, truesize: u64, seq: u64) -> bool {
        loop {
            if self.fast.schedule(truesize) {
                return true;
            }
            if !self.prune_beyond_hole(seq) {
                return false;
            }
        }
    }

    /// Copies unread data into fewer skbs.
    fn collapse(&mut self) {
        let Receiver { waiting, window, fast, rcv_nxt, mib, .. } = self;
        fast.follow(window.rmem_alloc);
        let mut all = 0;
        waiting.collapse(
            *rcv_nxt,
            |memory| window.of_memory(memory),
            |change| {
                all += change;
                // An skb without data left returns its memory.
                mib.collapsed += u64::from(change < 0);
                fast.charge(change);
            },
        );
        window.rmem_alloc = window.rmem_alloc.saturating_add_signed(all);
    }

    /// Closes the window for lack of memory, in 6.12, if the segment is the next one (ICSK_ACK_NOMEM).
    fn ask_to_shut(&mut self) {
        if self.profile.receive_shortage == ReceiveShortage::GrowOrClose {
            self.acks.schedule();
            self.acks.now = true;
            self.window.shut();
        }
    }

    fn discard_beyond_hole(&mut self) {
        let profile = &*self.profile;
        let empty = OutOfOrder::new(profile.rx_overhead, profile.joins_received);
        let thrown_away = core::mem::replace(&mut self.out_of_order, empty);
        self.dropped += thrown_away.segments();
        self.window.rmem_alloc -= thrown_away.memory();
    }

    /// Discards the data furthest beyond a hole, an eighth of the buffer at a time, until the rest has room. Data
    /// before `seq`, where a segment begins, is kept. Returns whether data was discarded.
    fn prune_beyond_hole(&mut self, seq: u64) -> bool {
        let (step, had) = (self.window.rcvbuf >> 3, self.out_of_order.segments());
        let mut freed = 0;
        while let Some(memory) = self.out_of_order.drop_last(seq, self.mss) {
            self.window.rmem_alloc -= memory;
            freed += memory;
            if freed < step && !self.out_of_order.is_empty() {
                continue;
            }
            if self.window.has_room() && !self.window.is_under_pressure() {
                break;
            }
            freed = 0;
        }
        let gone = had - self.out_of_order.segments();
        self.dropped += gone;
        self.follow_common();
        gone > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Host;
    use crate::tcp::Ack;
    use crate::tcp::memory::{PAGE, Request};
    use crate::tcp::profile::find;
    use crate::units::Time;

    const MSS: u32 = 1448;

    /// A socket of a host with other sockets that hold `others` pages of this memory.
    fn receiver(kernel: &str, tcp_mem: [u64; 3], others: u64) -> (Receiver, TcpMemory) {
        let mut host = Host { timestamps: true, ..Host::plain(kernel) };
        host.sysctl.tcp_mem = Some(tcp_mem);
        host.sysctl.tcp_rmem = [4096, 131_072, 6_291_456];
        let memory = TcpMemory::new(&host).expect("it is set");
        let request = Request { pages: others, held: others * PAGE, below_least: false };
        if others > 0 && !memory.raise(request) {
            memory.force(others);
        }
        let mut tcp = Receiver::new(find(kernel).expect("it is known"), &host, MSS, None);
        tcp.share_memory(&memory, 4096);
        tcp.open_in_memory();
        (tcp, memory)
    }

    fn segment(number: u64) -> Segment {
        Segment { seq: number * u64::from(MSS), len: MSS, tsval: 5, ..Segment::default() }
    }

    /// Last ACK of so many segments, each of which is read at once.
    fn read_at_once(tcp: &mut Receiver, segments: u64) -> Ack {
        let mut last = None;
        for number in 0..segments {
            let now = Time::ms(number);
            last = tcp.on_segment(now, segment(number)).or(last);
            last = tcp.read(now, MSS.into()).or(last);
        }
        last.expect("an ACK")
    }

    /// tcp_adjust_rcv_ssthresh; the window is rounded to units of its scale.
    #[test]
    fn under_pressure_a_socket_offers_four_segments() {
        let four = 4 * u64::from(MSS);
        for kernel in ["6.1", "6.12"] {
            let (mut tcp, memory) = receiver(kernel, [256, 512, 100_000], 1024);
            let window = read_at_once(&mut tcp, 60).window;
            assert!(memory.is_under_pressure(), "{kernel}");
            assert!((four..four + (1 << tcp.wscale())).contains(&window), "{kernel}: {window}");

            let (mut tcp, memory) = receiver(kernel, [4096, 8192, 100_000], 1024);
            assert!(read_at_once(&mut tcp, 60).window > 2 * four, "{kernel}");
            assert!(!memory.is_under_pressure(), "{kernel}");
        }
    }

    /// Above the third number an empty queue takes one segment, and then none (tcp_data_queue). 6.12 closes the window
    /// for it.
    #[test]
    fn without_memory_a_socket_takes_one_segment() {
        for (kernel, closes) in [("6.1", false), ("6.12", true)] {
            let (mut tcp, _) = receiver(kernel, [256, 512, 1024], 2048);
            let answer = tcp.on_segment(Time::ms(0), segment(0));
            assert_eq!((tcp.rcv_nxt, tcp.dropped), (MSS.into(), 0), "{kernel}");
            assert_eq!(answer.map(|ack| ack.window) == Some(0), closes, "{kernel}");
            tcp.on_segment(Time::ms(1), segment(1));
            assert_eq!((tcp.rcv_nxt, tcp.dropped), (MSS.into(), 1), "{kernel}");
            tcp.read(Time::ms(2), MSS.into());
            tcp.on_segment(Time::ms(3), segment(1));
            assert_eq!(tcp.rcv_nxt, 2 * u64::from(MSS), "{kernel}");
        }
    }

    /// A read returns memory to the host, down to the last page.
    #[test]
    fn a_socket_without_data_holds_no_page() {
        let (mut tcp, memory) = receiver("6.12", [1 << 20; 3], 0);
        (0..40).for_each(|number| _ = tcp.on_segment(Time::ms(number), segment(number)));
        // A hole and data beyond it.
        tcp.on_segment(Time::ms(50), segment(41));
        let held = memory.pages();
        assert!(held * PAGE >= tcp.window.rmem_alloc && (held - 1) * PAGE < tcp.window.rmem_alloc);
        tcp.on_segment(Time::ms(51), segment(40));
        tcp.read(Time::ms(60), 42 * u64::from(MSS));
        assert_eq!((tcp.window.rmem_alloc, memory.pages()), (0, 0));
    }
}
