//! The application's side of a sending socket: its state, and the write() in progress.
//!
//! Source: Linux 6.12 `tcp_sendmsg_locked`, `sk_stream_wait_memory`, `tcp_nagle_check`.

/// State of the writing application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// Copying, or about to.
    Active,
    /// Waits for room in the send buffer (SOCK_NOSPACE).
    NoSpace,
    /// Has nothing to write at present.
    Paused,
    /// Will not write any more.
    Done,
}

/// Rule for a partial segment at the end of the written data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum Partial {
    /// Nagle's rule decides.
    Nagle,
    /// The segment is sent at once (TCP_NODELAY).
    Goes,
    /// The segment waits for more data (TCP_CORK).
    Corked,
}

/// The application, as the socket sees it.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct AppSide {
    writer: Writer,
    partial: Partial,
    /// TCP_NODELAY is set, whether or not the socket is corked.
    nodelay: bool,
    /// Whether the next byte begins a write().
    begins_write: bool,
    /// Most bytes of the first skb of the next write(), where this differs from the goal.
    first_skb: Option<u32>,
    /// SOCK_NOSPACE: a write() found no room, and no ACK has made enough since.
    lacks_space: bool,
    /// Whether the writer sleeps although its push made room: until an ACK wakes it, or some time has passed.
    rests: bool,
}

impl AppSide {
    /// An application that is about to write, with Nagle's rule.
    pub(in crate::tcp) fn new() -> AppSide {
        AppSide {
            writer: Writer::Active,
            partial: Partial::Nagle,
            nodelay: false,
            begins_write: true,
            first_skb: None,
            lacks_space: false,
            rests: false,
        }
    }

    /// State of the application.
    #[inline]
    pub(in crate::tcp) fn writer(&self) -> Writer {
        self.writer
    }

    /// Changes the state of the application. The end of its sleep ends its want of room.
    #[inline]
    pub(in crate::tcp) fn set_writer(&mut self, writer: Writer) {
        self.lacks_space &= self.writer != Writer::NoSpace || writer == Writer::NoSpace;
        self.writer = writer;
    }

    /// Ends the writer's sleep because data has arrived, although it still lacks room.
    pub(in crate::tcp) fn wake_by_data(&mut self) {
        self.writer = Writer::Active;
    }

    /// Rule for a partial segment at the end.
    #[inline]
    pub(in crate::tcp) fn partial(&self) -> Partial {
        self.partial
    }

    /// Sets TCP_NODELAY.
    pub(in crate::tcp) fn set_nodelay(&mut self) {
        (self.nodelay, self.partial) = (true, Partial::Goes);
    }

    /// Clears TCP_CORK.
    pub(in crate::tcp) fn uncork(&mut self) {
        self.partial = if self.nodelay { Partial::Goes } else { Partial::Nagle };
    }

    /// Sets TCP_NODELAY or TCP_CORK.
    pub(in crate::tcp) fn set_partial(&mut self, partial: Partial) {
        self.partial = partial;
    }

    /// Whether the next byte begins a write().
    #[inline]
    pub(in crate::tcp) fn begins_write(&self) -> bool {
        self.begins_write
    }

    /// Bounds the first skb of the next write() to so many bytes.
    pub(in crate::tcp) fn bound_first_skb(&mut self, bytes: Option<u32>) {
        self.first_skb = bytes;
    }

    /// Most bytes of the next skb: `goal`, unless the write() sets a bound.
    #[inline]
    pub(in crate::tcp) fn next_skb(&self, goal: u32) -> u32 {
        self.first_skb.filter(|_| self.begins_write).unwrap_or(goal)
    }

    /// Notes a copied step of a write(). Returns the bound of the skb that it began; none where the data went
    /// `into_tail`.
    #[inline]
    pub(in crate::tcp) fn note_copy(&mut self, into_tail: bool) -> Option<u32> {
        let begins_write = core::mem::replace(&mut self.begins_write, false);
        self.first_skb.take().filter(|_| !into_tail && begins_write)
    }

    /// Ends a write().
    #[inline]
    pub(in crate::tcp) fn end_write(&mut self) {
        self.begins_write = true;
    }

    /// Lets the writer sleep.
    pub(in crate::tcp) fn sleep(&mut self) {
        (self.lacks_space, self.rests) = (true, false);
    }

    /// Sets whether the sleeping writer stays asleep although there is room.
    pub(in crate::tcp) fn set_rest(&mut self, rests: bool) {
        self.rests = rests;
    }

    /// Whether the writer sleeps although there is room.
    #[inline]
    pub(in crate::tcp) fn rests(&self) -> bool {
        self.rests
    }

    /// Notes that an ACK has made enough room (`sk_stream_write_space`).
    #[inline]
    pub(in crate::tcp) fn wake(&mut self) {
        self.lacks_space = false;
    }

    /// SOCK_NOSPACE. It stays set where arriving data ends the writer's sleep.
    #[inline]
    pub(in crate::tcp) fn lacks_space(&self) -> bool {
        self.lacks_space
    }
}
