//! Losses, and what is in flight before and behind each: the mark of a congestion control.

/// A loss that SACK or duplicate ACKs have repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Epoch {
    /// Most packets in flight before it.
    pub before: f64,
    /// Most packets in flight of the first whole round trip behind it.
    pub after: f64,
}

/// State of the newest loss.
#[derive(Clone, Copy, Debug)]
enum Now {
    /// Repair.
    Repaired,
    /// Rest of the round trip in which the repair has ended.
    Ending,
    /// First whole round trip behind the repair.
    Behind,
}

/// Losses of a connection.
#[derive(Clone, Debug, Default)]
pub struct Epochs {
    all: Vec<Epoch>,
    now: Option<(Now, f64)>,
}

impl Epochs {
    /// A repair begins, with that many packets in flight before. A timeout shows nothing: every control begins anew.
    pub fn begin(&mut self, before: f64, is_timeout: bool) {
        self.now = (!is_timeout).then_some((Now::Repaired, before));
    }

    /// The repair ends.
    pub fn repaired(&mut self) {
        if let Some((now @ Now::Repaired, _)) = &mut self.now {
            *now = Now::Ending;
        }
    }

    /// A round trip ends, in which that many packets were in flight at most.
    pub fn round(&mut self, most: f64) {
        match &mut self.now {
            Some((now @ Now::Ending, _)) => *now = Now::Behind,
            Some((Now::Behind, before)) => {
                self.all.push(Epoch { before: *before, after: most });
                self.now = None;
            }
            _ => {}
        }
    }

    /// Losses that are over.
    pub fn over(self) -> Vec<Epoch> {
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_whole_round_trip_behind_a_repair_counts() {
        let mut own = Epochs::default();
        own.begin(100.0, false);
        own.round(90.0);
        own.repaired();
        [80.0, 70.0, 71.0].into_iter().for_each(|most| own.round(most));

        // A timeout, and a repair that another one cuts short, count for nothing.
        own.begin(75.0, true);
        own.repaired();
        [1.0, 2.0].into_iter().for_each(|most| own.round(most));
        own.begin(50.0, false);
        own.repaired();
        own.round(40.0);
        own.begin(40.0, false);
        assert_eq!(own.over(), [Epoch { before: 100.0, after: 70.0 }]);
    }
}
