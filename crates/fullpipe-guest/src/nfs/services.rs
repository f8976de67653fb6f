//! Services that the kernel asks programs of a server for: registration (rpcbind), and the root's handle (MOUNT).

use std::sync::Arc;

use super::rpc::{self, Answers, Call};
use crate::error::Result;
use crate::namespaces::{self, Namespace};

/// Port of rpcbind, where nfsd and lockd make themselves known.
const RPCBIND_PORT: u16 = 111;
/// Port of the MOUNT protocol.
pub const MOUNT_PORT: u16 = 20_048;
/// Procedure 0 of every program: nothing.
const NULL: u32 = 0;
/// AUTH_SYS: programs say who they are (RFC 5531).
const AUTH_SYS: u32 = 1;

/// Starts rpcbind in a namespace; the kernel finds it there when it starts nfsd.
pub fn start_rpcbind(namespace: &Namespace) -> Result<()> {
    start("rpcbind", RPCBIND_PORT, namespace, Arc::new(rpcbind))
}

/// Starts the service that answers MOUNT with the root's handle.
pub fn start_mount(root: Vec<u8>, namespace: &Namespace) -> Result<()> {
    start("mountd", MOUNT_PORT, namespace, Arc::new(move |call| mount(call, &root)))
}

fn start(name: &str, port: u16, namespace: &Namespace, answers: Answers) -> Result<()> {
    namespace.enter()?;
    let listener = rpc::listen(port)?;
    namespaces::spawn(name.into(), &namespace.fd, move || rpc::serve(&listener, &answers)).map(drop)
}

/// SET (1) and UNSET (2) are granted (RFC 1833); no program asks for the entries.
fn rpcbind(call: Call) -> Option<Vec<u8>> {
    match call.procedure {
        NULL => Some(Vec::new()),
        1 | 2 => Some(words(&[1])),
        _ => None,
    }
}

/// MNT (1) and UMNT (3) of version 3: status 0, the handle, and the kinds of authentication.
fn mount(call: Call, root: &[u8]) -> Option<Vec<u8>> {
    match call.procedure {
        NULL | 3 => Some(Vec::new()),
        1 => {
            let mut handle = root.to_vec();
            handle.resize(root.len().next_multiple_of(4), 0);
            Some([words(&[0, root.len() as u32]), handle, words(&[1, AUTH_SYS])].concat())
        }
        _ => None,
    }
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}
