//! Tries an archive in an otherwise empty root.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::run::{self, is_root, root, target};

/// Calls that are tried: the words of each call, and its exit code.
const CALLS: [(&str, i32); 5] = [
    ("--version", 0),
    ("dedup examples/articles.jsonl --output cleaned.jsonl --report report", 0),
    ("index create archive", 0),
    ("index add archive examples/letters/inbox", 0),
    ("check examples/letters/inbox/heating.txt --index archive", 1),
];
/// Number of kept documents of the first example.
const KEPT: usize = 30;

/// Unpacks the archive into an empty root and runs the binary there. If this is impossible, returns the reason.
pub fn run(archive: &[u8], name: &str) -> Result<Option<String>> {
    let Some(enter) = way_in() else {
        return Ok(Some("that needs root, or user namespaces (`unshare --map-root-user`)".to_owned()));
    };
    let folder = target().join("dist-build").join("root");
    if folder.exists() {
        fs_err::remove_dir_all(&folder)?;
    }
    fs_err::create_dir_all(&folder)?;
    tar::Archive::new(flate2::read::GzDecoder::new(archive)).unpack(&folder)?;
    copy(&root().join("examples"), &folder.join("examples"))?;
    let program = format!("/{name}/minwise");
    let call = |words: &str| {
        let mut command = Command::new(enter[0]);
        command.args(&enter[1..]).arg(&folder).arg(&program).args(words.split(' ')).env_clear();
        // The variable `PATH` is kept, because `chroot` itself is found through it.
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    };
    for (words, expected) in CALLS {
        println!("in an empty root: minwise {words}");
        let output = call(words).output().with_context(|| format!("`{}` could not be started", enter[0]))?;
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        ensure!(
            output.status.code() == Some(expected),
            "`minwise {words}` ended with {}, not {expected}:\n{out}{err}",
            output.status
        );
        if words == "--version" {
            ensure!(out.starts_with(&format!("minwise {} ", env!("CARGO_PKG_VERSION"))), "it is {out}");
        }
    }
    let kept = fs_err::read_to_string(folder.join("cleaned.jsonl"))?.lines().count();
    ensure!(kept == KEPT, "{kept} documents were kept, not {KEPT}");
    ensure!(folder.join("report/index.html").exists(), "there is no report");
    let words = "serve --index archive --listen 127.0.0.1:0";
    println!("in an empty root: minwise {words}");
    let mut server = call(words).stdout(Stdio::piped()).spawn()?;
    let page = page(&mut server);
    // The server is stopped before the result is checked, because it must end even if the page was not loaded.
    server.kill()?;
    server.wait()?;
    ensure!(page?.starts_with("HTTP/1.1 200"), "the server did not answer with its page");
    fs_err::remove_dir_all(&folder)?;
    Ok(None)
}

/// Returns the words that run a program in another root, or `None` if this user may not do this.
fn way_in() -> Option<&'static [&'static str]> {
    let has = |program| run::find(program).is_some();
    if is_root() && has("chroot") {
        return Some(&["chroot"]);
    }
    let probe = Command::new("unshare").args(["--map-root-user", "chroot", "/", "true"]).output();
    probe.is_ok_and(|output| output.status.success()).then_some(&["unshare", "--map-root-user", "chroot"])
}

/// Returns the page at the address that a server prints.
fn page(server: &mut Child) -> Result<String> {
    let out = server.stdout.take().context("the output of the server is not read")?;
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line)?;
    let address = line.trim().strip_prefix("http://").context("the server printed no address")?;
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = vec![];
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs_err::create_dir_all(to)?;
    for entry in fs_err::read_dir(from)? {
        let path = entry?.path();
        let to = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &to)?;
        } else {
            fs_err::copy(&path, &to)?;
        }
    }
    Ok(())
}
