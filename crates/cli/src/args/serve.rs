//! Options of `serve`.

use super::QuietOptions;

#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// The folder of the archive.
    #[arg(long, value_name = "DIR")]
    pub index: String,

    /// Listen on this address. An address that other machines can reach needs `--tokens`. With port 0, the server takes a free
    /// port. It prints its address to standard output.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub listen: String,

    /// Read tokens from this file, which only its owner may read. Each line is `read TOKEN` or `write TOKEN`. Without tokens,
    /// everybody on this machine may read and write.
    #[arg(long, value_name = "FILE")]
    pub tokens: Option<String>,

    /// Refuse requests that are larger than this.
    #[arg(long, value_name = "SIZE", default_value = "64MiB", help_heading = "Limits")]
    pub max_body: String,

    /// Use at most this much memory for requests and jobs. One half is for requests and answers; if it is full, further requests
    /// wait. The other half is for running and waiting jobs; if it is full, further jobs are refused.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", help_heading = "Limits")]
    pub body_memory: String,

    /// Spend at most this many seconds on a request.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "60",
        allow_hyphen_values = true,
        help_heading = "Limits"
    )]
    pub timeout: String,

    /// Answer at most N requests at a time. Further requests are refused with status 503.
    #[arg(
        long,
        value_name = "N",
        default_value = "512",
        allow_hyphen_values = true,
        help_heading = "Limits"
    )]
    pub max_requests: String,

    /// Accept at most N connections at a time. Further connections wait.
    #[arg(
        long,
        value_name = "N",
        default_value = "1024",
        allow_hyphen_values = true,
        help_heading = "Limits"
    )]
    pub max_connections: String,

    /// Allow N requests per second from each token, or from each address if there are no tokens. `off` sets no limit.
    #[arg(
        long,
        value_name = "N",
        default_value = "100",
        allow_hyphen_values = true,
        help_heading = "Limits"
    )]
    pub rate: String,

    /// Accept at most N jobs that add documents, counting both running and waiting jobs. Jobs that find clusters are counted
    /// separately: at most two are accepted (one if N is 1).
    #[arg(long, value_name = "N", default_value = "16", allow_hyphen_values = true, help_heading = "Limits")]
    pub max_jobs: String,

    /// When the server stops, give requests and jobs this many seconds to finish.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "30",
        allow_hyphen_values = true,
        help_heading = "Limits"
    )]
    pub grace: String,

    #[command(flatten)]
    pub messages: QuietOptions,
}
