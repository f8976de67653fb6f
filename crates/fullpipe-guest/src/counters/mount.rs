//! Counters of an NFS mount in `mountstats` (6.12 `nfs_show_stats`, `rpc_clnt_show_stats`), and of nfsd in `rpc/nfsd`
//! (`nfsd_show`, `svc_seq_show`): lines of numbers behind a word. The names of the numbers are in the kernel's headers.

/// A counter: its name and value.
type Counter = (String, u64);

/// Bytes (include/linux/nfs_iostat.h, `enum nfs_stat_bytecounters`): of programs' calls, of calls that bypass the page
/// cache, from and to the server; and pages.
const BYTES: [&str; 8] = [
    "NORMALREADBYTES",
    "NORMALWRITTENBYTES",
    "DIRECTREADBYTES",
    "DIRECTWRITTENBYTES",
    "SERVERREADBYTES",
    "SERVERWRITTENBYTES",
    "READPAGES",
    "WRITEPAGES",
];
/// Counters of a connection (`xs_tcp_print_stats`), with their places; a port and a gauge are left out.
const XPRT: [(usize, &str); 11] = [
    (1, "bind_count"),
    (2, "connect_count"),
    (3, "connect_time"),
    (5, "sends"),
    (6, "recvs"),
    (7, "bad_xids"),
    (8, "req_u"),
    (9, "bklog_u"),
    (10, "max_slots"),
    (11, "sending_u"),
    (12, "pending_u"),
];
/// Counters of a procedure (`struct rpc_iostats`); times are sums of ms.
const OPERATION: [&str; 9] = [
    "ops",
    "ntrans",
    "timeouts",
    "bytes_sent",
    "bytes_recv",
    "queue",
    "rtt",
    "execute",
    "error_status",
];
/// Counters of nfsd, by the first word of the line.
const SERVER: [(&str, &[&str]); 4] = [
    ("rc", &["hits", "misses", "nocache"]),
    ("io", &["read", "write"]),
    ("net", &["netcnt", "netudpcnt", "nettcpcnt", "nettcpconn"]),
    ("rpc", &["rpccnt", "rpcbad", "rpcbadfmt", "rpcbadauth"]),
];

/// The counters of the mount that a part of `mountstats` is about: "nfs.NORMALWRITTENBYTES", "nfs.xprt-1.sends",
/// "nfs.WRITE.rtt".
pub fn of_mount(text: &str) -> Vec<Counter> {
    let (mut found, mut connections) = (Vec::new(), 0);
    let lines = text.lines().filter_map(|line| line.trim_start().split_once(':'));
    let mut operations = false;
    for (word, rest) in lines {
        match word {
            "bytes" => found.extend(named("nfs", &BYTES, &numbers(rest))),
            "xprt" => {
                connections += 1;
                // The first word is the protocol.
                let all = numbers(rest.trim_start().split_once(' ').map_or("", |(_, rest)| rest));
                found.extend(XPRT.iter().map(|(at, name)| {
                    let value = all.get(*at).copied().unwrap_or(0);
                    (format!("nfs.xprt-{connections}.{name}"), value)
                }));
            }
            // Lines with a colon behind those of connections are procedures.
            name if connections > 0 => {
                operations = true;
                found.extend(named(&format!("nfs.{name}"), &OPERATION, &numbers(rest)));
            }
            _ => {}
        }
    }
    if operations { found } else { Vec::new() }
}

/// The counters of nfsd: "nfsd.io.write", "nfsd.rpc.rpccnt".
pub fn of_server(text: &str) -> Vec<Counter> {
    SERVER
        .iter()
        .flat_map(|(word, names)| {
            let mut lines = text.lines().filter_map(|line| line.split_once(' '));
            let rest = lines.find(|(first, _)| first == word).map_or("", |(_, rest)| rest);
            named(&format!("nfsd.{word}"), names, &numbers(rest))
        })
        .collect()
}

/// Values by their names; missing ones are 0.
fn named(of: &str, names: &[&str], values: &[u64]) -> Vec<Counter> {
    let values = values.iter().copied().chain(std::iter::repeat(0));
    names.iter().zip(values).map(|(name, value)| (format!("{of}.{name}"), value)).collect()
}

fn numbers(text: &str) -> Vec<u64> {
    text.split_ascii_whitespace().map(|word| word.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNT: &str = "device 10.0.2.2:/ mounted on /run with fstype nfs statvers=1.1\n\
        \topts:\trw,vers=3\n\tage:\t7\n\tevents:\t1 2 3\n\tbytes:\t4 5 0 0 6 7 8 9 \n\
        \tRPC iostats version: 1.1  p/v: 100003/3 (nfs)\n\
        \txprt:\ttcp 800 1 2 0 99 500 501 0 30 31 64 32 33\n\
        \txprt:\ttcp 801 1 1 0 99 7 7 0 1 1 64 1 1\n\
        \tper-op statistics\n\t        NULL: 1 1 0 44 24 0 31 31 0\n\
        \t       WRITE: 500 500 0 1000 2000 10 20 30 0\n";

    fn value(found: &[Counter], name: &str) -> Option<u64> {
        found.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    #[test]
    fn a_mount_has_bytes_connections_and_procedures() {
        let found = of_mount(MOUNT);
        for (name, expected) in [
            ("nfs.NORMALREADBYTES", 4),
            ("nfs.NORMALWRITTENBYTES", 5),
            ("nfs.WRITEPAGES", 9),
            ("nfs.xprt-1.sends", 500),
            ("nfs.xprt-1.max_slots", 64),
            ("nfs.xprt-1.pending_u", 33),
            ("nfs.xprt-2.recvs", 7),
            ("nfs.NULL.rtt", 31),
            ("nfs.WRITE.ops", 500),
            ("nfs.WRITE.execute", 30),
        ] {
            assert_eq!(value(&found, name), Some(expected), "{name}");
        }
        assert_eq!(found.len(), 8 + 2 * 11 + 2 * 9);
    }

    #[test]
    fn nfsd_has_lines_by_their_word() {
        let text = "rc 0 3 4\nfh 0 0 0 0 0\nio 5 6\nth 8 0 0.000\nnet 7 0 7 1\nrpc 8 0 0 0 0\n";
        let found = of_server(text);
        assert_eq!(value(&found, "nfsd.io.write"), Some(6));
        assert_eq!(value(&found, "nfsd.rpc.rpccnt"), Some(8));
        assert_eq!(found.len(), 13);
    }
}
