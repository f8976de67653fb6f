//! Applications of flows: the keys of each kind.

use super::format::context::{Context, Place};
use super::format::values::Choice;
use super::resolved::App;
use super::written::{AppKind, AppTable};
use fullpipe_base::units::{Rate, Time};

/// Keys of a kind, with the number of needed ones (the first), and an example.
struct Keys {
    all: &'static [&'static str],
    needed: usize,
    example: &'static str,
}

/// Example of a program that corks its socket.
const CORKED: &str = "{ kind = \"messages\", size = \"1kB\", cork = true }";

fn keys(kind: AppKind) -> Keys {
    // Keys of each kind, how many of them are needed, and an example.
    let (all, needed, example): (&[_], _, _) = match kind {
        AppKind::Bulk => (&[], 0, "kind = \"rate\""),
        AppKind::Rate => (&["rate"], 1, "{ kind = \"rate\", rate = \"1Gbit\" }"),
        AppKind::OnOff => {
            (&["on", "off"], 2, "{ kind = \"on-off\", on = \"1s\", off = \"500ms\" }")
        }
        AppKind::Window => (&["window", "size", "program"], 1, "{ window = \"2MiB\" }"),
        AppKind::Requests => {
            (&["requests", "size", "program"], 1, "{ requests = 64, size = \"32KiB\" }")
        }
        AppKind::Messages => {
            let keys = &["size", "in_flight", "period", "cork"];
            (keys, 0, "{ kind = \"messages\", size = \"1kB\", in_flight = 8 }")
        }
    };
    Keys { all, needed, example }
}

/// Places of the keys that are written, by their names.
fn written(app: &AppTable) -> Vec<(&'static str, Place)> {
    let keys = [
        ("rate", app.rate.as_ref().map(|at| at.place)),
        ("on", app.on.as_ref().map(|at| at.place)),
        ("off", app.off.as_ref().map(|at| at.place)),
        ("window", app.window.as_ref().map(|at| at.place)),
        ("requests", app.requests.as_ref().map(|at| at.place)),
        ("size", app.size.as_ref().map(|at| at.place)),
        ("in_flight", app.in_flight.as_ref().map(|at| at.place)),
        ("period", app.period.as_ref().map(|at| at.place)),
        ("cork", app.cork.as_ref().map(|at| at.place)),
        ("program", app.program.as_ref().map(|at| at.place)),
    ];
    keys.into_iter().filter_map(|(name, place)| Some((name, place?))).collect()
}

/// Keys that the kind does not have, and a program of another kind.
fn strange(app: &AppTable, kind: AppKind) -> Vec<(&'static str, Place)> {
    let own = keys(kind).all;
    let is_other = app.program.as_ref().is_some_and(|at| at.value.kind() != kind);
    written(app)
        .into_iter()
        .filter(|(name, _)| !own.contains(name) || *name == "program" && is_other)
        .collect()
}

/// Kind of a program, or the last kind with a key.
fn kind_with(app: &AppTable, key: &str) -> Option<AppKind> {
    match &app.program {
        Some(at) if key == "program" => Some(at.value.kind()),
        _ => AppKind::VALUES.iter().rfind(|kind| keys(**kind).all.contains(&key)).copied(),
    }
}

/// Keys that the kind needs, and that are not there. A program has the limit of its kind.
fn missing(app: &AppTable, kind: AppKind) -> Vec<&'static str> {
    let own = keys(kind);
    let known: Vec<&str> = written(app).into_iter().map(|(name, _)| name).collect();
    let has_limit = app.program.as_ref().is_some_and(|at| at.value.kind() == kind);
    let needed = own.all[..own.needed].iter();
    needed.filter(|name| !known.contains(name) && !has_limit).copied().collect()
}

/// Kind of an application: the written one, or the kind that its keys imply.
pub(super) fn kind(app: &AppTable) -> Option<AppKind> {
    match (&app.kind, &app.window, &app.requests) {
        (Some(kind), ..) => Some(kind.value),
        _ if app.wrong => None,
        (None, Some(_), _) => Some(AppKind::Window),
        (None, None, Some(_)) => Some(AppKind::Requests),
        (None, None, None) => {
            Some(app.program.as_ref().map_or(AppKind::Bulk, |at| at.value.kind()))
        }
    }
}

/// Whether the keys fit the kind, and are complete.
pub(super) fn is_whole(app: &AppTable, kind: AppKind) -> bool {
    !app.wrong && strange(app, kind).is_empty() && missing(app, kind).is_empty()
}

/// The application of a flow with writes of this size. Reports errors.
pub(super) fn resolve(app: &AppTable, write: u64, cx: &mut Context) -> Option<App> {
    let kind = self::kind(app)?;
    let (name, example) = (name(kind), keys(kind).example);

    // All wrong keys are reported at once.
    for (key, place) in strange(app, kind) {
        let this = if key == "program" { "such `program`".into() } else { format!("`{key}`") };
        let what = format!("an application of kind \"{name}\" has no {this}");
        let example = match key {
            "cork" => CORKED,
            _ => kind_with(app, key).map_or(example, |kind| keys(kind).example),
        };
        cx.error("conflict", place, what).expected(example);
    }
    let place = app.kind.as_ref().map_or(app.place, |at| at.place);
    for key in missing(app, kind).iter().filter(|_| !app.wrong) {
        let what = format!("an application of kind \"{name}\" needs `{key}`");
        cx.error("missing-key", place, what).expected(example);
    }

    // Values of a wrong table would add errors that follow from the first.
    if !is_whole(app, kind) {
        return None;
    }

    let times = [&app.on, &app.off].map(|key| Some(Time::ns(key.as_ref()?.value.0)));
    Some(match kind {
        AppKind::Bulk => App::Bulk,
        AppKind::Rate => App::Rate { rate: Rate(app.rate.as_ref()?.value.0) },
        AppKind::OnOff => App::OnOff { on: times[0]?, off: times[1]? },
        AppKind::Messages => App::Messages {
            size: app.size.as_ref().map_or(write, |at| at.value.0),
            in_flight: app
                .in_flight
                .as_ref()
                .map_or(1, |at| u32::try_from(at.value.0).unwrap_or(u32::MAX)),
            period: app.period.as_ref().map(|at| Time::ns(at.value.0)),
            cork: app.cork.as_ref().is_some_and(|at| at.value),
        },
        // They have become messages, unless something was wrong.
        AppKind::Window | AppKind::Requests => return None,
    })
}

/// Name of a kind in scenarios.
fn name(kind: AppKind) -> &'static str {
    let at = AppKind::VALUES.iter().position(|own| *own == kind);
    at.map_or("", |at| AppKind::NAMES[at])
}
