//! A checksum in the metadata of a Parquet file, over the whole file, against damage.
//!
//! Parquet's own checksums are optional and leave out the metadata. This checksum is the FNV-1a hash with 64 bits
//! (draft-eastlake-fnv, section 5) of the file in which the checksum itself is sixteen zeros.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;

/// Key of the checksum; it must be the last key of the file's metadata.
pub const KEY: &str = "fullpipe.checksum";
/// The value to write the file with.
pub const UNSEALED: &str = "0000000000000000";

const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;
/// Length of the metadata and "PAR1" at the end of a Parquet file.
const TAIL: u64 = 8;
/// Bytes between key and value: type of the field and length of the value.
const BETWEEN: usize = 2;

/// Hash of bytes in memory, as a file's checksum takes it.
pub fn of(bytes: &[u8]) -> u64 {
    extend(BASIS, bytes)
}

fn extend(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

/// Replaces [`UNSEALED`] in a finished file by its checksum.
///
/// # Errors
/// The file cannot be read or written, or has no place for a checksum.
pub fn seal(file: &mut File) -> io::Result<()> {
    let (place, sum) = sum(file)?;
    file.seek(SeekFrom::Start(place.start))?;
    file.write_all(sum.as_bytes())
}

/// Whether a file is as it was when it was sealed.
///
/// # Errors
/// It cannot be read, or has no checksum.
pub fn fits(file: &mut File) -> io::Result<bool> {
    let (place, sum) = sum(file)?;
    let mut found = [0; UNSEALED.len()];
    file.seek(SeekFrom::Start(place.start))?;
    file.read_exact(&mut found)?;
    file.rewind()?;
    Ok(found == sum.as_bytes())
}

/// Place of the checksum in the file, and its right value.
fn sum(file: &mut File) -> io::Result<(Range<u64>, String)> {
    let (start, mut metadata) = metadata(file)?;
    let place = place(&metadata)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "it has no checksum"))?;
    // The hash is of the file with zeros in the place of the checksum.
    metadata[place.clone()].copy_from_slice(UNSEALED.as_bytes());
    file.rewind()?;
    let hash = extend(data_hash(BufReader::new(file).take(start))?, &metadata);
    let at = |offset: usize| start + offset as u64;
    Ok((at(place.start)..at(place.end), format!("{hash:016x}")))
}

fn data_hash(mut data: impl Read) -> io::Result<u64> {
    let mut hash = BASIS;
    let mut buffer = [0; 1 << 14];
    loop {
        match data.read(&mut buffer)? {
            0 => return Ok(hash),
            n => hash = extend(hash, &buffer[..n]),
        }
    }
}

/// Start and contents of the metadata, to the end of the file.
fn metadata(file: &mut File) -> io::Result<(u64, Vec<u8>)> {
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, "it has no metadata at its end");
    // The file ends with the length of the metadata and Parquet's mark.
    let length = file.seek(SeekFrom::End(0))?;
    let tail = length.checked_sub(TAIL).ok_or_else(wrong)?;
    file.seek(SeekFrom::Start(tail))?;
    let mut bytes = [0; 4];
    file.read_exact(&mut bytes)?;
    let start = tail.checked_sub(u32::from_le_bytes(bytes).into()).ok_or_else(wrong)?;
    file.seek(SeekFrom::Start(start))?;
    let mut metadata = Vec::new();
    file.read_to_end(&mut metadata)?;
    Ok((start, metadata))
}

fn place(metadata: &[u8]) -> Option<Range<usize>> {
    let key = metadata.windows(KEY.len()).rposition(|window| window == KEY.as_bytes())?;
    let start = key + KEY.len() + BETWEEN;
    let place = start..start + UNSEALED.len();
    metadata.get(place.clone()).map(|_| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_texts_have_known_hashes() {
        // The test vectors of the draft, appendix C.
        let vectors = [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ];
        for (text, hash) in vectors {
            assert_eq!(data_hash(text.as_bytes()).unwrap(), hash, "{text}");
        }
    }
}
