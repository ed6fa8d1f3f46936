//! Writes one page of all records of a folder. The page opens without a network.
//!
//! The file has everything: the style, and the charts as `data:` images, in which a browser runs no script and loads
//! nothing. The page is therefore safe to open even if somebody else wrote the records. For the same reason, text is
//! escaped.

use std::path::Path;

use anyhow::Result;

use crate::plot::{attribute, escape};
use crate::record::{ExperimentRecord, Picture, summary};
use crate::table::{Cell, Table};

const STYLE: &str = include_str!("page.css");

/// Returns the page of these records. The charts of the records lie below `folder`.
pub fn page(folder: &Path, records: &[ExperimentRecord]) -> Result<String> {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>Minwise lab</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>The experiments of the sources, run again</h1>\n<p>{}.</p></header>\n<main>\n",
        escape(&summary(records))
    );
    out += &contents(records);
    for record in records {
        out += &section(folder, record)?;
    }
    Ok(out + "</main>\n</body>\n</html>\n")
}

fn contents(records: &[ExperimentRecord]) -> String {
    let mut out = String::from(
        "<nav aria-label=\"Experiments\"><div class=\"wide\"><table>\n\
         <thead><tr><th>experiment</th><th>what</th><th>verdict</th></tr></thead>\n<tbody>\n",
    );
    for record in records {
        out += &format!(
            "<tr><td><a href=\"#{0}\">{0}</a></td><td>{1}</td><td>{2}</td></tr>\n",
            attribute(&record.name),
            escape(&record.title),
            verdict(record),
        );
    }
    out + "</tbody></table></div></nav>\n"
}

fn verdict(record: &ExperimentRecord) -> String {
    let class = match (&record.verdict, record.is_expected) {
        (None, true) => "skipped",
        (_, false) => "unexpected",
        _ => "expected",
    };
    let unexpected = if record.is_expected { "" } else { ", not expected" };
    format!("<span class=\"verdict {class}\">{}{unexpected}</span>", escape(&record.outcome()))
}

fn section(folder: &Path, record: &ExperimentRecord) -> Result<String> {
    let mut out = format!(
        "<section id=\"{0}\">\n<h2>{0}: {1}</h2>\n<p>{2} · {3} · class {4}</p>\n",
        attribute(&record.name),
        escape(&record.title),
        verdict(record),
        escape(&record.place),
        record.class,
    );
    for paragraph in record.about.split("\n\n") {
        out += &format!("<p>{}</p>\n", escape(paragraph));
    }
    if let Some(verdict) = record.verdict.as_ref().filter(|verdict| !verdict.because().is_empty()) {
        out += "<ul>\n";
        for reason in verdict.because() {
            out += &format!("<li>{}</li>\n", escape(reason));
        }
        out += "</ul>\n";
    }
    out += &format!("<p class=\"settings\">{}</p>\n", escape(&record.settings_text()));
    for note in &record.notes {
        out += &format!("<p class=\"settings\">Note: {}.</p>\n", escape(note));
    }
    out += "<div class=\"figures\">\n";
    for picture in &record.pictures {
        out += &figure(folder, record, picture)?;
    }
    out += "</div>\n";
    for each in &record.tables {
        out += &format!("<h3>{}</h3>\n{}", escape(&each.title), table(each));
    }
    if !record.checks.is_empty() {
        let checks = record.checks_table();
        let open = if record.is_expected { "" } else { " open" };
        out += &format!(
            "<details{open}><summary>{}: {} checks</summary>\n{}</details>\n",
            escape(&checks.title),
            checks.rows.len(),
            table(&checks)
        );
    }
    Ok(out + "</section>\n")
}

