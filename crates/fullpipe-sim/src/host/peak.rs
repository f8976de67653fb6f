//! Content of a place, and its peak since the last sample.

/// The content of a place with its peak.
#[derive(Debug, Default)]
pub(crate) struct Peak {
    holds: u64,
    peak: u64,
}

impl Peak {
    /// A part of the content changed from `before` to `after`.
    pub(crate) fn change(&mut self, before: u64, after: u64) {
        self.holds = self.holds + after - before;
        self.peak = self.peak.max(self.holds);
    }

    /// The content now, and its peak since the last call.
    pub(crate) fn take(&mut self) -> (u64, u64) {
        (self.holds, core::mem::replace(&mut self.peak, self.holds))
    }
}
