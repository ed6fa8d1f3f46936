//! Finds or installs Java, which classic Spark needs.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{self, find, is_root};

/// Oldest version of Java that Spark 4 runs on.
const OLDEST: u32 = 17;
/// Debian package that has Java 17.
const PACKAGE: &str = "openjdk-17-jre-headless";
/// Note of a run without Java.
pub const MISSING: &str =
    "no Java 17 or later: the tests of classic Spark are skipped, and those of Sail run";

/// Returns the path of a `java` that classic Spark can run. If there is none, and the user is `root` on a Debian machine,
/// installs Java 17.
pub fn java() -> Option<PathBuf> {
    if let Some(java) = there() {
        return Some(java);
    }
    let installer = find("apt-get").filter(|_| is_root())?;
    // Without a network, the tests that need no Java still run.
    let installed = run::command(&installer, &["update", "-qq"]).and_then(|()| {
        run::command(&installer, &["install", "-qq", "--yes", "--no-install-recommends", PACKAGE])
    });
    if let Err(error) = installed {
        println!("Java could not be installed: {error:#}");
    }
    there()
}

/// Returns the first `java` that is new enough: that of `JAVA_HOME`, as Spark chooses it, or that of the path.
fn there() -> Option<PathBuf> {
    let home = std::env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin").join("java"));
    home.into_iter().chain(find("java")).find(|java| {
        // Standard error is read, because Java prints its version there.
        let shown = Command::new(java).arg("-version").output();
        let version = shown.ok().and_then(|shown| version(&String::from_utf8_lossy(&shown.stderr)));
        version >= Some(OLDEST)
    })
}

/// Makes a command, and all processes that it starts, use a `java`.
pub fn choose(command: &mut Command, java: &Path) {
    match java.parent().and_then(Path::parent).filter(|home| home.join("bin").join("java") == java) {
        // In a folder such as `/usr/bin`, `java` is a link. Spark finds it in the path unless `JAVA_HOME` names another.
        Some(_) if find("java").as_deref() == Some(java) => command.env_remove("JAVA_HOME"),
        Some(home) => command.env("JAVA_HOME", home),
        None => command,
    };
}

/// Returns the major version from a text such as `openjdk version "17.0.15" 2025-04-15`. Old versions begin with `1.`,
/// so they give 1.
fn version(shown: &str) -> Option<u32> {
    shown.split('"').nth(1)?.split(['.', '-', '+']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_java() {
        assert_eq!(version("openjdk version \"17.0.15\" 2025-04-15"), Some(17));
        assert_eq!(version("openjdk version \"21-ea\" 2023-09-19"), Some(21));
        assert_eq!(version("java version \"1.8.0_392\""), Some(1));
        assert_eq!(version("command not found"), None);
    }

    #[test]
    fn spark_uses_the_java_that_was_found() {
        let mut command = Command::new("true");
        choose(&mut command, Path::new("/opt/java-17/bin/java"));
        let home = command.get_envs().find(|(name, _)| *name == "JAVA_HOME").and_then(|(_, value)| value);
        assert_eq!(home, Some("/opt/java-17".as_ref()));
    }
}
