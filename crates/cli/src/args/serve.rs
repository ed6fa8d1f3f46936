//! The options of `serve`.

use super::OutputOptions;

#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// The folder of the archive.
    #[arg(long, value_name = "DIR")]
    pub index: String,

    /// The address to listen on. An address that other machines can reach needs `--tokens`. With port 0, a free port is taken;
    /// standard output has the address.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub listen: String,

    /// Read tokens from this file, which only its owner may read. Each line is `read TOKEN` or `write TOKEN`. Without tokens,
    /// everybody on this machine may read and write.
    #[arg(long, value_name = "FILE")]
    pub tokens: Option<String>,

    /// The maximum size of a request.
    #[arg(long, value_name = "SIZE", default_value = "64MiB", help_heading = "Limits")]
    pub max_body: String,

    /// The maximum memory for requests and jobs. Half of it is for requests and answers, which wait until there is room; half is
    /// for running and waiting jobs, which are refused if there is no room.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", help_heading = "Limits")]
    pub body_memory: String,

    /// The maximum time per request, in seconds.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "60",
        allow_hyphen_values = true,
        help_heading = "Limits"
    )]
    pub timeout: String,

    /// The maximum number of simultaneous requests. Further ones are refused with status 503.
    #[arg(
        long,
        value_name = "N",
        default_value = "512",
        allow_hyphen_values = true,
        help_heading = "Limits"
    )]
    pub max_requests: String,

    /// The maximum number of connections. Further ones wait.
    #[arg(
        long,
        value_name = "N",
        default_value = "1024",
        allow_hyphen_values = true,
        help_heading = "Limits"
    )]
    pub max_connections: String,

    /// The maximum number of requests per second and token, or per address without tokens; `off` for no limit.
    #[arg(
        long,
        value_name = "N",
        default_value = "100",
        allow_hyphen_values = true,
        help_heading = "Limits"
    )]
    pub rate: String,

    /// The maximum number of running and waiting jobs that add documents. At most two jobs find clusters.
    #[arg(long, value_name = "N", default_value = "16", allow_hyphen_values = true, help_heading = "Limits")]
    pub max_jobs: String,

    /// The time that requests and jobs have to finish when the server stops, in seconds.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "30",
        allow_hyphen_values = true,
        help_heading = "Limits"
    )]
    pub grace: String,

    #[command(flatten)]
    pub messages: OutputOptions,
}
