//! Tests of every kernel of this machine against the definition.

use proptest::collection::vec;
use proptest::prelude::*;

use super::heads::{Heads, MOST_PLANES};
use super::*;

/// Generates two rows. Many of their words are equal, and most other words agree in part.
fn rows(words: Range<usize>) -> impl Strategy<Value = (Vec<u32>, Vec<u32>)> {
    let differences = [0, 0, 1, 0xff00, 0xffff, 0x0100_0001, 0x8000_0000, u32::MAX];
    vec((any::<u32>(), prop::sample::select(differences.to_vec())), words)
        .prop_map(|pairs| pairs.into_iter().map(|(word, difference)| (word, word ^ difference)).unzip())
}

/// Returns the number of agreeing values of `bits` bits each.
fn equal_by_definition(a: &[u32], b: &[u32], bits: u32) -> usize {
    let mask = u32::MAX >> (32 - bits);
    let values = |word: u32| (0..32 / bits).map(move |i| word >> (i * bits) & mask);
    let equal = |(&a, &b): (&u32, &u32)| values(a).zip(values(b)).filter(|(a, b)| a == b).count();
    a.iter().zip(b).map(equal).sum()
}

proptest! {
    // Rows have over a thousand words, so the byte counters must be emptied on the way.
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
            // `different_bits_at` takes rows in any order, and appends to existing counts.
            let places: Vec<u32> = (0..count as u32).rev().step_by(3).collect();
            let mut counts = vec![7];
            kernel.different_bits_at(&row, rows, &places, &mut counts);
            let expected = places.iter().map(|&place| {
                let other = &rows[place as usize * words..][..words];
                (32 * words - equal_by_definition(&row, other, 1)) as u32
            });
            prop_assert_eq!(counts, [7].into_iter().chain(expected).collect::<Vec<_>>(), "{}", kernel);
        }
    }

    /// Each word of a head is random, or differs in about one bit of eight from a random word that all heads share.
    #[test]
    fn near_heads_are_the_same_in_every_kernel(
        (groups, planes, heads) in (prop_oneof![1..6_usize, Just(17)], 1..=MOST_PLANES).prop_flat_map(|(groups, planes)| {
            let words = vec((any::<u64>(), any::<u64>(), any::<u64>(), any::<bool>()), groups * planes);
            (Just(groups), Just(planes), vec(words, 1..40))
        }),
        of in 0..40_usize,
        cut in (0..40_usize, 0..40_usize),
        most in prop_oneof![0..400_usize, Just(usize::MAX)],
        allowances in prop::option::of(vec(prop_oneof![0..100_u64, Just(heads::ALL), Just(u64::MAX)], 40)),
    ) {
        let mut all = Heads::new(groups, planes);
        let mut rows = vec![];
        for head in &heads {
            let row: Vec<u64> = head
                .iter()
                .zip(&heads[0])
                .map(|(&(a, b, c, far), &(first, ..))| if far { a } else { first ^ (a & b & c) })
                .collect();
            match &allowances {
                Some(allowances) => all.push_allowing(&row, allowances[rows.len()]),
                None => all.push(&row),
            }
            rows.push(row);
        }
        prop_assert_eq!(all.len(), rows.len());
        let of = of % rows.len();
        let probe = &rows[of];
        let range = cut.0.min(rows.len())..cut.1.min(rows.len());
        let different = |row: &[u64]| -> usize {
            let groups = row.chunks(planes).zip(probe.chunks(planes));
            groups
                .map(|(a, b)| a.iter().zip(b).fold(0, |seen, (a, b)| seen | (a ^ b)).count_ones() as usize)
                .sum()
        };
        let allowed =
            |head: usize| allowances.as_ref().map_or(most, |some| most.saturating_add(some[head] as usize));
        let expected: Vec<u32> = range
            .clone()
            .filter(|&head| different(&rows[head]) <= allowed(head))
            .map(|head| head as u32)
            .collect();
        for kernel in Kernel::available() {
            let mut found = vec![];
            kernel.near(&all, of, &all, range.clone(), most, &mut found);
            prop_assert_eq!(&found, &expected, "{}", kernel);
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

#[test]
fn many_blocks_are_searched_portion_by_portion() {
    let mut heads = Heads::new(1, 1);
    (0..20_000_u64).for_each(|head| heads.push(&[if head % 777 == 5 { 0b11 } else { u64::MAX }]));
    heads.push(&[0]);
    let near: Vec<u32> = (0..20_000).filter(|head| head % 777 == 5 && (100..19_000).contains(head)).collect();
    for kernel in Kernel::available() {
        let mut found = vec![];
        kernel.near(&heads, 20_000, &heads, 100..19_000, 2, &mut found);
        assert_eq!(found, near, "{kernel}");
    }
}
