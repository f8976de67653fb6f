//! The time-sequence graph of a run, as of tcptrace and xplot: one HTML file from `packets.parquet`.
//!
//! The file needs no network. It holds every train in chunks, and a pyramid of coarser levels ([`pyramid`]); each chunk
//! is deflated by itself, and the page's script inflates the few that it draws. Chunks are written as the table is
//! read. So memory holds a group of its rows and the pyramids, not the trains.

mod chunk;
mod page;
pub mod pyramid;
mod store;

use chunk::Places;
use fullpipe_analysis::document::{self, Flow, Run};
use fullpipe_analysis::trace::Error;
use fullpipe_analysis::trace::packets::PacketTrain;
use fullpipe_analysis::trace::table::read_groups;
use pyramid::Pyramid;
use serde::Serialize;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use store::Store;
pub(super) use store::packed;

/// Its name in the folder of a run.
pub const FILE: &str = "time-sequence.html";
/// Bins that all flows together may hold, and each at least.
const BINS: (usize, usize) = (1 << 17, 1 << 10);

/// A chunk: the times of its first and last packets (of bins: the first's number and the last's), its number of trains
/// or bins, and its place.
#[derive(Clone, Copy, Debug, Serialize)]
struct Chunk {
    from: u64,
    to: u64,
    count: usize,
    at: u64,
    letters: usize,
}

/// A level of the pyramid in the page's index.
#[derive(Debug, Serialize)]
struct LevelIndex {
    shift: u32,
    chunks: Vec<Chunk>,
}

/// A round of slow start in the page's index.
#[derive(Debug, Serialize)]
struct Round {
    /// When it begins, ns.
    begins: u64,
    /// Segments sent in it for the first time.
    segments: u64,
}

/// A flow in the page's index.
#[derive(Debug, Serialize)]
struct FlowIndex {
    name: String,
    /// First and last packet, ns.
    from: u64,
    to: u64,
    /// Counts and ranges of all there is, by mark: [count, lowest, highest].
    all: Vec<[u64; 3]>,
    rounds: Vec<Round>,
    /// When the first slow start ended, ns, where that was seen.
    slow_start_end: Option<u64>,
    /// Up to when the page shows the flow at first, ns; none: all of it.
    opening: Option<u64>,
    /// Chunks of trains: of data, of ACKs.
    trains: [Vec<Chunk>; 2],
    /// Coarser levels, the finest first.
    levels: Vec<LevelIndex>,
}

/// A flow while its trains are being read.
struct Reading {
    pyramid: Pyramid,
    /// Trains of each way that are not in a chunk yet.
    waiting: [Vec<PacketTrain>; 2],
    chunks: [Vec<Chunk>; 2],
    extent: Option<(u64, u64)>,
}

/// Writes the graph of `run` into the `folder` of its table; `title` is the scenario's.
///
/// # Errors
/// The table cannot be read, or the file cannot be written.
pub fn write(folder: &Path, title: &str, run: &Run) -> Result<PathBuf, Error> {
    let path = folder.join(FILE);
    let cannot = |e: io::Error| Error::new(&path, format!("cannot be written: {e}"));
    let mut out = BufWriter::new(File::create(&path).map_err(cannot)?);

    // The closure gathers all errors, so that the clean-up below sees each.
    let mut page = || {
        page::begin(&mut out, title, run).map_err(cannot)?;
        let (flows, places) = chunks(folder, run, &mut out, cannot)?;
        page::end(&mut out, run, &flows, &places).map_err(cannot)?;
        out.flush().map_err(cannot)
    };
    let written = page();
    if written.is_err() {
        // Removes an unfinished page.
        let _ = fs::remove_file(&path);
    }
    written.map(|()| path)
}

/// Writes the chunks of all flows, and returns their places.
fn chunks(
    folder: &Path,
    run: &Run,
    out: &mut impl Write,
    cannot: impl Fn(io::Error) -> Error,
) -> Result<(Vec<FlowIndex>, Places), Error> {
    let (mut store, mut places) = (Store::new(out), Places::default());

    // Many flows share the budget of bins, down to a floor for each.
    let most = (BINS.0 / run.flows.len().max(1)).max(BINS.1);
    let mut flows: Vec<Reading> = run.flows.iter().map(|_| Reading::new(most)).collect();

    // Rows name flows by their index in the run, which may differ from the report's.
    let places_of = run.flows.iter().enumerate().map(|(at, own)| (own.index.unwrap_or(at), at));
    let by_index: HashMap<usize, usize> = places_of.collect();
    let mut failed = None;

    // The reader cannot stop early: the first error is kept, and the rest is read.
    read_groups(folder, |rows: Vec<PacketTrain>| {
        for of_flow in rows.chunk_by(|a, b| a.flow == b.flow) {
            let at = by_index.get(&usize::from(of_flow[0].flow));

            // Rows of flows that the run does not know are left out.
            let Some(flow) = at.and_then(|at| flows.get_mut(*at)) else { continue };
            if let Err(e) = flow.take(of_flow, &mut store, &mut places) {
                failed.get_or_insert(e);
            }
        }
    })?;
    if let Some(e) = failed {
        return Err(cannot(e));
    }
    let named = run.flows.iter().zip(flows);
    let indices = named.map(|(flow, read)| read.finish(flow, &mut store, &mut places));
    Ok((indices.collect::<io::Result<_>>().map_err(cannot)?, places))
}