fn figure(folder: &Path, record: &ExperimentRecord, picture: &Picture) -> Result<String> {
    // The name comes from a file, so it must not lead out of the folder.
    let is_plain = |name: &str| {
        name.split('/').all(|part| !part.is_empty() && !part.starts_with('.') && !part.contains(['\\', ':']))
    };
    if !is_plain(&record.name) || !is_plain(&picture.file) || picture.file.contains('/') {
        anyhow::bail!("`{}/{}` is no name of a picture", record.name, picture.file);
    }
    let svg = fs_err::read_to_string(folder.join(&record.name).join(&picture.file))?;
    Ok(format!(
        "<figure><div class=\"wide\"><img src=\"data:image/svg+xml,{}\" alt=\"{}\"></div></figure>\n",
        percent_encoded(&svg),
        attribute(&format!("{}. {}", picture.title, picture.description)),
    ))
}

fn table(table: &Table) -> String {
    let side = |column: usize| if table.is_number(column) { " class=\"number\"" } else { "" };
    let row = |tag: &str, values: &[String]| {
        let mut out = String::from("<tr>");
        for (at, value) in values.iter().enumerate() {
            out += &format!("<{tag}{}>{}</{tag}>", side(at), escape(value));
        }
        out + "</tr>\n"
    };
    let head = row("th", &table.columns);
    let mut out = format!("<div class=\"wide\"><table>\n<thead>{head}</thead>\n<tbody>\n");
    for cells in &table.rows {
        out += &row("td", &cells.iter().map(Cell::short).collect::<Vec<_>>());
    }
    out + "</tbody></table></div>\n"
}

/// Encodes text for a `data:` address.
fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 3 / 2);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b" -_.~/:;,=()'".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::ExperimentVerdict;

    const BAD: &str = "<script>alert(\"1\")</script>&";

    fn record(verdict: Option<ExperimentVerdict>) -> ExperimentRecord {
        let mut table = Table::new("t", BAD, &[BAD]);
        table.push(vec![BAD.into()]);
        ExperimentRecord {
            name: "002/figure-1".to_owned(),
            title: BAD.to_owned(),
            place: BAD.to_owned(),
            class: 'A',
            about: format!("{BAD}\n\n{BAD}"),
            seed: 1,
            quick: true,
            settings: serde_json::json!({ BAD: BAD }),
            skipped: verdict.is_none().then(|| BAD.to_owned()),
            failed: None,
            is_expected: verdict.is_none(),
            verdict,
            notes: vec![BAD.to_owned()],
            checks: vec![crate::check::Check::shape(BAD, BAD, BAD, false)],
            tables: vec![table],
            pictures: vec![],
        }
    }

    #[test]
    fn all_text_is_escaped() {
        let deviates = ExperimentVerdict::Deviates { because: vec![BAD.to_owned()] };
        let page = page(Path::new("nowhere"), &[record(None), record(Some(deviates))]).unwrap();
        assert!(!page.contains("<script") && !page.contains("</script"), "{page}");
        assert!(page.contains("&lt;script&gt;alert(") && page.contains(", not expected"));
    }

    #[test]
    fn pictures_are_part_of_the_page_and_only_those_of_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(folder.path().join("002/figure-1")).unwrap();
        fs_err::write(folder.path().join("002/figure-1/p.svg"), "<svg id=\"a#b\">²</svg>").unwrap();
        fs_err::write(folder.path().join("secret.svg"), "secret").unwrap();
        let mut record = record(None);
        let picture = |file: &str| Picture {
            file: file.to_owned(),
            title: "a \"title\"".to_owned(),
            description: "d".to_owned(),
        };
        record.pictures = vec![picture("p.svg")];
        let written = page(folder.path(), &[record.clone()]).unwrap();
        assert!(
            written.contains("src=\"data:image/svg+xml,%3Csvg id=%22a%23b%22%3E%C2%B2%3C/svg%3E\""),
            "{written}"
        );
        assert!(written.contains("alt=\"a &quot;title&quot;. d\""), "{written}");
        for file in ["../../secret.svg", "../p.svg", "/etc/hostname", "..", ""] {
            record.pictures = vec![picture(file)];
            assert!(page(folder.path(), &[record.clone()]).is_err(), "{file}");
        }
    }
}
