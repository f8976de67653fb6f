//! The program at a client: writes new files, each to the end and to the server's memory (fsync), or reads files to
//! their end. It mounts them first.

use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use fullpipe_guest::plan::{Nfs, Plan};
use fullpipe_guest::record::{ACCEPTED, CONGESTION_SIZE, ESTABLISHED, FINISHED};

use super::client::{self, Mount};
use super::server;
use crate::error::{Context, Result};
use crate::namespaces::{self, Namespace};
use crate::run::Event;
use crate::{run, sys};

/// State that the threads of the program share.
#[derive(Clone)]
struct Program {
    nfs: Arc<Nfs>,
    /// Number of its client.
    client: usize,
    connections: Range<usize>,
    /// Files that are not done.
    left: Arc<AtomicU32>,
}

/// Starts the program of a client that mounts by these connections.
pub fn start(
    client: usize,
    nfs: &Nfs,
    connections: Range<usize>,
    plan: &Plan,
    namespace: &Namespace,
) -> Result<()> {
    let program = Program {
        nfs: Arc::new(nfs.clone()),
        client,
        connections,
        left: Arc::new(AtomicU32::new(nfs.files)),
    };
    let mount = Mount::new(client, nfs, plan);
    let threads = namespace.fd.try_clone().at(|| "a network namespace")?;
    namespaces::spawn(format!("mount {client}"), &namespace.fd, move || {
        sys::sleep_until(run::start() + program.nfs.start_ns);
        mount.mount()?;
        for number in 0..program.nfs.files {
            let (name, program) = (format!("program of file {client}-{number}"), program.clone());
            namespaces::spawn(name, &threads, move || program.file(number))?;
        }
        Ok(())
    })
    .map(drop)
}

impl Program {
    /// Opens a file and writes or reads it. When the last one is done so are all connections.
    fn file(&self, number: u32) -> Result<()> {
        let Program { nfs, client, connections, left } = self;
        let path = Path::new(&client::directory(*client)).join(server::name(*client, number));
        let what = || path.display().to_string();
        let file = if nfs.reads { File::open(&path) } else { File::create(&path) }.at(what)?;

        // The first file shows that the connections are in use.
        if number == 0 {
            connections.clone().for_each(|connection| begun(connection, &nfs.congestion));
        }
        if nfs.reads { read(nfs, file) } else { write(nfs, file) }.at(what)?;
        if left.fetch_sub(1, Ordering::SeqCst) == 1 {
            let bytes = nfs.file * u64::from(nfs.files);
            connections.clone().for_each(|at| run::remember(Event::now(at, FINISHED, bytes)));
        }
        Ok(())
    }
}

/// Records that a connection begins to be used: a file is open, and its data follows. Programs such as dd and iozone do
/// not measure the calls that open it.
fn begun(connection: usize, congestion: &str) {
    let mut name = [0; CONGESTION_SIZE];
    name.iter_mut().zip(congestion.bytes()).for_each(|(to, from)| *to = from);
    let more = [&[0; 8][..], &name].concat();
    run::remember(Event { more, ..Event::now(connection, ESTABLISHED, 0) });
    run::remember(Event::now(connection, ACCEPTED, 0));
}

fn write(nfs: &Nfs, mut file: File) -> io::Result<()> {
    let (zeros, mut left) = (vec![0; nfs.record as usize], nfs.file);
    while left > 0 {
        let bytes = left.min(u64::from(nfs.record));
        file.write_all(&zeros[..bytes as usize])?;
        left -= bytes;
    }
    file.sync_all()
}

fn read(nfs: &Nfs, mut file: File) -> io::Result<()> {
    let (mut room, mut read) = (vec![0; nfs.record as usize], 0);
    loop {
        match file.read(&mut room)? {
            0 if read == nfs.file => return Ok(()),
            0 => return Err(io::Error::other(format!("it ends after {read} bytes"))),
            came => read += came as u64,
        }
    }
}