/// Nanoseconds since the start of the run, of seconds since the flow's interval clock started.
fn since_start(flow: &Flow, seconds: f64) -> u64 {
    ((seconds + flow.clock_start_s).max(0.0) * 1e9).round() as u64
}

/// Rounds of slow start in a page's first view: in them single segments are visible.
const OPENING_ROUNDS: usize = 6;

/// The end of a page's first view: of the first rounds of slow start, or of a shorter slow start and one round more.
fn opening(rounds: &[Round], slow_start_end: Option<u64>) -> Option<u64> {
    if let Some(next) = rounds.get(OPENING_ROUNDS) {
        return Some(next.begins);
    }
    let last = rounds.last()?;
    slow_start_end.map(|end| end + end.saturating_sub(last.begins))
}

impl Reading {
    fn new(bins: usize) -> Reading {
        Reading {
            pyramid: Pyramid::new(bins),
            waiting: Default::default(),
            chunks: Default::default(),
            extent: None,
        }
    }

    /// Takes the flow's rows of a row group.
    fn take<W: Write>(
        &mut self,
        rows: &[PacketTrain],
        store: &mut Store<W>,
        places: &mut Places,
    ) -> io::Result<()> {
        for row in rows {
            self.pyramid.add(row);

            // A train spans the times of its first and its last packet.
            let (from, to) = (row.time.0, row.time_of(row.count - 1).0);
            let (first, last) = self.extent.unwrap_or((from, to));
            self.extent = Some((first.min(from), last.max(to)));

            // Data and ACKs have chunks of their own, which fill at different speeds.
            let way = usize::from(row.acks);
            self.waiting[way].push(row.clone());
            if self.waiting[way].len() == chunk::TRAINS {
                self.store(way, store, places)?;
            }
        }
        Ok(())
    }

    /// Stores the waiting trains of a direction as a chunk.
    fn store<W: Write>(
        &mut self,
        way: usize,
        store: &mut Store<W>,
        places: &mut Places,
    ) -> io::Result<()> {
        let rows = std::mem::take(&mut self.waiting[way]);
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(()) };
        let (from, to) = (first.time.0, last.time_of(last.count - 1).0);
        let (at, letters) = store.add(&chunk::trains(&rows, places))?;
        self.chunks[way].push(Chunk { from, to, count: rows.len(), at, letters });
        Ok(())
    }

    fn finish<W: Write>(
        mut self,
        flow: &Flow,
        store: &mut Store<W>,
        places: &mut Places,
    ) -> io::Result<FlowIndex> {
        // Half-full chunks of both ways are written last.
        for way in 0..2 {
            self.store(way, store, places)?;
        }
        let (from, to) = self.extent.unwrap_or_default();
        let all = self.pyramid.all.iter().map(|span| [span.count, span.lo, span.hi]).collect();

        // Each level is stored in chunks that the page loads as it zooms.
        let mut levels = Vec::new();
        for level in self.pyramid.levels() {
            let mut chunks = Vec::new();
            for bins in level.bins.chunks(pyramid::BINS) {
                let (at, letters) = store.add(&pyramid::bins(bins))?;
                let (from, to) = (bins[0].0, bins[bins.len() - 1].0);
                chunks.push(Chunk { from, to, count: bins.len(), at, letters });
            }
            levels.push(LevelIndex { shift: level.shift, chunks });
        }
        let known = flow.slow_start_rounds.as_deref().unwrap_or_default();
        let ended = known.last().and_then(|last| last.end_s);
        let slow_start_end = ended.map(|end| since_start(flow, end));
        let begins = |round: &document::Round| since_start(flow, round.start_s);
        let rounds: Vec<Round> = known
            .iter()
            .map(|round| Round { begins: begins(round), segments: round.segments })
            .collect();

        // A slow start outside the flow's packets cannot be shown.
        let opening = opening(&rounds, slow_start_end).filter(|end| (from..to).contains(end));
        let (trains, name) = (self.chunks, flow.name.clone());
        Ok(FlowIndex { name, from, to, all, rounds, slow_start_end, opening, trains, levels })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(count: u64) -> Vec<Round> {
        (0..count).map(|number| Round { begins: 5 + number * 100, segments: 10 }).collect()
    }

    #[test]
    fn a_page_opens_on_the_first_rounds_of_slow_start() {
        assert_eq!(opening(&rounds(12), Some(1300)), Some(605));
        assert_eq!(opening(&rounds(7), None), Some(605));
        // Slow start ends 40 ns into its third round.
        assert_eq!(opening(&rounds(3), Some(245)), Some(285));
        // It never ends, or was not seen: the whole flow is shown.
        assert_eq!(opening(&rounds(3), None), None);
        assert_eq!(opening(&[], None), None);
    }
}
