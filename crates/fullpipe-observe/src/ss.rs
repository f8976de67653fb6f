//! Connections in the text of `ss -tinm` of iproute2, printed once or again and again.
//!
//! Limits:
//! - The text has no times: the caller says how far apart its looks are.
//! - It has neither the congestion state nor the number of timeouts.

use crate::sockets::Connection;
use crate::tcp_info::TcpInfo;
use fullpipe_base::tcp::INFINITE_SSTHRESH;
use fullpipe_base::trace::option;
use std::net::SocketAddr;

/// States of a connection that carries data, by the names of ss and the numbers of Linux.
const STATES: [(&str, u8); 5] =
    [("ESTAB", 1), ("FIN-WAIT-1", 4), ("CLOSE-WAIT", 8), ("LAST-ACK", 9), ("CLOSING", 11)];

/// The looks in a text, oldest first: a connection that appears again begins the next look.
pub fn looks(text: &str) -> Vec<Vec<Connection>> {
    let mut looks: Vec<Vec<Connection>> = Vec::new();

    // A closed window is left out, and so is each window by versions that do not know it.
    let knows_window = text.contains("snd_wnd:");
    for own in connections(text, knows_window) {
        let is_same = |it: &Connection| it.here == own.here && it.there == own.there;
        match looks.last_mut() {
            Some(look) if !look.iter().any(is_same) => look.push(own),
            _ => looks.push(vec![own]),
        }
    }
    looks
}

/// All connections of a text: a line with state and ends, then lines that begin with a blank.
fn connections(text: &str, knows_window: bool) -> Vec<Connection> {
    let mut found: Vec<Connection> = Vec::new();
    let mut about: Option<(Connection, String)> = None;
    let mut keep = |about: &mut Option<(Connection, String)>| {
        if let Some((mut own, words)) = about.take() {
            read(&mut own, &words, knows_window);
            found.push(own);
        }
    };
    for line in text.lines() {
        if !line.starts_with([' ', '\t']) {
            keep(&mut about);
            about = connection(line).map(|own| (own, String::new()));
        }
        if let Some((_, words)) = &mut about {
            words.push(' ');
            words.push_str(line);
        }
    }
    keep(&mut about);
    found
}

/// State, queues and ends in a line; none where it has no connection.
pub(crate) fn connection(line: &str) -> Option<Connection> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (_, state) = STATES.into_iter().find(|(name, _)| words.first() == Some(name))?;
    let rqueue = words.get(1)?.parse().ok()?;
    let (here, there) = (end(words.get(3)?)?, end(words.get(4)?)?);
    let info = TcpInfo { state, rqueue, ..TcpInfo::default() };
    Some(Connection { here, there, cookie: [0; 8], inode: 0, congestion: String::new(), info })
}

/// An end, such as "10.0.0.1:80", "[::1]:80" or "10.0.0.1%eth0:80"; IPv4 of a dual-stack socket is IPv4.
fn end(word: &str) -> Option<SocketAddr> {
    let (address, port) = word.rsplit_once(':')?;
    let address = address.trim_start_matches('[').trim_end_matches(']');
    let address = address.split('%').next()?;
    let ip: std::net::IpAddr = address.trim_end_matches(']').parse().ok()?;
    Some(SocketAddr::new(ip.to_canonical(), port.parse().ok()?))
}

/// Reads the words about a socket.
pub(crate) fn read(own: &mut Connection, words: &str, knows_window: bool) {
    let info = &mut own.info;
    info.snd_ssthresh = INFINITE_SSTHRESH;
    info.min_rtt = u32::MAX;
    info.max_pacing_rate = u64::MAX;
    info.pacing_rate = u64::MAX;
    info.reordering = 3;
    info.snd_wnd = if knows_window { 0 } else { u32::MAX };

    let mut before = "";
    for word in words.split_whitespace() {
        match word.split_once(':') {
            Some(("skmem", value)) => memory(info, value),
            Some((name, value)) => field(info, name, value),
            None if before == "pacing_rate" => pace(info, word),
            None => flag(info, word),
        }

        // The congestion control is the word before the first number.
        if own.congestion.is_empty() && (word.starts_with("wscale:") || word.starts_with("rto:")) {
            let is_flag = ["ts", "sack", "ecn", "ecnseen", "fastopen"].contains(&before);
            own.congestion = if is_flag { String::new() } else { before.into() };
        }
        before = word;
    }
}

