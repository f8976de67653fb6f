//! Well-known programs that limit themselves, with the limits that they have where nothing is set.

use super::choices::AppKind;
use crate::format::values::choices;

/// A well-known program that limits itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// ssh, and programs over it: scp, rsync, tunnels.
    OpenSsh,
    /// OpenSSH's sftp, and scp since 9.0.
    Sftp,
    /// Dropbear's SSH server.
    Dropbear,
    /// HTTP/2 by its default window.
    Http2,
    /// curl's HTTP/2.
    Curl,
}

/// Limit of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Window, and bytes that are read before the other end allows more.
    Window(u64, u64),
    /// Requests, and bytes of an answer.
    Requests(i64, u64),
}

impl Program {
    /// Kind of its limit.
    pub fn kind(self) -> AppKind {
        match self.limit() {
            Limit::Window(..) => AppKind::Window,
            Limit::Requests(..) => AppKind::Requests,
        }
    }

    /// Its limit, where nothing is set.
    pub fn limit(self) -> Limit {
        match self {
            // channels.h: CHAN_SES_WINDOW_DEFAULT is 64 packets of 32 KiB. channel_check_window() allows more after three packets.
            Program::OpenSsh => Limit::Window(64 << 15, 3 << 15),
            // sftp.c: DEFAULT_NUM_REQUESTS, DEFAULT_COPY_BUFLEN.
            Program::Sftp => Limit::Requests(64, 32 << 10),
            // default_options.h: DEFAULT_RECV_WINDOW is 24 KiB. sysoptions.h: RECV_WINDOWEXTEND is a third of it.
            Program::Dropbear => Limit::Window(24 << 10, 8 << 10),
            // RFC 9113, 6.9.2: 65,535 bytes. nghttp2 allows more after half of it.
            Program::Http2 => Limit::Window(65_535, 32_767),
            // lib/http2.c: H2_STREAM_WINDOW_SIZE_MAX; nghttp2 allows more after half of it.
            Program::Curl => Limit::Window(10 << 20, 5 << 20),
        }
    }
}

choices! {
    Program {
        "openssh" = Program::OpenSsh, "sftp" = Program::Sftp, "dropbear" = Program::Dropbear,
        "http2" = Program::Http2, "curl-http2" = Program::Curl
    }
}
