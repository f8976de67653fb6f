//! Readahead: which READs a client makes while a program reads a file in order through the page cache, and when.
//!
//! The program reads page after page by calls of one size. A missing page makes the cache ask for a window of pages.
//! One page of each window is marked. When the program reaches the marked page, the cache asks for the next window,
//! whether or not that page has arrived. READs of at most rsize ask for a window.
//!
//! Source: Linux 6.12 mm/filemap.c (`filemap_get_pages`), mm/readahead.c (`page_cache_sync_ra`, `page_cache_async_ra`,
//! `do_page_cache_ra`), fs/nfs/read.c (`nfs_readahead`), fs/nfs/super.c (`io_pages`). Folios have one page.

use super::ReadAhead;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Bytes of a page.
pub(super) const PAGE: u64 = 4096;

/// State of reading a file in order. Places are pages from the beginning of the file.
#[derive(Debug)]
pub(super) struct Reading {
    /// Bytes of the file.
    bytes: u64,
    /// Bytes of a call of the program.
    call: u64,
    /// Pages of the largest READ (`io_pages`), and of a window (`ra_pages`).
    read: u64,
    most: u64,
    /// Place of the program, bytes.
    at: u64,
    /// End of the pages that were asked for.
    asked: u64,
    /// The last window (`file_ra_state`): its beginning, its pages, and the pages behind the marked one.
    start: u64,
    size: u64,
    behind: u64,
    /// Marked pages that the program has not reached.
    marks: VecDeque<u64>,
}

impl Reading {
    /// State before a file of so many bytes, read by READs of at most `record`.
    pub(super) fn new(bytes: u64, record: u32, ahead: ReadAhead) -> Reading {
        Reading {
            bytes,
            call: ahead.call.max(1).into(),
            read: (u64::from(record) / PAGE).max(1),
            most: ahead.window / PAGE,
            at: 0,
            asked: 0,
            start: 0,
            size: 0,
            behind: 0,
            marks: VecDeque::new(),
        }
    }

    /// Whether the program has read everything.
    pub(super) fn is_done(&self) -> bool {
        self.at >= self.bytes
    }

    /// Lets the program read all bytes before `there`; returns the bytes of each READ that this makes.
    pub(super) fn go_on(&mut self, there: u64) -> Vec<u32> {
        let mut reads = Vec::new();
        while !self.is_done() {
            let page = self.at / PAGE;
            let end = (self.at / self.call + 1) * self.call;

            // Pages up to the end of the program's call decide how large a window is.
            let left = end.div_ceil(PAGE) - page;

            // page_cache_sync_ra: nobody has asked for this page.
            if page >= self.asked {
                self.miss(page, left, &mut reads);
            }

            // page_cache_async_ra: a marked page asks for the next window.
            if self.marks.front() == Some(&page) {
                self.marks.pop_front();
                self.come_to_mark(page, left, &mut reads);
            }
            if self.at >= there {
                break;
            }

            // The program reads on to the next page that asks for others, or is missing.
            let mark = self.marks.front().map_or(u64::MAX, |mark| mark * PAGE);
            self.at = end.min(there).min(self.asked * PAGE).min(mark).min(self.bytes);
        }
        reads
    }

    /// Handles a page that nobody has asked for, in a call with `left` pages left (`page_cache_sync_ra`).
    fn miss(&mut self, page: u64, left: u64, reads: &mut Vec<u32>) {
        if self.most == 0 {
            return self.ask(page, 1, 0, reads);
        }
        let most = self.most_of(left);
        let before = self.at / self.call * self.call / PAGE;
        if page == 0 || left > most || page - before <= 1 {
            // A read at the start, a large one, or one in order begins a window.
            (self.start, self.size) = (page, first_size(left, most));
            self.behind = if self.size > left { self.size - left } else { self.size / 2 };
        } else if page.min(most) <= left {
            // A random read, with few cached pages before it, asks for its own pages alone.
            return self.ask(page, left, 0, reads);
        } else {
            // Many cached pages before it are a sign of reading in order.
            let cached = if page <= most { 2 * page } else { most };
            (self.start, self.size, self.behind) = (page, (cached + left).min(most), 1);
        }
        self.ask(self.start, self.size, self.behind, reads);
    }

