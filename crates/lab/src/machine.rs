//! Describes the machine and the build, for pages whose numbers depend on them.

use std::time::SystemTime;

use minwise::calendar::rfc3339;
use minwise::kernel::Kernel;

/// Returns the processor of this machine, the kernel, the build of this program, and the date.
#[must_use]
pub fn described() -> String {
    let processors = fs_err::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let build = if cfg!(debug_assertions) { "development" } else { "release" };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    format!(
        "{}, kernel {}, a {build} build, {:.10}",
        name.map_or("unknown processor", |(_, name)| name.trim()),
        Kernel::detect(),
        rfc3339(now)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_has_the_build_and_the_date() {
        let text = described();
        assert!(text.contains(" build, 20") && text.contains(", kernel "), "{text}");
    }
}
