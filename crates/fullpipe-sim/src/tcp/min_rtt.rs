//! The least RTT of a window of time, from three samples.
//!
//! Source: Linux 4.4 and 6.12 `tcp_update_rtt_min`, lib/win_minmax.c `minmax_running_min`; the method is
//! Kathleen Nichols'.

/// `tcp_min_rtt_wlen`: time for which a least RTT holds, s.
const WINDOW_S: u32 = 300;

#[derive(Clone, Copy, Debug)]
struct Sample {
    /// Time, jiffies.
    at: u32,
    us: u32,
}

/// Filter for the least RTT.
#[derive(Clone, Copy, Debug)]
pub(super) struct MinRtt {
    /// Window, jiffies.
    window: u32,
    /// The least sample, the least one since it, and the least one since that.
    best: [Sample; 3],
}

impl MinRtt {
    /// A filter before the first sample; its RTT is infinite.
    pub(super) fn new(hz: u32) -> MinRtt {
        MinRtt { window: WINDOW_S * hz, best: [Sample { at: 0, us: u32::MAX }; 3] }
    }

    /// The least RTT, us; `u32::MAX` before the first sample.
    pub(super) fn us(&self) -> u32 {
        self.best[0].us
    }

    /// Adds a sample of `us` at jiffy `at`.
    pub(super) fn take(&mut self, at: u32, us: u32) {
        let new = Sample { at, us };
        let [first, second, third] = &mut self.best;
        if us <= first.us || at.wrapping_sub(third.at) > self.window {
            self.best = [new; 3];
            return;
        }
        if us <= second.us {
            (*second, *third) = (new, new);
        } else if us <= third.us {
            *third = new;
        }
        self.age(new);
    }

    /// Forgets the first sample after the window. Until then the other samples are to be from its later parts.
    fn age(&mut self, new: Sample) {
        let passed = new.at.wrapping_sub(self.best[0].at);
        if passed > self.window {
            self.shift(new);
            if new.at.wrapping_sub(self.best[0].at) > self.window {
                self.shift(new);
            }
        } else if self.best[1].at == self.best[0].at && passed > self.window / 4 {
            (self.best[1], self.best[2]) = (new, new);
        } else if self.best[2].at == self.best[1].at && passed > self.window / 2 {
            self.best[2] = new;
        }
    }

    fn shift(&mut self, new: Sample) {
        self.best = [self.best[1], self.best[2], new];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn least(samples: &[(u32, u32)]) -> u32 {
        let mut min = MinRtt::new(1);
        samples.iter().for_each(|&(at, us)| min.take(at, us));
        min.us()
    }

    #[test]
    fn the_least_holds_for_its_window_and_then_the_least_since() {
        assert_eq!(least(&[]), u32::MAX);
        assert_eq!(least(&[(0, 80), (1, 90), (300, 95)]), 80);
        assert_eq!(least(&[(0, 80), (100, 90), (200, 95), (301, 99)]), 90);
        assert_eq!(least(&[(0, 80), (1, 70), (2, 75)]), 70);
        assert_eq!(least(&[(0, 80), (700, 99)]), 99, "nothing is left of the window");
    }
}
