use super::*;
use crate::kernel::record::FORMAT;

/// Watches nothing; counts how often the build waits, and stops it then.
#[derive(Default)]
struct Waits(Vec<Step>);

impl Watch for Waits {
    fn step(&mut self, step: &Step) {
        self.0.push(step.clone());
    }

    fn compiled(&mut self, _: u64, _: u64) {}

    fn stopped(&self) -> bool {
        !self.0.is_empty()
    }
}

fn wanted(hz: &str) -> Wanted {
    Wanted { hz: hz.parse().expect("an HZ"), ..Wanted::default() }
}

fn record() -> Record {
    Record {
        format: FORMAT,
        source_version: "6.12.1".into(),
        package_version: None,
        hz: 1000,
        configuration: "x".into(),
        built: "2026-01-01T00:00:00Z".into(),
        compiler: "gcc".into(),
        bytes: 3,
        cpu_s: 1.5,
        wall_s: 2.5,
        lines: 7,
        fullpipe: "0.1.0".into(),
    }
}

fn ready(place: &Place) -> PathBuf {
    let ready = place.directory().join("ready");
    fs::create_dir(&ready).expect("a directory");
    fs::write(ready.join(KERNEL), "ELF").expect("a file");
    record().write(&ready).expect("a record");
    ready
}

fn names(cache: &Cache) -> Vec<String> {
    let entries = fs::read_dir(cache.directory()).expect("a directory").flatten();
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_directory_is_the_first_that_is_named() {
    let at = |set: &[(&str, &str)]| {
        root(|name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into()))
    };
    let all = [("FULLPIPE_CACHE", "/a"), ("XDG_CACHE_HOME", "/b"), ("HOME", "/c")];
    assert_eq!(at(&all), Some("/a".into()));
    assert_eq!(at(&all[1..]), Some("/b/fullpipe".into()));
    assert_eq!(at(&all[2..]), Some("/c/.cache/fullpipe".into()));
    assert_eq!(at(&[]), None);
}

#[test]
fn a_kernel_is_found_when_it_is_whole_and_not_before() {
    let root = tempfile::tempdir().expect("a directory");
    let cache = Cache::at(root.path());
    assert_eq!((cache.list(), cache.find(&wanted("250"))), (vec![], None));
    let lock = cache.lock(&mut Waits::default()).expect("a lock");
    let place = cache.begin(&wanted("250")).expect("a place");
    let ready = ready(&place);
    assert_eq!((cache.list(), cache.find(&wanted("250"))), (vec![], None));
    let entry = place.finish(&ready).expect("a kernel");
    drop((lock, place));
    assert_eq!(cache.find(&wanted("250")), Some(entry.clone()));
    assert_eq!(cache.find(&wanted("100")), None);
    assert_eq!(entry.record, Ok(record()));
    assert!(entry.is_current() && entry.kernel().is_file());
    assert_eq!(names(&cache), [".lock".to_owned(), wanted("250").name()]);
}

#[test]
fn a_second_build_takes_the_place_of_the_first() {
    let root = tempfile::tempdir().expect("a directory");
    let cache = Cache::at(root.path());
    let _lock = cache.lock(&mut Waits::default()).expect("a lock");
    for text in ["one", "two"] {
        let place = cache.begin(&wanted("250")).expect("a place");
        let ready = ready(&place);
        fs::write(ready.join(KERNEL), text).expect("a file");
        let entry = place.finish(&ready).expect("a kernel");
        assert_eq!(fs::read_to_string(entry.kernel()).expect("a kernel"), text);
    }
    assert_eq!(names(&cache).len(), 2);
}

#[test]
fn damaged_kernels_are_listed_but_not_found() {
    let root = tempfile::tempdir().expect("a directory");
    let cache = Cache::at(root.path());
    let directory = cache.directory().join(wanted("1000").name());
    fs::create_dir_all(&directory).expect("a directory");
    fs::create_dir_all(cache.directory().join("6.12-hz1000")).expect("another's");
    fs::write(directory.join(KERNEL), "ELF").expect("a file");
    for (text, part) in [("", "no description"), ("{}", "no description")] {
        fs::write(directory.join("kernel.json"), text).expect("a file");
        let entries = cache.list();
        assert_eq!((entries.len(), cache.find(&wanted("1000"))), (1, None));
        let error = entries[0].record.clone().expect_err("damaged").to_string();
        assert!(error.contains(part) && !entries[0].is_current(), "{error}");
    }
    cache.remove(&cache.list()[0]).expect("removed");
    assert_eq!(names(&cache), ["6.12-hz1000"]);
}

#[test]
fn who_builds_is_waited_for_and_named() {
    let root = tempfile::tempdir().expect("a directory");
    let cache = Cache::at(root.path());
    let _lock = cache.lock(&mut Waits::default()).expect("a lock");
    let mut other = Waits::default();
    assert_eq!(cache.lock(&mut other).expect_err("stopped"), Error::Stopped);
    assert_eq!(other.0, [Step::Waiting(Some(std::process::id()))]);
}

#[test]
fn what_a_killed_build_left_goes_with_the_next() {
    let root = tempfile::tempdir().expect("a directory");
    let cache = Cache::at(root.path());
    // No process has this number.
    let left = cache.directory().join(format!(".{}.1073741824.tmp", wanted("250").name()));
    fs::create_dir_all(left.join("source")).expect("a directory");
    let held = cache.lock(&mut Waits::default()).expect("a lock");
    assert!(!left.exists());
    let place = cache.begin(&wanted("250")).expect("a place");
    drop(held);
    drop(cache.lock(&mut Waits::default()).expect("a lock"));
    assert!(place.directory().exists());
}
