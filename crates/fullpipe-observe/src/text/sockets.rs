//! Sockets in the text of `ss`, with their lines.

use super::lines::Line;
use crate::sockets::Connection;
use crate::ss;

/// A socket that `ss` has printed.
#[derive(Clone, Debug, PartialEq)]
pub struct Printed {
    /// The connection.
    pub own: Connection,
    /// Whether this end's last data left before a full cwnd (`app_limited`).
    pub app_limited: bool,
    /// Line with its ends.
    pub line: usize,
    /// Last line about it.
    pub until: usize,
    /// Whether the version of `ss` prints windows.
    pub knows_window: bool,
    /// Whether memory was printed (`-m`).
    pub knows_memory: bool,
}

/// The sockets of a text.
pub fn read(lines: &[Line]) -> Vec<Printed> {
    let knows_window = lines.iter().any(|line| line.text.contains("snd_wnd:"));
    let mut all = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some(mut own) = ss::connection(&lines[at].text) else {
            at += 1;
            continue;
        };
        let first = at;
        let mut words = lines[at].text.clone();
        at += 1;
        while at < lines.len() && goes_on(&lines[at]) {
            words.push(' ');
            words.push_str(&lines[at].text);
            at += 1;
        }
        ss::read(&mut own, &words, knows_window);
        all.push(Printed {
            own,
            app_limited: words.split_whitespace().any(|word| word == "app_limited"),
            line: lines[first].number,
            until: lines[at - 1].number,
            knows_window,
            knows_memory: words.contains("skmem:("),
        });
    }
    all
}

/// Whether a line tells more about a socket. Mail programs break long lines, and drop the blanks at their beginning.
fn goes_on(line: &Line) -> bool {
    const NAMES: [&str; 10] = [
        "cwnd:",
        "rtt:",
        "bytes_acked:",
        "segs_out:",
        "rcv_space:",
        "minrtt:",
        "busy:",
        "snd_wnd:",
        "pacing_rate ",
        "delivered:",
    ];
    if line.text.trim().is_empty() || ss::connection(&line.text).is_some() {
        return false;
    }
    line.is_indented() || NAMES.iter().any(|name| line.text.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::lines::clean;

    #[test]
    fn broken_and_quoted_lines_are_one_socket() {
        let text = "> root@a:~# ss -tin dst 10.0.0.2
> State Recv-Q Send-Q Local Address:Port Peer Address:Port
>   ESTAB 0 260640 10.0.0.1:4000 10.0.0.2:80
> \t cubic wscale:7,7 rto:204 rtt:40.2/0.1 mss:1448 cwnd:180
> bytes_acked:1000000 busy:1000ms app_limited snd_wnd:65536
> root@a:~#
";
        let [own] = &read(&clean(text))[..] else { panic!("one") };
        assert_eq!((own.line, own.until), (3, 5));
        assert_eq!((own.own.info.bytes_acked, own.own.info.snd_wnd), (1_000_000, 65_536));
        assert!(own.app_limited && own.knows_window && !own.knows_memory);
        assert_eq!(own.own.congestion, "cubic");
    }
}
