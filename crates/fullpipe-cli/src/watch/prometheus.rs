//! The figures as text for Prometheus, over HTTP.

use crate::connections::columns::TABLE;
use crate::connections::rows::{Row, Rows};
use crate::failure::Failure;
use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Most connections that are exported, the busiest first.
const MOST: usize = 1_000;
/// Longest time for a request.
const PATIENCE: Duration = Duration::from_secs(2);
/// Most bytes of a request.
const REQUEST: usize = 8 << 10;

/// Serves the last picture.
pub struct Exporter {
    text: Arc<Mutex<String>>,
}

impl Exporter {
    /// Listens at an address.
    ///
    /// # Errors
    /// The port is taken, or the address is not this host's.
    pub fn bind(address: SocketAddr) -> Result<Exporter, Failure> {
        let listener = TcpListener::bind(address).map_err(|why| match why.kind() {
            ErrorKind::AddrInUse => {
                let text = format!("--prometheus {address}: another program has this port");
                Failure::Environment(text)
            }
            _ => Failure::environment(format!("--prometheus {address}"), why),
        })?;
        let text = Arc::<Mutex<String>>::default();
        let served = text.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that goes away is no reason to end.
                let _ = answer(stream, &served);
            }
        });
        Ok(Exporter { text })
    }

    /// Takes over a picture.
    pub fn update(&self, rows: &Rows) {
        let text = metrics(rows);
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

/// Answers one request.
fn answer(mut stream: TcpStream, text: &Mutex<String>) -> std::io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let first = request(&mut stream)?;
    let mut words = first.split(' ');
    let (method, path) = (words.next(), words.next().and_then(|own| own.split('?').next()));
    let (status, body) = match (method, path) {
        (Some("GET"), Some("/metrics")) => {
            ("200 OK", text.lock().unwrap_or_else(PoisonError::into_inner).clone())
        }
        _ => ("404 Not Found", "GET /metrics has the figures\n".into()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

/// First line of a request, which is read as far as its empty line.
fn request(stream: &mut TcpStream) -> std::io::Result<String> {
    let (end, mut bytes, mut room) = (Instant::now() + PATIENCE, Vec::new(), [0; 1024]);
    while !bytes.windows(4).any(|own| own == b"\r\n\r\n") && bytes.len() < REQUEST {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut room)? {
            0 => break,
            read => bytes.extend(&room[..read]),
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().next().unwrap_or_default().to_string())
}

/// The figures of the connections that are open.
fn metrics(rows: &Rows) -> String {
    let mut out = String::new();
    head(&mut out, "connections", "Open connections that are watched", "gauge");
    let _ = writeln!(out, "fullpipe_tcp_connections {}", rows.count);
    let open = rows.rows.iter().filter(|row| row.entry.closed.is_none()).take(MOST);
    let open: Vec<(String, &Row)> = open.map(|row| (labels(row), row)).collect();
    for column in &TABLE {
        let (key, kind) = (column.key(), if column.is_counter { "counter" } else { "gauge" });
        head(&mut out, &key, column.about, kind);
        for (labels, row) in &open {
            if let Some(value) = (column.value)(row) {
                let _ = writeln!(out, "fullpipe_tcp_{key}{{{labels}}} {value}");
            }
        }
    }
    head(&mut out, "limit", "What held most of the last interval; 1 for that limit", "gauge");
    for (labels, row) in &open {
        if let Some(limit) = row.figures.limit {
            let name = limit.name;
            let _ = writeln!(out, "fullpipe_tcp_limit{{{labels},limit=\"{name}\"}} 1");
        }
    }
    out
}

fn head(out: &mut String, key: &str, about: &str, kind: &str) {
    let _ = writeln!(out, "# HELP fullpipe_tcp_{key} {about}.");
    let _ = writeln!(out, "# TYPE fullpipe_tcp_{key} {kind}");
}

/// Both ends as labels.
fn labels(row: &Row) -> String {
    let (here, there) = (row.entry.first.here, row.entry.first.there);
    format!(
        "local_address=\"{}\",local_port=\"{}\",peer_address=\"{}\",peer_port=\"{}\"",
        here.ip(),
        here.port(),
        there.ip(),
        there.port()
    )
}
