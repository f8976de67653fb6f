//! nuttcp in words: "  2.3750 MB /   1.00 sec =   19.8584 Mbps     0 retrans", and the total with its CPU.

use super::command;
use super::iperf_text::without_sliver;
use super::lines::{Line, number};
use super::transfer::{Row, Stream, Tool, Transfer};

/// Words behind drops and packets: of an interval, and of a total.
const DROPS: [&str; 2] = ["~drop/pkt", "drop/pkt"];
/// Bytes of nuttcp's MB.
const MB: f64 = 1_048_576.0;

/// The transfers of a text.
pub fn read(lines: &[Line]) -> Vec<Transfer> {
    let mut done = Vec::new();
    let mut now = Transfer::default();
    for line in lines {
        if let Some(asked) = command::asked(line, Tool::Nuttcp) {
            end(&mut now, &mut done);
            now.asked = asked;
        }
        let words = line.words();
        let Some((mut row, is_total)) = row(&words) else { continue };
        row.line = line.number;
        if now.streams.is_empty() {
            now.line = line.number;
            now.streams.push(Stream { id: "1".into(), sums: 1, ..Stream::default() });
        }
        now.until = line.number;
        now.udp |= words.iter().any(|own| DROPS.contains(own));
        if !is_total {
            add(&mut now.streams[0].rows, row);
            continue;
        }
        (now.cpu_sender, now.cpu_receiver) = (percent(&words, "%TX"), percent(&words, "%RX"));
        now.streams[0].sent = Some(row.clone());
        now.streams[0].received = Some(row);
        end(&mut now, &mut done);
    }
    end(&mut now, &mut done);
    done
}

/// Adds an interval behind the others: the text has lengths and no times.
fn add(rows: &mut Vec<Row>, row: Row) {
    let from = rows.last().map_or(0.0, |own| own.to);
    let own = Row { from, to: from + row.to, ..row };
    if own.is_sound() {
        rows.push(own);
    }
}

/// Ends a transfer.
fn end(now: &mut Transfer, done: &mut Vec<Transfer>) {
    let mut own = std::mem::take(now);
    own.tool = Tool::Nuttcp;
    for stream in &mut own.streams {
        without_sliver(&mut stream.rows);
    }
    own.streams.retain(|stream| !stream.is_empty());
    if !own.streams.is_empty() {
        own.sends = Some(true);
        done.push(own);
    }
}

/// Length and bytes in words, from time 0 on; and whether they are a total.
fn row(words: &[&str]) -> Option<(Row, bool)> {
    let [bytes, "MB", "/", lasts, "sec", "=", _, "Mbps", rest @ ..] = words else { return None };
    let before = |unit: &str| {
        let at = rest.iter().position(|own| *own == unit)?;
        number(rest[at.checked_sub(1)?])
    };
    let mut row = Row { to: number(lasts)?, bytes: number(bytes)? * MB, ..Row::default() };

    // Version 6.1.2 prints 0 on new kernels, whatever is sent again.
    row.retransmits = before("retrans").map(|own| own as u64).filter(|own| *own > 0);
    row.cwnd = before("KB-cwnd").map(|own| own * 1024.0);
    row.rtt = before("msRTT").map(|own| (own * 1000.0) as u32);
    if let Some(at) = rest.iter().position(|own| DROPS.contains(own)) {
        // "0 / 75 ~drop/pkt"
        row.packets = at.checked_sub(1).and_then(|at| rest[at].parse().ok());
        row.lost = at.checked_sub(3).and_then(|at| rest[at].parse().ok());
    }
    let is_total = rest.contains(&"%TX") || rest.contains(&"msRTT");
    row.is_sound().then_some((row, is_total))
}

/// Number in front of a unit.
fn percent(words: &[&str], unit: &str) -> Option<f64> {
    let at = words.iter().position(|own| *own == unit)?;
    number(words[at.checked_sub(1)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::lines::clean;

    #[test]
    fn numbers_that_nothing_counts_are_none() {
        let text = "% nuttcp b\n 70.0 MB /   1.00 sec =  584.2 Mbps     1e308 retrans\n";
        let all = read(&clean(text));
        assert_eq!(all[0].streams[0].rows[0].retransmits, None);
    }

    #[test]
    fn intervals_and_total_are_one_transfer() {
        let text = "% nuttcp -T10 -i1 -w60m 192.0.2.15
   69.9829 MB /   1.00 sec =  584.2065 Mbps
  843.1467 MB /   1.00 sec = 7072.9052 Mbps     2 retrans

 7617.1875 MB /  10.01 sec = 6386.2622 Mbps 90 %TX 46 %RX 2 retrans 80.41 msRTT
   12.0000 MB /   1.00 sec =  100.0000 Mbps
";
        let all = read(&clean(text));
        assert_eq!(all.len(), 2);
        let own = &all[0];
        assert_eq!((own.cpu_sender, own.cpu_receiver), (Some(90.0), Some(46.0)));
        assert_eq!(own.asked.window, Some(60 << 20));
        let rows = &own.streams[0].rows;
        assert_eq!((rows.len(), rows[1].from, rows[1].retransmits), (2, 1.0, Some(2)));
        assert_eq!(own.streams[0].sent.as_ref().and_then(|own| own.rtt), Some(80_410));
    }

    #[test]
    fn datagrams_have_drops() {
        let text = "1.0 MB / 1.00 sec = 8.4 Mbps 5 / 75 ~drop/pkt 6.67 ~%loss\n";
        let own = &read(&clean(text))[0];
        let row = &own.streams[0].rows[0];
        assert_eq!((own.udp, row.lost, row.packets), (true, Some(5), Some(75)));
        assert_eq!(read(&clean("~drop/pkt\nnan MB / 1 sec = 3 Mbps\n")), []);
    }
}
