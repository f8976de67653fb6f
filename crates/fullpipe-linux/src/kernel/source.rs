//! The distribution's source: found on this machine or fetched by name, and unpacked as far as a
//! kernel needs it.

use super::process::{Children, ask};
use super::watch::{Step, Watch};
use super::{Error, Family, needs};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the installed package puts the source.
const INSTALLED: &str = "/usr/src";

/// Directories of drivers with C files that no option of ours compiles; Kconfig and Makefile files stay, as all of them
/// are read.
const DRIVERS: &str = "accel acpi ata atm bluetooth clk comedi crypto cxl dma edac firewire fpga gpu \
    greybus hid hwmon hwtracing i2c i3c iio infiniband input interconnect iommu irqchip isdn leds \
    mailbox mcb md media memory message mfd misc mmc mtd mux net/can net/dsa net/ethernet net/fddi \
    net/hamradio net/ipa net/phy net/usb net/wan net/wireless net/wwan nfc nvme nvmem pci perf phy \
    pinctrl platform power powercap ptp pwm regulator remoteproc rtc s390 scsi siox slimbus soc \
    soundwire spi staging target thermal thunderbolt ufs usb vdpa vfio video w1 watchdog xen";
/// Machines other than this one.
const MACHINES: &str = "alpha arc arm arm64 csky hexagon ia64 loongarch m68k microblaze mips nios2 \
    openrisc parisc powerpc riscv s390 sh sparc xtensa x86/kvm";
/// The rest.
const REST: [&str; 13] = [
    "sound/*.[ch]",
    "samples/*.[ch]",
    "Documentation/*.[ch]",
    "Documentation/*.rst",
    "Documentation/*.txt",
    "Documentation/*.yaml",
    "Documentation/*.svg",
    "tools/perf",
    "tools/testing",
    "*.dts",
    "*.dtsi",
    "*.dtso",
    "*_defconfig",
];

/// A source that can be unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// An installed package's archive.
    Archive(PathBuf),
    /// A package that is not installed.
    Package(PathBuf),
}

/// Name of the source package.
pub fn package(family: Family) -> String {
    format!("linux-source-{family}")
}

/// The source as installed below `root` (/ but in tests), if it is.
pub fn installed(root: &Path, family: Family) -> Option<PathBuf> {
    let inside = INSTALLED.trim_start_matches('/');
    let path = root.join(inside).join(format!("{}.tar.xz", package(family)));
    path.is_file().then_some(path)
}

/// Patterns of left-out files, in tar's form: a "*" matches "/" too.
pub fn excluded() -> Vec<String> {
    let drivers = DRIVERS.split_whitespace().map(|name| format!("drivers/{name}/*.[chS]"));
    let machines = MACHINES.split_whitespace().map(|name| format!("arch/{name}/*.[chS]"));
    let all = drivers.chain(machines).chain(REST.map(String::from));
    all.map(|pattern| format!("linux-source-*/{pattern}")).collect()
}

/// Finds the source, or fetches the package into `directory`.
///
/// # Errors
/// It is not installed and cannot be fetched; says how to get it.
pub fn obtain<W: Watch + ?Sized>(
    family: Family,
    directory: &Path,
    log: &File,
    watch: &mut W,
) -> Result<Source, Error> {
    if let Some(archive) = installed(Path::new("/"), family) {
        return Ok(Source::Archive(archive));
    }

    // apt-get download needs no root, in contrast to an installation.
    let package = package(family);
    let path = std::env::var_os("PATH").unwrap_or_default();
    fetchable(&path, &package)?;
    watch.step(&Step::Fetching(package.clone()));
    let mut children = Children::new(log)?;
    let mut command = Command::new("apt-get");
    children.start(command.args(["--quiet=2", "download", &package]).current_dir(directory))?;
    children.finish(watch, |_| {}).map_err(|error| match error {
        Error::Stopped => Error::Stopped,
        Error::Failed { what, .. } => Error::new(format!("{package} cannot be fetched: {what}"))
            .hint(format!("try: sudo apt-get update && sudo apt-get install {package}")),
    })?;
    fetched(directory, &package).map(Source::Package)
}

/// Checks that there are programs that fetch and open a package.
///
/// # Errors
/// A program is missing; the error names the packages to install.
pub fn fetchable(path: &OsStr, package: &str) -> Result<(), Error> {
    let tools = ["apt-get", "dpkg-deb"];
    match tools.into_iter().find(|tool| !needs::is_in(path, tool)) {
        None => Ok(()),
        Some(tool) => Err(Error::new(format!(
            "there is no {INSTALLED}/{package}.tar.xz, and without {tool} it cannot be fetched"
        ))
        .hint(format!(
            "install Debian's package {package}, or copy its archive to {INSTALLED}/{package}.tar.xz"
        ))),
    }
}

