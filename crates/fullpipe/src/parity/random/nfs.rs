//! Random mounts that both engines do exactly: equal seeds and numbers give equal texts.
//!
//! Paths have 100 Mb/s to 10 Gb/s and round trips of 0.5 to 200 ms. Mounts have 2 to 128 slots, calls of 64 KiB to 1
//! MiB, one to eight connections, and NFS 3 or 4.2. Maxima of the socket buffers are 256 KiB to 64 MiB. Files are
//! written, or read with a window of read-ahead. Each scale is as likely as any other. Nothing is lost: the queue holds
//! all that may be in flight. The file takes some forty round trips, within bounds that keep a run short.

use super::draw::{between, often, pick};
use crate::parity::case::Case;
use crate::scenario::{self, Source};
use fullpipe_sim::rng::Rng;

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * KIB;
/// Bytes of a file at least and at most.
const FILE: [f64; 2] = [8.0 * MIB, 96.0 * MIB];
/// Least length of a file in round trips, and in seconds; the longer one counts.
const ROUND_TRIPS: f64 = 40.0;
const SECONDS: f64 = 0.5;
/// Largest ratio of a run's length to the file's time: connections that take turns are idle, and begin with slow start
/// each time.
const SLOWER: f64 = 12.0;
/// Samples of a run at most.
const SAMPLES: f64 = 2_000.0;

/// Random values of a mount and its path.
struct Mount {
    rate: f64,
    one_way_us: f64,
    writes: bool,
    version: &'static str,
    /// wsize or rsize, KiB.
    size_kib: u32,
    slots: u32,
    connections: u32,
    /// Most bytes of the sending socket's buffer and of the receiving one's.
    wmem: f64,
    rmem: f64,
    /// KiB.
    readahead: u32,
}

impl Mount {
    fn draw(rng: &mut Rng) -> Mount {
        Mount {
            rate: super::frame::whole(between(rng, 1e8, 1e10)),
            one_way_us: (between(rng, 500.0, 200_000.0) / 2.0).round(),
            writes: often(rng, 0.5),
            version: pick(rng, &["3", "4.2"]),
            size_kib: pick(rng, &[64, 128, 256, 512, 1024]),
            slots: between(rng, 2.0, 128.9).floor() as u32,
            connections: between(rng, 1.0, 8.99).floor() as u32,
            wmem: between(rng, 256.0 * KIB, 64.0 * MIB).round(),
            rmem: between(rng, 256.0 * KIB, 64.0 * MIB).round(),
            readahead: pick(rng, &[128, 1024, 4096, 16_384]),
        }
    }

    fn round_trip_s(&self) -> f64 {
        self.one_way_us * 2e-6
    }

    /// Approximate rate of a run, bytes per second, from the bytes that may be outstanding in a round trip.
    fn about(&self) -> f64 {
        let size = f64::from(self.size_kib) * KIB;
        let connections = f64::from(self.connections);
        let of_session = if self.version == "3" { connections } else { 1.0 };
        let asked = match self.writes {
            true => f64::INFINITY,
            false => 2.0 * (f64::from(self.readahead) * KIB).max(size),
        };
        let slots = f64::from(self.slots) * size * of_session;
        let buffers = self.wmem.min(self.rmem) / 2.0 * connections;
        (self.rate / 8.0).min(slots.min(buffers).min(asked) / self.round_trip_s())
    }
}

/// The text of a scenario.
pub fn scenario(seed: u64, number: u64) -> String {
    let mut rng = Rng::new(seed, &format!("nfs {number}"));
    let own = Mount::draw(&mut rng);

    // The file lasts many round trips, and stays affordable.
    let lasts = (ROUND_TRIPS * own.round_trip_s()).max(SECONDS);
    let file = (own.about() * lasts).clamp(FILE[0], FILE[1]).round();

    // The duration is only a bound: the program ends by its file.
    let duration_s = (SLOWER * file / own.about() + 100.0 * own.round_trip_s() + 1.0).ceil();
    let sample_ms = (duration_s * 1e3 / SAMPLES).ceil().max(1.0);
    let Mount { rate, one_way_us, version, size_kib, slots, connections, wmem, rmem, .. } = own;

    // Queues of 2 GB never drop: the mount alone limits.
    let way = |name: &str, delay: &str| {
        format!(
            "[\n    {{ kind = \"link\", name = \"{name}\", rate = \"{rate}bit\", framing = \"ethernet\", \
             queue = {{ limit = \"2GB\" }} }},\n    \
             {{ kind = \"delay\", name = \"{delay}\", delay = \"{one_way_us}us\" }},\n]"
        )
    };
    let (there, back) = (way("link", "delay"), way("back-link", "back-delay"));
    let sysctl = format!(
        "{{ \"net.ipv4.tcp_wmem\" = \"4096 16384 {wmem}\", \"net.ipv4.tcp_rmem\" = \"4096 131072 {rmem}\" }}"
    );
    let (operation, key) = if own.writes { ("write", "wsize") } else { ("read", "rsize") };

    // Read-ahead acts on reads alone.
    let ahead = match own.writes {
        true => String::new(),
        false => format!("readahead = \"{}KiB\"\n", own.readahead),
    };
    format!(
        "title = \"random mount {seed}/{number}\"\nseed = {number}\nduration = \"{duration_s}s\"\n\n\
         [report]\nsample = \"{sample_ms}ms\"\ncounters = \"{sample_ms}ms\"\n\n\
         [path]\nforward = {there}\nback = {back}\n\n\
         [hosts.sender]\nkernel = \"6.12\"\nnic_rate = \"100Gbit\"\nsysctl = {sysctl}\n\n\
         [hosts.receiver]\nkernel = \"6.12\"\nnic_rate = \"100Gbit\"\nsysctl = {sysctl}\n\n\
         [[nfs]]\nname = \"files\"\nversion = \"{version}\"\noperation = \"{operation}\"\nfile = \"{file}B\"\n\
         {key} = \"{size_kib}KiB\"\n{ahead}slots = {slots}\nnconnect = {connections}\nthreads = 32\nmemory = \"2GiB\"\n"
    )
}

/// The scenario as a case.
///
/// # Panics
/// The text is no scenario, which no seed and number give.
pub fn case(seed: u64, number: u64) -> Case {
    let text = scenario(seed, number);
    let name = format!("mount-{seed}-{number}");
    let source = Source::text(&format!("{name}.toml"), &text);
    let scenario = scenario::load(&source, &[], &[]);
    let scenario = scenario.unwrap_or_else(|e| panic!("{seed}/{number}: {e}"));
    let command = format!("fullpipe run {name}.toml");
    Case { of: name.clone(), name, plan: scenario.plans()[0].clone(), text, command }
}
