//! Work that several threads share, piece by piece.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does `count` pieces of work with `jobs` threads, at least one. Results have the order of the pieces.
///
/// # Errors
/// The error of the first piece that has one; no more pieces begin after an error.
pub fn each<T: Send, E: Send>(
    count: usize,
    jobs: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, count.max(1)) {
            scope.spawn(|| {
                loop {
                    let piece = next.fetch_add(1, Ordering::SeqCst);
                    if piece >= count {
                        return;
                    }
                    let result = work(piece);
                    if result.is_err() {
                        next.store(count, Ordering::SeqCst);
                    }
                    results.lock().unwrap_or_else(PoisonError::into_inner).push((piece, result));
                }
            });
        }
    });

    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(piece, _)| *piece);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_order_of_the_pieces() {
        let squares: Result<Vec<usize>, ()> = each(100, 4, |n| Ok(n * n));
        assert_eq!(squares, Ok((0..100).map(|n| n * n).collect()));
        assert_eq!(each(0, 4, |_| Err::<(), ()>(())), Ok(Vec::new()));
    }

    #[test]
    fn nothing_begins_after_an_error() {
        let begun = AtomicUsize::new(0);
        let lost = each(1000, 1, |n| {
            begun.fetch_add(1, Ordering::SeqCst);
            if n == 3 { Err(n) } else { Ok(()) }
        });
        assert_eq!((lost, begun.into_inner()), (Err(3), 4));
    }
}