/// Memory of a socket, such as "(r0,rb131072,t0,tb4194304,f0,w0,o0,bl0,d0)".
fn memory(info: &mut TcpInfo, value: &str) {
    for part in value.trim_matches(['(', ')']).split(',') {
        let at = part.find(|letter: char| letter.is_ascii_digit()).unwrap_or(part.len());
        let (name, value) = part.split_at(at);
        let value = value.parse().unwrap_or(0);
        let memory = &mut info.memory;
        match name {
            "r" => memory.rmem_alloc = value,
            "rb" => memory.rcvbuf = value,
            "t" => memory.wmem_alloc = value,
            "tb" => memory.sndbuf = value,
            "w" => memory.wmem_queued = value,
            _ => {}
        }
    }
}

/// A word without a value: an option that both ends have agreed to.
fn flag(info: &mut TcpInfo, word: &str) {
    info.options |= match word {
        "ts" => option::TIMESTAMPS,
        "sack" => option::SACK,
        "ecn" => option::ECN,
        _ => 0,
    };
}

/// A field with its value.
fn field(info: &mut TcpInfo, name: &str, value: &str) {
    // Parts of a value are parted by "/" or ",", and shares stand in parentheses.
    let plain = value.split('(').next().unwrap_or_default();
    let mut parts = plain.split(['/', ',']);
    let [first, second] = [parts.next(), parts.next()].map(|own| own.unwrap_or_default());
    let whole = |text: &str| text.trim_end_matches("ms").parse::<u64>().unwrap_or(0);
    let (n, u) = (whole(first), whole(first) as u32);
    let us = |text: &str| (text.parse::<f64>().unwrap_or(0.0) * 1000.0).round() as u32;
    match name {
        "wscale" => {
            (info.snd_wscale, info.rcv_wscale) = (n as u8, whole(second) as u8);
            info.options |= option::WSCALE;
        }
        "rto" => info.rto = us(first),
        "rtt" => (info.rtt, info.rttvar) = (us(first), us(second)),
        "minrtt" => info.min_rtt = us(first),
        "rcv_rtt" => info.rcv_rtt = us(first),
        "backoff" => info.backoff = n as u8,
        "mss" => info.snd_mss = u,
        "rcvmss" => info.rcv_mss = u,
        "advmss" => info.advmss = u,
        "pmtu" => info.pmtu = u,
        "cwnd" => info.snd_cwnd = u,
        "ssthresh" => info.snd_ssthresh = u,
        "bytes_sent" => info.bytes_sent = n,
        "bytes_retrans" => info.bytes_retrans = n,
        "bytes_acked" => info.bytes_acked = n,
        "bytes_received" => info.bytes_received = n,
        "segs_in" => info.segs_in = n,
        "data_segs_in" => info.data_segs_in = n,
        "data_segs_out" => info.data_segs_out = n,
        "delivered" => info.delivered = n,
        "delivered_ce" => info.delivered_ce = n,
        "busy" => info.busy_time = n.saturating_mul(1000),
        "rwnd_limited" => info.rwnd_limited = n.saturating_mul(1000),
        "sndbuf_limited" => info.sndbuf_limited = n.saturating_mul(1000),
        "unacked" => info.unacked = u,
        "sacked" => info.sacked = u,
        "lost" => info.lost = u,
        "retrans" => (info.retrans, info.total_retrans) = (u, whole(second)),
        "dsack_dups" => info.dsack_dups = n,
        "reordering" => info.reordering = u,
        "reord_seen" => info.reord_seen = n,
        "rcv_ooopack" => info.rcv_ooopack = n,
        "rcv_space" => info.rcv_space = u,
        "rcv_ssthresh" => info.rcv_ssthresh = u,
        "notsent" => info.notsent_bytes = u,
        "snd_wnd" => info.snd_wnd = u,
        "rcv_wnd" => info.rcv_wnd = u,
        _ => {}
    }
}

/// Pace, and the largest one that the program allows, such as "8.5Mbps/12Mbps".
fn pace(info: &mut TcpInfo, word: &str) {
    let mut parts = word.split('/').map(bytes_per_second);
    info.pacing_rate = parts.next().flatten().unwrap_or(u64::MAX);
    info.max_pacing_rate = parts.next().flatten().unwrap_or(u64::MAX);
}

