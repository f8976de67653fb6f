//! Content of one flow's ACKs. ACKs that differ evenly are one run: the cumulative ACK grows by a constant, or the
//! first SACK block does.

use crate::search_hint::SearchHint;
use crate::tcp::{Ack, Sacks};
use alloc::collections::VecDeque;

/// Log of one flow's ACKs. SACKs are kept apart, because they are large and few runs have them.
#[derive(Default)]
pub(super) struct Log {
    runs: VecDeque<AckRun>,
    hint: SearchHint,
    /// Number of the next ACK.
    next: u64,
    /// SACKs of the runs that have any, in order, and the number of the first of them.
    sacks: VecDeque<Sacks>,
    first_sacks: u64,
}

/// Consecutive ACKs. A run fits into one cache line: with many flows it is written once and read once, each time from
/// memory.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct AckRun {
    /// Number of the first ACK.
    number: u64,
    count: u32,
    seq: u64,
    /// Number that the first ACK acknowledges, and its growth from one ACK to the next.
    ack: u64,
    step: u32,
    window: u64,
    tsecr: u32,
    tsval: u32,
    ece: bool,
    fin: bool,
    /// Whether these ACKs have SACKs, and the number of the first ACK after the run.
    has_sacks: bool,
    sacks: u64,
    /// Growth of the first block's end from one ACK to the next.
    growth: u32,
}

const _: () = assert!(size_of::<AckRun>() == 64);

impl AckRun {
    /// ACK `i` of the run; `sacks` are the first one's.
    fn ack(&self, i: u64, sacks: Option<&Sacks>) -> Ack {
        let sacks = sacks.map(|&sacks| grown(sacks, i * u64::from(self.growth)));
        Ack {
            seq: self.seq,
            ack: self.ack + i * u64::from(self.step),
            window: self.window,
            sacks,
            tsecr: self.tsecr,
            tsval: self.tsval,
            ece: self.ece,
            fin: self.fin,
        }
    }

    /// Whether an ACK equals the run's in all fields that do not grow.
    fn repeats(&self, ack: &Ack) -> bool {
        (self.seq, self.window, self.tsecr, self.tsval, self.ece, self.fin)
            == (ack.seq, ack.window, ack.tsecr, ack.tsval, ack.ece, ack.fin)
    }

    /// Whether the next ACK continues the run if only its first block grows, by `growth` bytes.
    fn goes_on(&self, growth: u64) -> bool {
        (self.step, u64::from(self.growth)) == (0, growth)
    }

    /// Appends an ACK without SACKs if it continues the run; returns whether it does.
    fn extend(&mut self, next: &Ack) -> bool {
        let last = self.ack + u64::from(self.count - 1) * u64::from(self.step);
        let (Some(step), false) = (difference(next.ack, last), self.has_sacks) else {
            return false;
        };
        if self.count > 1 && step != self.step || !self.lengthen(1) {
            return false;
        }
        self.step = step;
        true
    }

    /// Adds `more` ACKs at the same pace, if the counter can hold them; returns whether it can.
    fn lengthen(&mut self, more: u64) -> bool {
        let count = u32::try_from(more).ok().and_then(|more| self.count.checked_add(more));
        self.count = count.unwrap_or(self.count);
        count.is_some()
    }

    /// Appends an ACK with SACKs if only the end of the first block grows, at the same pace; returns whether it does.
    /// `first` are the first ACK's SACKs.
    fn extend_block(&mut self, next: &Ack, first: &Sacks, sacks: &Sacks) -> bool {
        let last = first.blocks[0].end + u64::from(self.count - 1) * u64::from(self.growth);
        let Some(growth) = difference(sacks.blocks[0].end, last) else { return false };
        // The second ACK of a run sets its pace; the others have to keep it.
        let even = self.count == 1 || growth == self.growth;
        // Only the end of the first block may differ.
        let rest = first.blocks[1..] == sacks.blocks[1..]
            && first.blocks[0].start == sacks.blocks[0].start;
        let same = rest && next.ack == self.ack && sacks.count == first.count;
        if !(self.has_sacks && even && same && self.lengthen(1)) {
            return false;
        }
        self.growth = growth;
        true
    }
}

/// Difference of `next` and `last`, if it is not negative and can be stored.
fn difference(next: u64, last: u64) -> Option<u32> {
    next.checked_sub(last)?.try_into().ok()
}

/// SACKs with a later end of the first block.
fn grown(mut sacks: Sacks, by: u64) -> Sacks {
    sacks.blocks[0].end += by;
    sacks
}

