//! The filter in plain code.

use super::{Contender, Elements, Entry, Filter, LANES, Sample, draw, run};

pub(super) fn sample(elements: Elements<'_>, salts: &[u64], out: &mut [Sample]) {
    run(elements, salts, out, contend);
}

fn contend(entry: Entry, filter: &Filter<'_>, contenders: &mut Vec<Contender>) {
    for (block, (salts, limits)) in filter.salts.iter().zip(filter.limits).enumerate() {
        let mut within = [false; LANES];
        for i in 0..LANES {
            within[i] = bound(draw::outline(entry.key, salts[i])) <= limits[i] * entry.share;
        }
        // Nearly always there is none, which is quicker to see for all lanes together.
        if within.iter().fold(false, |any, &within| any | within) {
            for (i, _) in within.iter().enumerate().filter(|(_, within)| **within) {
                contenders.push(Contender { lane: (block * LANES + i) as u32, element: entry.element });
            }
        }
    }
}

/// At most 2³²·a·w, from the first bits of the draw: U₁U₂·q·(1 + q/2) with the least U₁U₂ and the greatest V₁V₂ that begin
/// like this.
#[inline(always)]
fn bound(outline: u32) -> f32 {
    let field = |shift: u32, mask: u32| (outline >> shift & mask).cast_signed() as f32;
    let u = field(21, 0x7ff) * field(10, 0x7ff);
    let q = 1024.0 - (field(5, 0x1f) + 1.0) * (field(0, 0x1f) + 1.0);
    (u * q) * (q * (1.0 / 2048.0) + 1.0)
}