/// A rate such as "93115224bps" or "8.5Mbps", in bytes per second.
fn bytes_per_second(word: &str) -> Option<u64> {
    let text = word.strip_suffix("bps")?;
    let (number, factor) = match text.char_indices().last()? {
        (at, 'K') => (&text[..at], 1e3),
        (at, 'M') => (&text[..at], 1e6),
        (at, 'G') => (&text[..at], 1e9),
        (at, 'T') => (&text[..at], 1e12),
        _ => (text, 1.0),
    };
    Some((number.parse::<f64>().ok()? * factor / 8.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sender and a receiver, as iproute2 6.15 prints them.
    const TEXT: &str = "State Recv-Q Send-Q  Local Address:Port  Peer Address:PortProcess
ESTAB 29696  0       127.0.0.1:7401  [::ffff:127.0.0.1]:50596
\t skmem:(r96064,rb131072,t0,tb3939840,f2240,w0,o0,bl0,d1) bbr wscale:10,10 rto:200 rtt:0.029/0.014 ato:40 mss:32768 pmtu:65535 rcvmss:47616 advmss:65483 cwnd:10 bytes_received:3749888 segs_out:78 segs_in:84 data_segs_in:82 bbr:(bw:0bps,mrtt:0.029) send 90394482759bps lastsnd:780 pacing_rate 258333973752bps delivered:1 app_limited reordering:8 rcv_rtt:0.305 rcv_space:65483 rcv_ssthresh:95232 minrtt:0.029 snd_wnd:65536
ESTAB 0      3112960 [2001:db8::1%eth0]:50596 [2001:db8::2]:7401
\t ts sack cubic wscale:7,9 rto:212 backoff:2 rtt:10.195/0.226 mss:1448 pmtu:1500 cwnd:12 ssthresh:8 bytes_sent:3767808 bytes_retrans:17920 bytes_acked:3749889 data_segs_out:82 pacing_rate 93.5Mbps/120Mbps delivery_rate 70646880bps busy:780ms rwnd_limited:664ms(85.1%) unacked:7 retrans:1/9 lost:2 sacked:3 dsack_dups:1 notsent:3112960 minrtt:0.022
TIME-WAIT 0 0 127.0.0.1:1 127.0.0.1:2
";

    #[test]
    fn both_ends_are_read() {
        let looks = looks(TEXT);
        assert_eq!(looks.len(), 1);
        let [receiver, sender] = &looks[0][..] else { panic!("{looks:?}") };
        assert_eq!(receiver.there, ([127, 0, 0, 1], 50596).into());
        assert_eq!((receiver.congestion.as_str(), sender.congestion.as_str()), ("bbr", "cubic"));
        let own = &receiver.info;
        assert_eq!((own.rqueue, own.bytes_received, own.snd_wnd), (29_696, 3_749_888, 65_536));
        assert_eq!((own.memory.rmem_alloc, own.memory.rcvbuf), (96_064, 131_072));
        assert_eq!((own.rcv_rtt, own.pacing_rate), (305, 258_333_973_752 / 8));

        let own = &sender.info;
        assert_eq!(sender.here, "[2001:db8::1]:50596".parse().expect("an end"));
        assert_eq!((own.rtt, own.rttvar, own.min_rtt, own.rto), (10_195, 226, 22, 212_000));
        assert_eq!((own.snd_cwnd, own.snd_ssthresh, own.unacked), (12, 8, 7));
        assert_eq!((own.retrans, own.total_retrans, own.lost, own.sacked), (1, 9, 2, 3));
        assert_eq!((own.busy_time, own.rwnd_limited), (780_000, 664_000));
        assert_eq!((own.pacing_rate, own.max_pacing_rate), (11_687_500, 15_000_000));
        assert_eq!(own.options, option::TIMESTAMPS | option::SACK | option::WSCALE);
        assert_eq!((own.snd_wscale, own.rcv_wscale, own.snd_wnd), (7, 9, 0), "a closed window");
    }

    #[test]
    fn a_connection_that_appears_again_begins_a_look() {
        assert_eq!(looks(&TEXT.repeat(3)).len(), 3);
        assert_eq!(looks("").len(), 0);
        assert_eq!(looks("ESTAB x y\n ESTAB 0 0 a b\n").len(), 0);
        let old = TEXT.replace(" snd_wnd:65536", "");
        assert_eq!(looks(&old)[0][1].info.snd_wnd, u32::MAX, "a version without windows");
    }
}