impl Log {
    /// The number of the next ACK.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Adds an ACK and returns its number.
    pub(super) fn push(&mut self, ack: &Ack) -> u64 {
        let number = self.next;
        self.next += 1;
        if let Some(run) = self.runs.back_mut()
            && run.repeats(ack)
        {
            let extended = match (&ack.sacks, self.sacks.back()) {
                (None, _) => run.extend(ack),
                (Some(sacks), Some(first)) => run.extend_block(ack, first, sacks),
                (Some(_), None) => false,
            };
            if extended {
                return number;
            }
        }

        // The ACK differs unevenly from the last one, so it begins a run.
        self.runs.push_back(AckRun {
            number,
            count: 1,
            seq: ack.seq,
            ack: ack.ack,
            step: 0,
            window: ack.window,
            tsecr: ack.tsecr,
            tsval: ack.tsval,
            ece: ack.ece,
            fin: ack.fin,
            has_sacks: ack.sacks.is_some(),
            sacks: self.first_sacks + self.sacks.len() as u64,
            growth: 0,
        });
        self.sacks.extend(ack.sacks);
        number
    }

    /// Adds `count` ACKs: `first`, and ACKs that differ only in the first SACK block, which grows by `growth` bytes
    /// each. Without SACKs all are equal.
    pub(super) fn push_row(&mut self, first: &Ack, growth: u64, count: u64) {
        let mut ack = *first;
        for left in (1..=count).rev() {
            self.push(&ack);
            if let Some(sacks) = &mut ack.sacks {
                sacks.blocks[0].end += growth;
            }

            // Once the last run has this pace, the other ACKs only lengthen it.
            if let Some(run) = self.runs.back_mut()
                && run.goes_on(if ack.sacks.is_some() { growth } else { 0 })
                && run.lengthen(left - 1)
            {
                self.next += left - 1;
                return;
            }
        }
    }

    /// The ACK `number`, unless it was forgotten.
    pub(super) fn get(&self, number: u64) -> Option<Ack> {
        let begun = self.hint.partition_point(&self.runs, |run| run.number <= number);
        let run = self.runs.get(begun.checked_sub(1)?)?;
        let i = Some(number - run.number).filter(|&i| i < u64::from(run.count))?;
        let sacks = self.sacks.get((run.sacks - self.first_sacks) as usize);
        Some(run.ack(i, sacks.filter(|_| run.has_sacks)))
    }

    /// Removes and returns the first ACK.
    pub(super) fn pop(&mut self) -> Option<Ack> {
        let run = self.runs.front()?;
        let ack = run.ack(0, self.sacks.front().filter(|_| run.has_sacks));
        self.forget_first(1);
        Some(ack)
    }

    /// Forgets the ACKs before `number`, and returns how many.
    pub(super) fn forget_before(&mut self, number: u64) -> usize {
        let mut forgotten = 0;
        while let Some(run) = self.runs.front()
            && run.number < number
        {
            let gone = u64::from(run.count).min(number - run.number) as u32;
            self.forget_first(gone);
            forgotten += gone as usize;
        }
        forgotten
    }

    /// Forgets the first `gone` ACKs, all of one run.
    fn forget_first(&mut self, gone: u32) {
        let Some(run) = self.runs.front_mut() else { return };
        run.number += u64::from(gone);
        run.count -= gone;
        run.ack += u64::from(gone) * u64::from(run.step);
        let growth = u64::from(gone) * u64::from(run.growth);
        let (has_sacks, over) = (run.has_sacks, run.count == 0);
        if over {
            self.runs.pop_front();
        }

        // A run that is over releases its SACKs; else its first block has grown by the forgotten ACKs.
        match self.sacks.front_mut().filter(|_| has_sacks) {
            Some(_) if over => {
                self.sacks.pop_front();
                self.first_sacks += 1;
            }
            Some(sacks) => *sacks = grown(*sacks, growth),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranges::SeqRange;
    use alloc::vec;

    /// An ACK with one SACK block, which ends at `end`.
    fn ack(end: u64, window: u64) -> Ack {
        let mut blocks = [SeqRange::default(); 4];
        blocks[0] = SeqRange::new(1000, end);
        Ack { ack: 0, window, sacks: Some(Sacks { blocks, count: 1 }), ..Ack::default() }
    }

    #[test]
    fn a_row_says_what_its_acks_say_whatever_came_before() {
        for before in [vec![], vec![ack(1900, 8)], vec![ack(1800, 8), ack(1900, 8)]] {
            for window in [8, 9] {
                let (mut row, mut each) = (Log::default(), Log::default());
                before.iter().for_each(|ack| _ = (row.push(ack), each.push(ack)));
                row.push_row(&ack(2000, window), 1000, 9);
                (0..9).for_each(|i| _ = each.push(&ack(2000 + i * 1000, window)));
                assert_eq!(row.next(), each.next());
                for number in 0..each.next() {
                    assert_eq!(row.get(number), each.get(number), "{number} after {before:?}");
                }
            }
        }
    }
}