/// The package that was fetched.
fn fetched(directory: &Path, package: &str) -> Result<PathBuf, Error> {
    let start = format!("{package}_");
    let entries = fs::read_dir(directory).map_err(|e| Error::at(directory, e))?;
    let mut paths = entries.flatten().map(|entry| entry.path());
    paths
        .find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&start) && name.ends_with(".deb")
        })
        .ok_or_else(|| {
            Error::at(directory, format!("apt-get has left no {start}*.deb here"))
                .hint(format!("try: sudo apt-get install {package}"))
        })
}

impl Source {
    /// Version of the package; none where it is not known.
    pub fn version(&self, family: Family) -> Option<String> {
        let package = package(family);
        match self {
            Source::Archive(_) => {
                ask("dpkg-query", &["-W", "-f", "${Version}", &package].map(OsStr::new))
            }
            Source::Package(file) => {
                ask("dpkg-deb", &[OsStr::new("-f"), file.as_os_str(), OsStr::new("Version")])
            }
        }
    }

    /// Unpacks the files that a kernel needs into `directory`, which is made.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub fn unpack<W: Watch + ?Sized>(
        &self,
        family: Family,
        directory: &Path,
        log: &File,
        watch: &mut W,
    ) -> Result<(), Error> {
        fs::create_dir(directory).map_err(|e| Error::at(directory, e))?;
        let mut row = Vec::new();
        let mut xz = Command::new("xz");
        xz.args(["--decompress", "--stdout", "--threads=0"]);

        // A package contains the archive, so two more programs take it out.
        match self {
            Source::Archive(file) => drop(xz.arg(file)),
            Source::Package(file) => {
                let mut open = Command::new("dpkg-deb");
                open.arg("--fsys-tarfile").arg(file);
                let mut pick = Command::new("tar");
                let inside = format!(".{INSTALLED}/{}.tar.xz", package(family));
                pick.args(["--extract", "--to-stdout", &inside]);
                row.extend([open, pick]);
            }
        }
        let mut tar = Command::new("tar");
        tar.args(["--extract", "--strip-components=1", "--directory"]).arg(directory);
        tar.args(excluded().iter().map(|pattern| format!("--exclude={pattern}")));
        row.extend([xz, tar]);
        let mut children = Children::new(log)?;
        children.start_row(&mut row)?;
        children.finish(watch, |_| {})
    }
}

/// Version of unpacked source, as its Makefile says it.
///
/// # Errors
/// There is no such file, or it says none.
pub fn version(directory: &Path) -> Result<String, Error> {
    let path = directory.join("Makefile");
    let text = fs::read_to_string(&path).map_err(|e| Error::at(&path, e))?;
    version_in(&text).ok_or_else(|| Error::at(&path, "names no VERSION, PATCHLEVEL, SUBLEVEL"))
}

fn version_in(makefile: &str) -> Option<String> {
    let value = |name: &str| {
        makefile.lines().take(20).find_map(|line| {
            Some(line.strip_prefix(name)?.trim().strip_prefix('=')?.trim().to_owned())
        })
    };
    let (version, patch, sub) = (value("VERSION")?, value("PATCHLEVEL")?, value("SUBLEVEL")?);
    Some(format!("{version}.{patch}.{sub}{}", value("EXTRAVERSION").unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_makefile() {
        let text =
            "# x\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\nEXTRAVERSION =\nNAME = any\n";
        assert_eq!(version_in(text).as_deref(), Some("6.12.117"));
        assert_eq!(version_in("VERSION = 6\n"), None);
    }

    #[test]
    fn an_installed_archive_is_found() {
        let root = tempfile::tempdir().expect("a directory");
        assert_eq!(installed(root.path(), Family::V6_1), None);
        let directory = root.path().join("usr/src");
        fs::create_dir_all(&directory).expect("directories");
        let archive = directory.join("linux-source-6.1.tar.xz");
        fs::write(&archive, "").expect("a file");
        assert_eq!(installed(root.path(), Family::V6_1), Some(archive));
        assert_eq!(installed(root.path(), Family::V6_12), None);
    }

    #[test]
    fn without_apt_it_is_said_what_to_install() {
        let error = fetchable(OsStr::new(""), "linux-source-6.12").expect_err("no apt").to_string();
        assert!(error.contains("without apt-get"), "{error}");
        assert!(error.contains("install Debian's package linux-source-6.12"), "{error}");
    }

    #[test]
    fn the_fetched_package_is_the_one_of_this_name() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("linux-source-6.12_6.12.1_all.deb"), "").expect("a file");
        let found = |package| fetched(directory.path(), package);
        assert!(found("linux-source-6.12").is_ok());
        assert!(
            found("linux-source-6.1")
                .expect_err("another")
                .to_string()
                .contains("apt-get has left no")
        );
    }

    #[test]
    fn what_the_build_reads_stays() {
        let all = excluded();
        for kept in [
            "drivers/base",
            "drivers/char",
            "drivers/tty",
            "drivers/net/*",
            "arch/x86/*",
            "arch/um",
        ] {
            assert!(all.iter().all(|p| !p.contains(&format!("/{kept}"))), "{kept}");
        }
    }
}
