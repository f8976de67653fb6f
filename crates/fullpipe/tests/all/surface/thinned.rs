//! A sweep with more points than a page can hold: some points are drawn, as they were measured, and the page says so.

use super::{cells, manifest, manifest_of};
use fullpipe::sweep::surface::{Failures, Surfaces, page};

const LOSSES: usize = 300;
const DELAYS: usize = 200;

fn many() -> String {
    let losses =
        format!(r#""path.loss" = {{ from = 1e-6, to = 1e-2, points = {LOSSES}, scale = "log" }}"#);
    let delays =
        (1..=DELAYS).map(|ms| format!(r#"["{ms}ms", "{ms}ms"]"#)).collect::<Vec<_>>().join(", ");
    super::SCENARIO
        .replace(r#""path.loss" = [1e-5, 1e-4, 1e-3, 1e-2]"#, &losses)
        .replace(r#"[["5ms", "5ms"], ["20ms", "20ms"], ["50ms", "50ms"]]"#, &format!("[{delays}]"))
}

#[test]
fn many_points_are_thinned_and_the_page_says_so() {
    let (space, manifest) = manifest_of(&many());
    let cells = cells(&space);
    assert_eq!(cells.len(), 2 * LOSSES * DELAYS - 1);
    let surfaces = Surfaces::new(&manifest, &cells, Failures::default());
    let [losses, delays] = &surfaces.axes[..] else { panic!("two axes") };
    let drawn = 2 * losses.shown.len() * delays.shown.len();
    // The last cell is missing, and it belongs to those that would be drawn.
    assert_eq!(surfaces.points.len(), drawn - 1);
    assert!((15_000..=20_000).contains(&drawn), "{drawn}");
    assert_eq!([&delays.labels[0], delays.labels.last().expect("a label")], ["1ms", "200ms"]);
    assert_eq!(surfaces.differences[0].shown.chars().count(), drawn / 2);
    // Each is a cell as it was measured.
    for point in surfaces.points.iter().step_by(997) {
        let variant = &surfaces.panels[point.panel];
        let (loss, delay) = (&losses.shown[point.at[0]], &delays.labels[point.at[1]]);
        let is = |cell: &&fullpipe::sweep::cells::Cell| {
            cell.variant == *variant
                && fullpipe::numbers::written(&cell.at["path.loss"]) == *loss
                && cell.at["path.delay.forward"] == **delay
        };
        let own = cells.iter().find(is).expect("its cell");
        assert_eq!(own.flows[0].settled_mbit, point.rate);
    }
    let html = page(&surfaces, "Many runs.");
    let said = format!(
        "Drawn are {} of 300 values of path.loss, {} of 200 values of path.delay.forward, path.delay.back, evenly chosen",
        losses.shown.len(),
        delays.shown.len()
    );
    assert!(html.contains(&said), "{said}");
    assert!(html.len() < 12_000_000, "{} bytes", html.len());
}

#[test]
fn few_points_are_all_drawn() {
    let (space, manifest) = manifest();
    let surfaces = Surfaces::new(&manifest, &cells(&space), Failures::default());
    assert!(surfaces.thinned.is_empty());
    assert!(!page(&surfaces, "23 runs.").contains("id=\"thinned\""));
}
