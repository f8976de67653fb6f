//! The looks that are kept as an observation, judged as `fullpipe diagnose` does.

use crate::diagnose::{Keeping, text};
use crate::failure::Failure;
use fullpipe::analysis::document::Run;
use fullpipe::base::units::Time;
use fullpipe::observation::live::{Board, Cookie, Entry, Host, Lateness};
use fullpipe::observation::{self, Judged, Manner, Namespace, Observation, Unable};
use fullpipe::report::terminal::Style;
use fullpipe::results::provenance::Provenance;
use fullpipe::results::rundir::Place;
use fullpipe::trace::recording::Recording;
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Time that a verdict is about.
const SPAN: Time = Time::secs(10);
/// Least time that has a verdict.
const SHORTEST: Time = Time::ms(500);
/// Other connections in the trace of a kept one.
const BESIDE: usize = 16;

/// The host of the connections: its settings are those of a namespace.
#[derive(Debug, Default)]
pub struct Hosts {
    /// The namespace; none where it is the caller's.
    pub namespace: Option<Namespace>,
    /// Time between two looks.
    pub every: Duration,
}

impl Hosts {
    /// Settings, with the device towards an address.
    pub fn towards(&self, peer: IpAddr) -> Host {
        let look = || -> Result<Host, Unable> { Ok(Host::here(peer)) };
        let seen = self.namespace.as_ref().map_or_else(look, |own| own.during(look));
        seen.unwrap_or_default()
    }

    /// The trace of connections since a moment, the first ones of which are judged.
    pub fn observation(
        &self,
        board: &Board,
        chosen: &[Cookie],
        judged: usize,
        from: Time,
    ) -> Observation {
        let first = chosen.iter().find_map(|own| board.get(own));
        let host = first.map_or_else(Host::default, |own| self.towards(own.first.there.ip()));
        let mut recording = Recording::default();
        let followed = board.observed(chosen, from, host, &mut recording);
        let lasts = Duration::from_nanos(followed.lasted.0);
        let manner = Manner { every: self.every, lasts, always_writes: false };
        Observation { followed, recording, judged, manner }
    }
}

/// Place and origin of a result.
pub struct Kept<'a> {
    /// Its directory.
    pub place: &'a Place,
    /// Command, start and length of the watch.
    pub provenance: Provenance,
}

impl Hosts {
    /// Keeps the busiest connections, `most` of them, each as a run beside some others; none where no data has moved.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub fn keep(
        &self,
        board: &Board,
        most: usize,
        lateness: Lateness,
        kept: &Kept,
    ) -> Result<Option<PathBuf>, Failure> {
        let busiest = busiest(board);
        if busiest.is_empty() {
            return Ok(None);
        }
        let keeping = Keeping::begin(kept.place)?;
        let begun = |own: &Cookie| board.get(own)?.looks().next().map(|own| own.time);
        let (mut runs, mut names) = (Vec::new(), Vec::new());
        for own in busiest.iter().take(most) {
            let others = busiest.iter().filter(|other| *other != own).take(BESIDE);
            let chosen: Vec<Cookie> = std::iter::once(own).chain(others).copied().collect();

            // One trace at a time is in memory.
            let from = begun(own).unwrap_or(Time::ZERO);
            let mut observation = self.observation(board, &chosen, 1, from);
            observation.followed.lateness = lateness;
            for judged in observation.runs() {
                // Ends are used again, and the busier connection of the two is kept.
                if names.contains(&judged.run.variant) {
                    continue;
                }
                keeping.add(&judged.run, &judged.recording)?;
                names.push(judged.run.variant.clone());
                runs.push(judged.run);
            }
        }
        let document = observation::document(&format!("Connection {}", names.join(", ")), runs);
        keeping.finish(&document, &kept.provenance).map(Some)
    }
}

/// Connections on which data has moved, the busiest first. Where both ends are there, the sending one stands for both.
fn busiest(board: &Board) -> Vec<Cookie> {
    let awake: Vec<&Entry> = board.entries().filter(|own| own.moved() > 0).collect();
    let sends = |own: &Entry| {
        let [sent, received] = own.sent_and_received();
        sent > received
    };
    let sending = awake.iter().filter(|own| sends(own));
    let sending: BTreeSet<[SocketAddr; 2]> =
        sending.map(|own| [own.first.here, own.first.there]).collect();
    let is_mirror = |own: &Entry| sending.contains(&[own.first.there, own.first.here]);
    let mut busiest: Vec<&Entry> =
        awake.into_iter().filter(|own| sends(own) || !is_mirror(own)).collect();
    busiest.sort_by_key(|own| std::cmp::Reverse(own.moved()));
    busiest.iter().map(|own| own.first.cookie).collect()
}

