//! Some points of a sweep in place of all of them.

use super::manifest::Manifest;
use fullpipe_sim::rng::Rng;
use std::collections::BTreeSet;

/// Points drawn at random, the same of each variant, with all repetitions.
///
/// The draw follows from the number of points alone. So each sweep over the same axes has the same draw, on any engine,
/// and a larger draw has all points of a smaller one.
#[derive(Clone, Debug)]
pub struct Sample {
    chosen: BTreeSet<u64>,
    points: u64,
    seeds: u64,
}

impl Sample {
    /// `count` points of each variant; all where there are no more.
    pub fn draw(manifest: &Manifest, count: u64) -> Sample {
        let axes = manifest.axes.iter().map(|axis| axis.points.len() as u64);
        let points = axes.fold(1, u64::saturating_mul);
        let mut order: Vec<u64> = (0..points).collect();
        order.sort_by_cached_key(|point| Rng::new(*point, "sample").next_u64());
        order.truncate(usize::try_from(count).unwrap_or(usize::MAX));
        Sample { chosen: order.into_iter().collect(), points, seeds: manifest.seeds.into() }
    }

    /// Whether the run of that number is at a drawn point.
    pub fn has(&self, run: u64) -> bool {
        self.chosen.contains(&(run / self.seeds % self.points))
    }

    /// Number of runs at these points, of `all` runs.
    pub fn runs(&self, all: u64) -> u64 {
        all / self.points * self.chosen.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Source, Space};

    fn sweep() -> Manifest {
        let text = r#"
            title = "sample"
            duration = "1s"
            path = { rate = "10Mbit", delay = { forward = "1ms", back = "1ms" } }
            flow = [{ name = "bulk", congestion = "reno" }]
            variant = [{ name = "a" }, { name = "b", set = { "flow.bulk.congestion" = "cubic" } }]
            repeat = { seeds = 3 }
            [sweep]
            "path.loss" = { from = 1e-4, to = 1e-2, points = 10, scale = "log" }
            "path.mtu" = [1500, 4000, 9000]
        "#;
        let source = Source::text("sample", text);
        let space = Space::parse(&source, &[], &[]).expect("a scenario");
        Manifest::new(&space, &source, "sample", &[], "sim", &[])
    }

    fn points(manifest: &Manifest, count: u64) -> BTreeSet<u64> {
        let sample = Sample::draw(manifest, count);
        let runs: Vec<u64> = (0..manifest.runs).filter(|run| sample.has(*run)).collect();
        assert_eq!(runs.len() as u64, sample.runs(manifest.runs));
        runs.into_iter().map(|run| run / 3).collect()
    }

    #[test]
    fn a_draw_has_whole_points_of_each_variant() {
        let manifest = sweep();
        let few = points(&manifest, 4);
        // Points 0 to 29 belong to the first variant, later ones to the second.
        let of = |first: bool| few.iter().filter(move |p| (**p < 30) == first).map(|p| p % 30);
        assert_eq!(of(true).count(), 4);
        assert!(of(true).eq(of(false)), "{few:?}");
    }

    #[test]
    fn a_larger_draw_has_the_smaller_one() {
        let manifest = sweep();
        assert!(points(&manifest, 4).is_subset(&points(&manifest, 11)));
        assert_eq!(points(&manifest, 1000).len(), 60);
        assert_ne!(points(&manifest, 4), (0..4).chain(30..34).collect());
    }
}
