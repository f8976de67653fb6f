//! A scenario of a mount with given settings, by which a plan is proven.

use super::files;
use super::settings::{self, Buffers, Settings};
use super::{KERNEL, Question};
use crate::advice::files::sysctl as advised;
use crate::sizing as path;
use fullpipe_base::units::Time;
use std::fmt::Write;

/// Least time of a file at the path's rate.
const LEAST_TIME: Time = Time::secs(10);
/// Least round trips of a file, so that slow start is not most of it.
const ROUND_TRIPS: u64 = 100;
/// Smallest and largest file, bytes.
const FILES: [u64; 2] = [1 << 20, 8 << 30];
/// Least number of packets that the path's queue holds.
const LEAST_QUEUE: u64 = 100;
/// Least interval of samples, and largest number of samples.
const LEAST_SAMPLE: Time = Time::ms(10);
const MOST_SAMPLES: u64 = 1_000_000;
/// Length of a run as a multiple of the expected time with today's settings.
const PATIENCE: f64 = 3.0;

/// Bytes of a file that is long enough to judge, whole MiB.
pub fn file(path: &path::Question) -> u64 {
    let time = LEAST_TIME.max(Time(path.rtt.0.saturating_mul(ROUND_TRIPS)));
    let bytes = path.rate.0 as f64 / 8.0 * time.as_secs_f64();
    (bytes as u64).clamp(FILES[0], FILES[1] - 1).next_multiple_of(1 << 20)
}

/// Scenario of one far client that writes, and in a run of its own reads, a file. Each of these settings has the
/// variants "NAME, write" and "NAME, read". The path's queue is drop-tail and holds a round trip.
pub fn scenario(q: &Question, settings: &[(&str, Settings)]) -> String {
    let mut text = head(q);
    for (name, settings) in settings {
        for operation in ["write", "read"] {
            variant(&mut text, q, name, settings, operation);
        }
    }
    text
}

fn head(q: &Question) -> String {
    let file = q.file;

    // The queue holds a round trip, and never less than some packets.
    let packets = q.path.bdp_packets().ceil() as u64;
    let queue = packets.max(LEAST_QUEUE) * u64::from(q.path.packet());
    let (rate, framing) = (q.path.rate, q.path.framing.name());
    let link = format!(
        "kind = \"link\"\nrate = \"{rate}\"\nframing = \"{framing}\"\nqueue = {{ limit = \"{queue}B\" }}"
    );
    let lossy = |way: &str| match q.loss > 0.0 {
        true => format!(
            "[[path.{way}]]\nkind = \"loss\"\nname = \"loss-{way}\"\nprobability = {:e}\n\n",
            q.loss
        ),
        false => String::new(),
    };

    // Long runs get coarser samples, so that their number stays bounded.
    let sample = LEAST_SAMPLE.max(Time::ms(duration(q).0 / 1_000_000 / MOST_SAMPLES));
    let version = files::version(q.version);
    format!(
        "# One client of a plan, alone on the path: with the kernel's settings and with the planned ones.\n\n\
         title = \"NFS over {rate} and {rtt}\"\n\
         seed = 1\n\
         duration = \"{duration}\"\n\n\
         [report]\n\
         interval = \"{interval}\"\n\
         sample = \"{sample}\"\n\n\
         # A link each way, whose queue holds a round trip, which is assumed.\n\
         [path]\n\
         mtu = {mtu}\n\n\
         [[path.forward]]\nname = \"out\"\n{link}\n\n{there}\
         [[path.back]]\nname = \"in\"\n{link}\n\n{back}\
         [[path.back]]\nkind = \"delay\"\nname = \"way\"\ndelay = \"{rtt}\"\n\n\
         [hosts.sender]\n\
         kernel = \"{kernel}\"\n\
         timestamps = {timestamps}\n\n\
         [hosts.receiver]\n\
         kernel = \"{kernel}\"\n\
         timestamps = {timestamps}\n\n\
         [[nfs]]\n\
         name = \"files\"\n\
         version = \"{version}\"\n\
         operation = \"write\"\n\
         file = \"{file}B\"\n",
        there = lossy("forward"),
        back = lossy("back"),
        rtt = q.path.rtt,
        duration = duration(q),
        interval = Time(sample.0 * 100),
        mtu = q.path.mtu,
        kernel = q.path.kernel,
        timestamps = q.path.timestamps,
    )
}

/// Today's settings read so far ahead in a round trip, or are as fast as the path.
fn duration(q: &Question) -> Time {
    let slow = settings::today(q).readahead as f64 / q.path.rtt.as_secs_f64();
    let seconds = q.file as f64 / slow.min(q.path.rate.0 as f64 / 8.0);
    Time::secs(10 + (PATIENCE * seconds) as u64 + 20 * q.path.rtt.0 / 1_000_000_000)
}

fn variant(text: &mut String, q: &Question, name: &str, own: &Settings, operation: &str) {
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "\n[[variant]]\n\
         name = \"{name}, {operation}\"\n\
         [variant.set]\n\
         \"nfs.files.operation\" = \"{operation}\"\n\
         \"nfs.files.rsize\" = \"{size}B\"\n\
         \"nfs.files.wsize\" = \"{size}B\"\n\
         \"nfs.files.nconnect\" = {nconnect}\n\
         \"nfs.files.threads\" = {threads}\n\
         \"nfs.files.readahead\" = \"{readahead}B\"\n\
         \"hosts.sender.sysctl\" = {client}\n\
         \"hosts.receiver.sysctl\" = {server}\n",
        size = own.size,
        nconnect = own.nconnect,
        threads = own.threads.min(1024),
        readahead = own.readahead,
        client = sysctl(&own.client),
        server = sysctl(&own.server),
    );

    // Slots are written only where the plan asks for others.
    if let Some(slots) = asked_slots(q, own) {
        let _ = writeln!(text, "\"nfs.files.slots\" = {slots}");
    }
}

/// Slots, where they are not the kernel's own.
fn asked_slots(q: &Question, own: &Settings) -> Option<u64> {
    (own.slots != settings::default_slots(q.version)).then_some(own.slots)
}

fn sysctl(own: &Buffers) -> String {
    let table =
        advised::settings(KERNEL, *own).map(|(name, value)| format!("\"{name}\" = \"{value}\""));
    format!("{{ {} }}", table.join(", "))
}
