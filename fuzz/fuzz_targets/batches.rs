#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| minwise_fuzz::batches(bytes));
