//! The picture of the path: bars as wide as the document's values, hover text with them.

use crate::report_chromium::browser;
use crate::report_sample as sample;
use fullpipe::report::html::render;
use serde_json::json;

#[test]
fn bars_and_hover_text_are_the_documents_values() {
    let document = sample::fink();
    let Some(page) = browser::open(&render(&document)) else {
        return;
    };
    let run = &document.runs[0];
    let box_of = |stage: &str, read: &str| {
        let script = format!(
            "const box = document.querySelector('.path[data-run=\"0\"] [data-stage=\"{stage}\"]'); \
             return {read}"
        );
        page.run(&script, &[])
    };
    let wide = |bar: &str| {
        format!(
            "box.querySelector('.{bar}').getBoundingClientRect().width \
             / box.querySelector('.room').getBoundingClientRect().width"
        )
    };
    for place in &run.picture.places {
        let stage = run.stages.iter().find(|stage| stage.name == place.stage).expect("its stage");
        let title = box_of(&place.stage, "box.title");
        let title = title.as_str().expect("hover text");
        let peak = stage.peak.to_string();
        assert!(title.replace(',', "").contains(&format!("peak {peak} segment")), "{title}");
        assert!(title.contains("limit of bulk for 37.5 % of its life"), "{title}");
        let counted_in = if place.exact { "time" } else { "samples" };
        assert!(title.contains(&format!("empty 62.5 % of the {counted_in}")), "{title}");
        for (bar, share) in [("mean", place.mean_filled), ("peak", place.peak_filled)] {
            match share {
                Some(share) => {
                    let drawn = box_of(&place.stage, &wide(bar)).as_f64().expect("a width");
                    assert!((drawn - share).abs() < 0.01, "{bar} of {title}: {drawn}");
                }
                None => {
                    let query = format!("box.querySelector('.{bar}') === null");
                    assert_eq!(box_of(&place.stage, &query), json!(true), "{title}");
                }
            }
        }
    }
}
