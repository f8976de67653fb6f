//! A server of remote procedure calls over TCP: as much of RFC 5531 as the kernel's clients need.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use crate::error::{Context, Result};

/// Longest call, bytes.
const LONGEST: usize = 64 << 10;
/// Stack of a connection's thread, bytes.
const STACK: usize = 128 << 10;
/// Set in the length of a record's last fragment.
const LAST: u32 = 1 << 31;
/// `accept_stat` of RFC 5531: done, and no such procedure.
const SUCCESS: u32 = 0;
const PROC_UNAVAIL: u32 = 3;
/// `msg_type` of an answer.
const REPLY: u32 = 1;

/// A call. Its arguments are not looked at: there is one thing to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    id: u32,
    /// Number of the procedure, of the only program here.
    pub procedure: u32,
}

/// Answer to a call; none: there is no such procedure.
pub type Answers = Arc<dyn Fn(Call) -> Option<Vec<u8>> + Send + Sync>;

/// Listens in the namespace of the calling thread. [`serve`] answers.
pub fn listen(port: u16) -> Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).at(|| format!("listening at port {port}"))
}

/// Answers calls until the kernel ends, each connection in a thread of its own.
pub fn serve(listener: &TcpListener, answers: &Answers) -> Result<()> {
    for stream in listener.incoming() {
        let stream = stream.at(|| "accept")?;
        let answers = answers.clone();
        thread::Builder::new()
            .stack_size(STACK)
            .spawn(move || {
                // A connection ends when its client has closed it; no one misses it.
                let _ = converse(stream, &answers);
            })
            .at(|| "a thread")?;
    }
    Ok(())
}

fn converse(mut stream: TcpStream, answers: &Answers) -> io::Result<()> {
    loop {
        let record = read_record(&mut stream)?;
        let Some(call) = read_call(&record) else { return Ok(()) };
        let body = reply(call, answers(call));
        let head = LAST | body.len() as u32;
        stream.write_all(&[&head.to_be_bytes()[..], &body].concat())?;
    }
}

/// The fragments of a record.
fn read_record(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut record = Vec::new();
    loop {
        let mut head = [0; 4];
        from.read_exact(&mut head)?;

        // A fragment's head: its length, and a bit for the last one (RFC 5531, section 11).
        let head = u32::from_be_bytes(head);
        let (start, length) = (record.len(), (head & !LAST) as usize);
        if start + length > LONGEST {
            return Err(io::Error::other("a call is too long"));
        }
        record.resize(start + length, 0);
        from.read_exact(&mut record[start..])?;
        if head & LAST != 0 {
            return Ok(record);
        }
    }
}

/// The call; none if this is none.
fn read_call(record: &[u8]) -> Option<Call> {
    let word = |number: usize| {
        let bytes = record.get(4 * number..4 * number + 4)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    };
    // Number, type (0 is a call), version of RPC, program, its version, procedure.
    (word(1)? == 0).then_some(())?;
    Some(Call { id: word(0)?, procedure: word(5)? })
}

/// The answer, without proof of who gives it (AUTH_NONE).
fn reply(call: Call, results: Option<Vec<u8>>) -> Vec<u8> {
    let status = if results.is_some() { SUCCESS } else { PROC_UNAVAIL };
    let head = [call.id, REPLY, 0, 0, 0, status];
    let mut bytes: Vec<u8> = head.iter().flat_map(|word| word.to_be_bytes()).collect();
    bytes.extend(results.unwrap_or_default());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(procedure: u32) -> Vec<u8> {
        let words = [77, 0, 2, 100_005, 3, procedure, 0, 0, 0, 0];
        words.iter().flat_map(|word: &u32| word.to_be_bytes()).collect()
    }

    #[test]
    fn a_call_comes_in_fragments_and_is_answered_by_its_number() {
        let call = call(1);
        let (first, second) = call.split_at(8);
        let heads = [first.len() as u32, LAST | second.len() as u32].map(u32::to_be_bytes);
        let bytes = [&heads[0][..], first, &heads[1], second].concat();
        let record = read_record(&mut &bytes[..]).expect("a record");
        let call = read_call(&record).expect("a call");
        assert_eq!(call, Call { id: 77, procedure: 1 });
        let word = |bytes: &[u8], at: usize| bytes[4 * at + 3];
        let answer = reply(call, Some(vec![9; 4]));
        assert_eq!((word(&answer, 0), word(&answer, 1), word(&answer, 5)), (77, 1, 0));
        assert_eq!(answer[24..], [9; 4]);
        assert_eq!(word(&reply(call, None), 5), 3);
    }

    #[test]
    fn what_is_no_call_has_no_answer() {
        let mut answer = call(1);
        answer[7] = 1;
        assert_eq!(read_call(&answer), None);
        assert_eq!(read_call(&call(1)[..20]), None);
        let too_long = (LAST | (LONGEST as u32 + 1)).to_be_bytes();
        assert!(read_record(&mut &too_long[..]).is_err());
    }
}
