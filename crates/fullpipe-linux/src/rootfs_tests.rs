use super::*;

/// A directory of this process's number, as another container or a killed program has made it.
fn made_before(parent: &Path, number: u32) -> PathBuf {
    let path = parent.join(format!("{}-{number}", stale::hidden_name(NAME)));
    fs::create_dir(&path).expect("a directory");
    path
}

#[test]
fn names_that_are_taken_are_passed_and_what_nobody_holds_goes() {
    let parent = tempfile::tempdir().expect("a directory");
    let all: Vec<PathBuf> = (2..20).map(|number| made_before(parent.path(), number)).collect();
    let (held, left): (Vec<_>, Vec<_>) =
        all.into_iter().enumerate().partition(|(at, _)| at % 2 == 0);
    let locks: Vec<_> = held.iter().map(|(_, path)| stale::lock(path).expect("free")).collect();
    let directories = [(); 3].map(|()| RootFs::empty(parent.path()).expect("a root directory"));
    assert!(held.iter().all(|(_, path)| path.exists()));
    assert!(
        left.iter().all(|(_, path)| !path.exists() || directories.iter().any(|j| j.path == *path))
    );
    assert!(directories.iter().all(|rootfs| rootfs.path.is_dir()));
    drop((directories, locks));
    RootFs::empty(parent.path()).expect("a root directory");
    assert_eq!(fs::read_dir(parent.path()).expect("entries").count(), 0);
}

#[test]
fn threads_do_not_take_each_others_directories_for_leftovers() {
    let parent = tempfile::tempdir().expect("a directory");
    let make = || {
        (0..50).for_each(|_| {
            let rootfs = RootFs::empty(parent.path()).expect("a root directory");
            std::thread::yield_now();
            assert!(rootfs.path.is_dir(), "{} is gone", rootfs.path.display());
        });
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(make))));
}
