//! Texts of /proc/net: names and values of their counters, in one order.

use super::mount;

/// Layout of a text.
#[derive(Clone, Copy)]
pub enum Format {
    /// `snmp` and `netstat`: a line of names, then one of values, each behind a prefix such as "Tcp:".
    Protocols,
    /// `dev`: two lines of titles, then a line of a device.
    Devices,
    /// `softnet_stat`: numbers of the only CPU, without names.
    Softnet,
    /// The part of `mountstats` that is about an NFS mount.
    Mount,
    /// `rpc/nfsd`.
    Nfsd,
}

/// The protocol with a list of names that may grow during a run; Icmp contains all of it, too.
const GROWS: &str = "IcmpMsg";
/// Columns of `softnet_stat` (softnet_seq_show), by their places.
const SOFTNET: [(usize, &str); 5] = [
    (0, "processed"),
    (1, "dropped"),
    (2, "time_squeeze"),
    (9, "received_rps"),
    (10, "flow_limit"),
];

impl Format {
    /// The names, as in "Tcp.RetransSegs", "dev.right.tx_packets", "softnet.dropped".
    pub fn names(self, text: &str) -> Vec<String> {
        match self {
            Format::Protocols => {
                // Lines are in pairs: names, then values.
                let lines = protocols(text).step_by(2);
                lines
                    .flat_map(|(protocol, names)| {
                        let names = names.split_ascii_whitespace();
                        names.map(move |name| format!("{protocol}.{name}"))
                    })
                    .collect()
            }
            Format::Devices => {
                let titles: Vec<String> = titles(text).collect();
                let devices = devices(text).map(|(device, _)| device.trim());
                devices
                    .flat_map(|device| {
                        titles.iter().map(move |title| format!("dev.{device}.{title}"))
                    })
                    .collect()
            }
            Format::Softnet => SOFTNET.iter().map(|(_, name)| format!("softnet.{name}")).collect(),
            Format::Mount => mount::of_mount(text).into_iter().map(|(name, _)| name).collect(),
            Format::Nfsd => mount::of_server(text).into_iter().map(|(name, _)| name).collect(),
        }
    }

    /// The values. A value below 0 (Tcp.MaxConn: no limit) counts as 0.
    pub fn values(self, text: &str, mut each: impl FnMut(u64)) {
        let mut all = |line: &str| {
            line.split_ascii_whitespace().for_each(|value| each(value.parse().unwrap_or(0)));
        };
        match self {
            Format::Protocols => protocols(text).skip(1).step_by(2).for_each(|(_, line)| all(line)),
            Format::Devices => devices(text).for_each(|(_, line)| all(line)),
            Format::Softnet => {
                let columns: Vec<&str> = text.split_ascii_whitespace().collect();
                for (at, _) in SOFTNET {
                    let column = columns.get(at).copied().unwrap_or_default();
                    each(u64::from_str_radix(column, 16).unwrap_or(0));
                }
            }
            Format::Mount => mount::of_mount(text).into_iter().for_each(|(_, value)| each(value)),
            Format::Nfsd => mount::of_server(text).into_iter().for_each(|(_, value)| each(value)),
        }
    }
}

fn protocols(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.filter(|(protocol, _)| *protocol != GROWS)
}

fn devices(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().skip(2).filter_map(|line| line.split_once(':'))
}

/// Titles of the columns: "face |bytes ...|bytes ...", received first, then sent.
fn titles(text: &str) -> impl Iterator<Item = String> {
    let parts = text.lines().nth(1).unwrap_or_default().split('|').skip(1);
    parts.zip(["rx", "tx"]).flat_map(|(part, way)| {
        part.split_ascii_whitespace().map(move |title| format!("{way}_{title}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: Format, text: &str) -> Vec<(String, u64)> {
        let mut values = Vec::new();
        format.values(text, |value| values.push(value));
        let names = format.names(text);
        assert_eq!(names.len(), values.len());
        names.into_iter().zip(values).collect()
    }

    fn is(found: &[(String, u64)], expected: &[(&str, u64)]) {
        let found: Vec<_> = found.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn protocols_have_a_line_of_names_and_one_of_values() {
        let text = "Ip: Forwarding InReceives\nIp: 2 90\nIcmpMsg: InType3\nIcmpMsg: 4\n\
                    Tcp: MaxConn RetransSegs\nTcp: -1 18446744073709551615\n\
                    TcpExt: TCPLostRetransmit\nTcpExt: 7\n";
        let expected = [
            ("Ip.Forwarding", 2),
            ("Ip.InReceives", 90),
            ("Tcp.MaxConn", 0),
            ("Tcp.RetransSegs", u64::MAX),
            ("TcpExt.TCPLostRetransmit", 7),
        ];
        is(&read(Format::Protocols, text), &expected);
    }

    #[test]
    fn devices_have_what_came_and_what_went() {
        let text = "Inter-|   Receive     |  Transmit\n face |bytes    packets|bytes    colls\n    \
                    lo:       0       1    2   3\n right: 123456789 4 5 6\n";
        let expected = [
            ("dev.lo.rx_bytes", 0),
            ("dev.lo.rx_packets", 1),
            ("dev.lo.tx_bytes", 2),
            ("dev.lo.tx_colls", 3),
            ("dev.right.rx_bytes", 123_456_789),
            ("dev.right.rx_packets", 4),
            ("dev.right.tx_bytes", 5),
            ("dev.right.tx_colls", 6),
        ];
        is(&read(Format::Devices, text), &expected);
    }

    #[test]
    fn softnet_is_hexadecimal_and_by_place() {
        let text =
            "000000ff 00000002 0000000a 0 0 0 0 0 0 00000004 00000005 00000006 00000000 0 0\n";
        let expected = [
            ("softnet.processed", 255),
            ("softnet.dropped", 2),
            ("softnet.time_squeeze", 10),
            ("softnet.received_rps", 4),
            ("softnet.flow_limit", 5),
        ];
        is(&read(Format::Softnet, text), &expected);
    }
}
