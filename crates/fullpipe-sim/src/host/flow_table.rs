//! Ends of flows at one host, by the flows' indices in the configuration.

use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

/// The ends of flows at one host; `None` where a flow's end is elsewhere.
pub(crate) struct FlowTable<T>(Vec<Option<T>>);

impl<T> FlowTable<T> {
    /// A table with the end of each flow that has one here.
    pub(super) fn new(ends: Vec<Option<T>>) -> FlowTable<T> {
        FlowTable(ends)
    }

    /// The flow's end, if it is here.
    pub(crate) fn get(&self, flow: usize) -> Option<&T> {
        self.0.get(flow)?.as_ref()
    }

    /// The flow's end, if it is here, for changes.
    pub(crate) fn get_mut(&mut self, flow: usize) -> Option<&mut T> {
        self.0.get_mut(flow)?.as_mut()
    }

    /// Takes the flow's end away, if it is here, until [`FlowTable::put_back`].
    pub(super) fn take(&mut self, flow: usize) -> Option<T> {
        self.0[flow].take()
    }

    /// Puts the flow's end back.
    pub(super) fn put_back(&mut self, flow: usize, end: T) {
        self.0[flow] = Some(end);
    }

    /// All ends of flows at this host.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().flatten()
    }

    /// Whether no flow has an end here.
    pub(crate) fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

/// Access to flows that have an end here.
impl<T> Index<usize> for FlowTable<T> {
    type Output = T;

    fn index(&self, flow: usize) -> &T {
        self.0[flow].as_ref().expect("the flow has this end here")
    }
}

impl<T> IndexMut<usize> for FlowTable<T> {
    fn index_mut(&mut self, flow: usize) -> &mut T {
        self.0[flow].as_mut().expect("the flow has this end here")
    }
}