/// Verdict on the last seconds of a connection; empty where they are too few.
pub fn verdict(board: &Board, chosen: Cookie, now: Time, hosts: &Hosts, width: usize) -> String {
    let Some(entry) = board.get(&chosen) else { return String::new() };
    let since = Time(now.0.saturating_sub(SPAN.0));
    let first = entry.looks().map(|own| own.time).find(|time| *time >= since);
    let Some(from) = first.filter(|from| entry.last().time >= *from + SHORTEST) else {
        return String::new();
    };
    let observation = hosts.observation(board, &[chosen], 1, from);
    let judged = observation.runs();
    let runs: Vec<Run> = judged.iter().map(|own: &Judged| own.run.clone()).collect();
    let document = observation::document("", runs);
    let style = Style { width, color: false };
    text::text(&document, &observation, &judged, style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe::observation::live::{Connection, Room};
    use fullpipe::observation::tcp_info::TcpInfo;

    const ROOM: Room = Room { all: 10_000, each: 1_000, closed: Time::NEVER };

    fn connection(ports: [u16; 2], info: TcpInfo) -> Connection {
        Connection {
            here: ([127, 0, 0, 1], ports[0]).into(),
            there: ([127, 0, 0, 1], ports[1]).into(),
            cookie: [ports[0] as u8; 8],
            inode: 0,
            congestion: "cubic".into(),
            info: TcpInfo { state: 1, ..info },
        }
    }

    /// A sender that the other end's window of 64 KiB stops for the whole of each 50 ms round trip.
    fn stopped(ms: u64) -> TcpInfo {
        TcpInfo {
            snd_mss: 1448,
            rcv_mss: 536,
            pmtu: 1500,
            advmss: 1448,
            snd_cwnd: 200,
            snd_ssthresh: 0x7fff_ffff,
            unacked: 45,
            notsent_bytes: 500_000,
            rtt: 50_000,
            min_rtt: 50_000,
            rto: 250_000,
            snd_wnd: 65_536,
            options: 7,
            snd_wscale: 7,
            rcv_wscale: 7,
            busy_time: 1000 * ms,
            rwnd_limited: 1000 * ms,
            bytes_acked: 1311 * ms,
            bytes_sent: 1311 * ms + 65_160,
            data_segs_out: 1311 * ms / 1448 + 45,
            segs_in: 1311 * ms / 2896,
            delivered: 1311 * ms / 1448,
            ..TcpInfo::default()
        }
    }

    fn board(lasts: u64) -> Board {
        let mut board = Board::new(ROOM);
        for ms in (0..=lasts).step_by(100) {
            board.look(Time::ms(ms), connection([1, 2], stopped(1000 + ms)));
        }
        board
    }

    #[test]
    fn the_verdict_is_that_of_diagnose_and_needs_some_time() {
        let hosts = Hosts { namespace: None, every: Duration::from_millis(100) };
        let of = |lasts| verdict(&board(lasts), [1; 8], Time::ms(lasts), &hosts, 80);
        let text = of(20_000);
        assert!(text.starts_with("10.5 Mb/s. ") && text.contains("window"), "{text}");
        assert!(text.contains("127.0.0.1:1 > 127.0.0.1:2: sends 10.5 Mb/s"), "{text}");
        assert_eq!(of(400), "");
    }

    #[test]
    fn the_sending_end_stands_for_a_connection() {
        let mut board = board(1000);
        for (ms, bytes) in [(0, 0), (1000, 9_000_000)] {
            let received = TcpInfo { bytes_received: bytes, ..TcpInfo::default() };
            board.look(Time::ms(ms), connection([2, 1], received.clone()));
            board.look(Time::ms(ms), connection([3, 9], received));
            board.look(Time::ms(ms), connection([4, 9], TcpInfo::default()));
        }
        assert_eq!(busiest(&board), [[3; 8], [1; 8]]);
    }
}
