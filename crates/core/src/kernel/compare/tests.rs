//! Every kernel of this machine against the definition.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Two rows that agree in many words, and in parts of the others.
fn rows(words: std::ops::Range<usize>) -> impl Strategy<Value = (Vec<u32>, Vec<u32>)> {
    let differences = [0, 0, 1, 0xff00, 0xffff, 0x0100_0001, 0x8000_0000, u32::MAX];
    vec((any::<u32>(), prop::sample::select(differences.to_vec())), words)
        .prop_map(|pairs| pairs.into_iter().map(|(word, difference)| (word, word ^ difference)).unzip())
}

/// How many of the values of `bits` bits, in which the words are cut, agree.
fn equal_by_definition(a: &[u32], b: &[u32], bits: u32) -> usize {
    let mask = u32::MAX >> (32 - bits);
    let values = |word: u32| (0..32 / bits).map(move |i| word >> (i * bits) & mask);
    let equal = |(&a, &b): (&u32, &u32)| values(a).zip(values(b)).filter(|(a, b)| a == b).count();
    a.iter().zip(b).map(equal).sum()
}

proptest! {
    // Over a thousand words, so that counters of a byte have to be emptied.
    #[test]
    fn agreement_is_the_same_in_every_kernel((a, b) in rows(0..1300)) {
        for kernel in Kernel::available() {
            prop_assert_eq!(kernel.equal_words(&a, &b), equal_by_definition(&a, &b, 32), "{}", kernel);
            prop_assert_eq!(kernel.equal_half_words(&a, &b), equal_by_definition(&a, &b, 16), "{}", kernel);
            prop_assert_eq!(kernel.equal_bytes(&a, &b), equal_by_definition(&a, &b, 8), "{}", kernel);
            prop_assert_eq!(kernel.different_bits(&a, &b), 32 * a.len() - equal_by_definition(&a, &b, 1), "{}", kernel);
        }
    }

    #[test]
    fn planes_differ_alike_in_every_kernel((a, b) in rows(0..400), planes in 1..33_usize) {
        let words = a.len() / planes;
        let (a, b) = (&a[..words * planes], &b[..words * planes]);
        let bit = |row: &[u32], plane: usize, value: usize| row[plane * words + value / 32] >> (value % 32) & 1;
        let differs = |value: &usize| (0..planes).any(|plane| bit(a, plane, *value) != bit(b, plane, *value));
        let expected = (0..32 * words).filter(differs).count();
        for kernel in Kernel::available() {
            prop_assert_eq!(kernel.different_in_planes(a, b, planes), expected, "{}", kernel);
        }
    }

    #[test]
    fn a_batch_is_row_by_row(
        (row, rows, words) in prop_oneof![Just(UNROLLED), 1..70_usize].prop_flat_map(|words| {
            (vec(any::<u32>(), words), vec(any::<u32>(), 50 * words), Just(words))
        }),
        count in 0..50_usize,
    ) {
        let rows = &rows[..count * words];
        for kernel in Kernel::available() {
            let mut counts = vec![7; count];
            kernel.different_bits_of_rows(&row, rows, &mut counts);
            for (found, other) in counts.into_iter().zip(rows.chunks_exact(words)) {
                let expected = 32 * words - equal_by_definition(&row, other, 1);
                prop_assert_eq!(found as usize, expected, "{}", kernel);
            }
        }
    }
}

#[test]
fn all_bits_of_a_batch_can_differ() {
    for kernel in Kernel::available() {
        let mut counts = [0; 17];
        kernel.different_bits_of_rows(&[0; UNROLLED], &[u32::MAX; 17 * UNROLLED], &mut counts);
        assert_eq!(counts, [1024; 17], "{kernel}");
    }
}
