//! Serves an archive over HTTP from a program, sends one request, and stops.

#![allow(clippy::print_stdout, reason = "an example shows what it found")]
#![allow(
    clippy::field_reassign_with_default,
    reason = "setting one field at a time still compiles if the options get new fields"
)]

use std::error::Error;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;

use minwise_index::{Index, IndexSettings, NewDocument};
use minwise_server::{Server, ServerOptions};

/// Requests an address over a connection of its own, and returns the whole answer.
fn get(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let index = Index::create(folder.path().join("archive"), &IndexSettings::default())?;
    index.add_now(&[NewDocument::new("note", "Herons nest in the old willow by the mill pond.")])?;

    let mut options = ServerOptions::default();
    // Every event of the server is a JSON object.
    options.log = Box::new(|event| println!("{event}"));
    // Without tokens, a server listens on loopback addresses only. Port 0 is any free port.
    let server = Server::listen("127.0.0.1:0".parse()?, options)?;
    let (address, stopper) = (server.address(), server.stopper());
    println!("http://{address}");

    // `run` returns only after the server is stopped, so another thread must stop it: this client, or
    // elsewhere Ctrl-C.
    let client = thread::spawn(move || {
        let answer = get(address, "/api/v1/documents/note");
        stopper.stop();
        answer
    });
    server.run(index)?;
    let answer = client.join().map_err(|_| "the client failed")??;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("mill pond"), "{answer}");
    Ok(())
}

#[test]
fn the_example_runs() -> Result<(), Box<dyn Error>> {
    main()
}
