//! Measures the share of a known text that is found in documents made from it.
//!
//! LibreOffice converts texts of this repository to documents of each kind. `minwise compare` computes the similarity
//! of a text and the text that is extracted from its document: the exact Jaccard similarity of shingles of five words.
//! If the Debian package `debian-policy` is installed, its texts are compared, too. They exist as plain text, and as
//! HTML, EPUB or PDF made by other programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::bench::{path, work};
use crate::run::{cargo, output, root, target};

/// Texts from which documents are made.
const TEXTS: [&str; 3] = ["ARCHITECTURE.md", "SECURITY.md", "LICENSE-APACHE"];
/// Extensions of the documents.
const KINDS: [&str; 5] = ["docx", "odt", "html", "epub", "pdf"];
/// Folder of the Debian policy.
const POLICY: &str = "/usr/share/doc/debian-policy";

/// Texts in the folder of the policy, and documents made from the same sources.
const PUBLISHED: [(&str, &str, &str); 5] = [
    ("copyright-format-1.0.txt.gz", "html", "copyright-format-1.0.html"),
    ("perl-policy.txt.gz", "html", "perl-policy-1.html"),
    ("policy.txt.gz", "epub", "policy.epub"),
    ("policy.txt.gz", "pdf", "policy.pdf.gz"),
    ("fhs/fhs-3.0.txt.gz", "pdf", "fhs/fhs-3.0.pdf.gz"),
];

/// Converts, compares, and prints a table.
pub fn run() -> Result<()> {
    // The debug build is used, because nothing is timed and this build takes the least time.
    cargo(&["build", "--package", "minwise-cli"])?;
    let minwise = target().join("debug").join(format!("minwise{}", std::env::consts::EXE_SUFFIX));
    println!("| text | kind | jaccard | text found | found in text |\n|---|---|---|---|---|");
    let folder = work().join("extract");
    fs_err::create_dir_all(&folder)?;
    if Command::new("soffice").arg("--version").output().is_ok_and(|version| version.status.success()) {
        for name in TEXTS {
            let text = folder.join(Path::new(name).with_extension("txt"));
            fs_err::copy(root().join(name), &text)?;
            for kind in KINDS {
                row(&minwise, name, &text, kind, &converted(&text, kind, &folder)?)?;
            }
        }
    } else {
        println!("| skipped: `soffice`, of LibreOffice, is not there | | | | |");
    }
    let in_policy = |name: &str| Path::new(POLICY).join(name);
    if in_policy("policy.txt.gz").exists() {
        for (text, kind, document) in PUBLISHED {
            row(&minwise, document, &in_policy(text), kind, &in_policy(document))?;
        }
    } else {
        println!("| skipped: the Debian package `debian-policy` is not installed | | | | |");
    }
    Ok(())
}

/// Converts a text with LibreOffice, and returns the path of the document.
fn converted(text: &Path, kind: &str, folder: &Path) -> Result<PathBuf> {
    let profile = format!("-env:UserInstallation=file://{}", path(&folder.join("profile")));
    // Without the named filter, LibreOffice would read plain ASCII in the encoding of the system.
    let args = [
        &profile,
        "--headless",
        "--infilter=Text (encoded):UTF8,LF",
        "--convert-to",
        kind,
        "--outdir",
        &path(folder),
    ];
    output(Path::new("soffice"), &[&args[..], &[&path(text)]].concat())?;
    let made = text.with_extension(kind);
    fs_err::metadata(&made).with_context(|| format!("LibreOffice made no `{}`", made.display()))?;
    Ok(made)
}

/// Prints a row of the table.
fn row(minwise: &Path, name: &str, text: &Path, kind: &str, document: &Path) -> Result<()> {
    let compared = output(
        minwise,
        &[
            "compare",
            &path(text),
            &path(document),
            "--threshold",
            "0.000001",
            "--passages",
            "0",
            "--format",
            "text",
        ],
    )?;
    let [similarity, found, extra] = ["similarity", "A in B", "B in A"].map(|label| value(&compared, label));
    println!("| {name} | {kind} | {} | {} | {} |", similarity?, found?, extra?);
    Ok(())
}

/// Returns the number in parentheses in a line that `minwise compare` prints.
fn value(compared: &str, label: &str) -> Result<String> {
    let line = compared.lines().find(|line| line.starts_with(label));
    let number = line
        .and_then(|line| line.split_once('(')?.1.split([',', ' ']).find(|word| word.starts_with(['0', '1'])));
    Ok(number.with_context(|| format!("`minwise compare` prints no `{label}`:\n{compared}"))?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If the labels changed, the table would be empty without an error.
    #[test]
    fn values_are_those_in_parentheses() {
        let compared = "A            a.txt\nsimilarity   42.8 % (Jaccard 0.427918, exact)\nA in B       53.8 % of A appears in B (0.538462, exact)\n";
        assert_eq!(value(compared, "similarity").unwrap(), "0.427918");
        assert_eq!(value(compared, "A in B").unwrap(), "0.538462");
        assert!(value(compared, "B in A").is_err());
    }
}
