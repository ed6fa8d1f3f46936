#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| minwise_fuzz::run_folder(bytes));
