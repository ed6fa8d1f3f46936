//! Formulas as Yuan 2012 prints them, if the printed formula is wrong. No other code has them.

use minwise::estimate::b_bit::Chance;
use minwise::estimate::fractional_bit::WidthGroup;

/// Returns (17), (20) and (42) times k, with the weights squared (E-16).
pub(super) fn variance(similarity: f64, groups: &[WidthGroup]) -> f64 {
    let registers: usize = groups.iter().map(|group| group.registers).sum();
    let share = |group: &WidthGroup| group.registers as f64 / registers as f64;
    let spread: f64 = groups
        .iter()
        .map(|group| {
            let probability = group.chance.match_probability(similarity);
            share(group).powi(2) * probability * (1.0 - probability)
        })
        .sum();
    let c2: f64 = groups.iter().map(|group| share(group) * group.chance.c2).sum();
    spread / (1.0 - c2).powi(2)
}

/// Returns (30) and (32), with C₂ above the line in place of C₁ (E-21).
pub(super) fn xor_similarity(share: f64, halvings: u32, chance: Chance) -> f64 {
    let mut root = (2.0 * share - 1.0).max(0.0);
    for _ in 0..halvings {
        root = root.sqrt();
    }
    (root + 1.0 - 2.0 * chance.c2) / (2.0 - 2.0 * chance.c2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values of the printed formula are those of docs/sources/bits.md#fractional-bits.
    #[test]
    fn the_printed_formula_gives_the_stated_variances() {
        for (f, similarity, expected) in
            [(1.25, 0.5, 0.3796), (1.5, 0.5, 0.27), (1.75, 0.5, 0.3037), (1.5, 0.9, 0.0748)]
        {
            let groups = super::super::Fraction(f).groups(1000, 0.0);
            let found = variance(similarity, &groups);
            assert!((found - expected).abs() <= 0.00005, "{f} {similarity}: {found}");
        }
    }
}