    /// Handles a marked page that the program has reached (`page_cache_async_ra`).
    fn come_to_mark(&mut self, page: u64, left: u64, reads: &mut Vec<u32>) {
        let most = self.most_of(left);
        if page == self.start + self.size - self.behind {
            // The mark is that of the last window, so the next window follows it, larger (get_next_ra_size).
            self.start += self.size;
            self.size = self.size.max(next_size(self.size, most));
        } else if self.asked - page <= most {
            // Another mark: the window begins behind all pages that were asked for.
            self.start = self.asked;
            self.size = next_size(self.asked - page + left, most);
        } else {
            return;
        }
        self.behind = self.size;
        self.ask(self.start, self.size, self.behind, reads);
    }

    /// Most pages of a window: a larger call may have as many as a READ (`ractl_max_pages`).
    fn most_of(&self, left: u64) -> u64 {
        if left > self.most && self.read > self.most { left.min(self.read) } else { self.most }
    }

    /// Asks for `pages` pages, `behind` of which lie behind the marked one (`do_page_cache_ra`).
    fn ask(&mut self, from: u64, pages: u64, behind: u64, reads: &mut Vec<u32>) {
        let pages = pages.min(self.bytes.div_ceil(PAGE).saturating_sub(from));
        if pages == 0 {
            return;
        }

        // The mark is the page at which the next window is asked for.
        if (1..=pages).contains(&behind) {
            self.marks.push_back(from + pages - behind);
        }
        let (mut at, end) = (from, from + pages);

        // READs have at most rsize.
        while at < end {
            let next = end.min(at + self.read);
            reads.push(((next * PAGE).min(self.bytes) - at * PAGE) as u32);
            at = next;
        }
        self.asked = end;
    }
}

/// Pages of the first window, for a call with `left` pages left (`get_init_ra_size`).
fn first_size(left: u64, most: u64) -> u64 {
    match left.next_power_of_two() {
        size if size <= most / 32 => size * 4,
        size if size <= most / 4 => size * 2,
        _ => most,
    }
}

/// Pages of the window behind one of `size` pages (`get_next_ra_size`).
fn next_size(size: u64, most: u64) -> u64 {
    match size {
        size if size < most / 16 => 4 * size,
        size if size <= most / 2 => 2 * size,
        _ => most,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const MIB: u64 = 1 << 20;

    /// READs in KiB, each time the program continues, when the oldest READ has arrived.
    fn rounds(bytes: u64, record: u64, call: u64, window: u64) -> Vec<Vec<u64>> {
        let ahead = ReadAhead { call: call as u32, window };
        let mut reading = Reading::new(bytes, record as u32, ahead);
        let (mut there, mut out, mut rounds) = (0, VecDeque::new(), Vec::new());
        while !reading.is_done() {
            let made = reading.go_on(there);
            out.extend(made.iter().copied());
            rounds.push(made.iter().map(|&bytes| u64::from(bytes) / 1024).collect());
            there += out.pop_front().map_or(0, u64::from);
        }
        assert_eq!(there, bytes);
        rounds
    }

    /// Calls as large as a READ, and NFS's window of 128 KiB: the call's size counts. The first window is read alone;
    /// from its middle on there are two.
    #[test]
    fn large_calls_have_two_reads_out() {
        let rounds = rounds(6 * MIB, MIB, MIB, 128 << 10);
        assert_eq!(
            rounds,
            [vec![1024], vec![1024, 1024], vec![1024], vec![1024], vec![1024], vec![], vec![]]
        );
    }

    /// Small calls: 128 KiB at once, then as much behind it each time a window is begun.
    #[test]
    fn small_calls_have_the_window() {
        let rounds = rounds(512 << 10, MIB, 64 << 10, 128 << 10);
        assert_eq!(rounds, [vec![128], vec![128, 128], vec![128], vec![], vec![]]);
    }

    /// Windows grow up to the maximum, and are cut into READs: in the end twice as much is out.
    #[test]
    fn windows_grow() {
        let rounds = rounds(32 * MIB, MIB, MIB, 4 * MIB);
        let made: Vec<usize> = rounds.iter().map(Vec::len).collect();
        assert_eq!(made[..8], [2, 4, 4, 0, 0, 0, 4, 0]);
        assert!(rounds.iter().flatten().all(|&kib| kib == 1024), "{rounds:?}");
    }

    /// Without a window, pages are read one after the other.
    #[test]
    fn without_a_window() {
        assert_eq!(rounds(12_289, MIB, MIB, 0), [vec![4], vec![4], vec![4], vec![0], vec![]]);
    }
}
