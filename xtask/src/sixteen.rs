//! `cargo x bench sixteen` measures the command with all cores of a machine.

use anyhow::{Result, bail, ensure};

use crate::bench;
use crate::dist::{self, ArchivedFile};
use crate::run::{root, target};

/// Upper bound on the bytes of the archive, because some machines accept only small files.
const ARCHIVE_BYTES: usize = 60 << 20;

const RUN: &str = "\
#!/bin/sh
# Prints the table. Files lie in memory unless another folder is named.
cd \"$(dirname \"$0\")\" && exec ./minwise-lab sixteen --minwise ./minwise --english english.jsonl.zst \"$@\"
";

/// Packs the command, the lab and a corpus into one archive for machines without Rust, and prints the table of this
/// machine.
pub fn run(data: &str) -> Result<()> {
    let (minwise, lab) = (bench::build()?, bench::build_lab()?);
    let english = root().join(data).join("english.jsonl.zst");
    if !english.exists() {
        bail!("`{}` is not there: name the folder that has it", english.display());
    }
    let file = |name: &str, content: Vec<u8>, is_program| ArchivedFile {
        path: format!("sixteen/{name}"),
        content,
        is_program,
    };
    let bytes = dist::archive(&[
        file("minwise", fs_err::read(&minwise)?, true),
        file("minwise-lab", fs_err::read(&lab)?, true),
        file("english.jsonl.zst", fs_err::read(&english)?, false),
        file("run.sh", RUN.into(), true),
    ])?;
    let archive = target().join("sixteen.tar.gz");
    ensure!(
        bytes.len() <= ARCHIVE_BYTES,
        "the archive has {} bytes, and {ARCHIVE_BYTES} are the limit",
        bytes.len()
    );
    fs_err::write(&archive, &bytes)?;
    println!(
        "\n{}: {:.1} MB. On another machine: `tar xzf sixteen.tar.gz && sixteen/run.sh`\n",
        archive.display(),
        bytes.len() as f64 / 1e6
    );
    let args = ["sixteen", "--minwise", &bench::path(&minwise), "--english", &bench::path(&english)];
    bench::command_quietly(&lab, &args)
}
