// Tests of code whose faults are not visible on the page: types, offsets, and the splitting of texts.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { WIDE, harness } from './harness.mjs';
import { settled } from './routes.mjs';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const { visit } = harness();

/** Runs a function in the page, with a module of the page and an argument. */
async function inPage(module, run, argument) {
  let result;
  await visit({ ...WIDE }, async (page) => {
    await page.goto('/overview');
    await settled(page);
    const handle = await page.evaluateHandle((name) => import(`/assets/${name}`), module);
    result = await page.evaluate(run, { module: handle, argument });
  });
  return result;
}

test('the types are right', () => {
  execFileSync(process.execPath, [path('node_modules/typescript/bin/tsc'), '-p', path('../../crates/server/jsconfig.json')], {
    stdio: 'inherit',
  });
});

test('byte offsets become offsets into the string', async () => {
  const texts = ['', 'plain', 'é', '高原湖泊', 'a😀b', '混合 mixed 😀 ẞ\u0301 text\n', '😀'.repeat(9)];
  const found = await inPage(
    'offsets.js',
    ({ module, argument }) =>
      argument.map((text) => {
        const bytes = new TextEncoder().encode(text).length;
        // Offsets are requested in descending order, because they must be right in any order.
        const wanted = Array.from({ length: bytes + 3 }, (_, at) => bytes + 2 - at);
        return module.stringOffsets(text, wanted).reverse();
      }),
    texts,
  );
  texts.forEach((text, at) => {
    const bytes = Buffer.from(text);
    found[at].forEach((offset, byte) => {
      // An offset within a character counts as the offset of the character, and an offset after the end counts as the
      // end.
      const before = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, byte), { stream: true });
      assert.equal(text.slice(0, offset), before, `${text} at byte ${byte}`);
    });
  });
});

test('pieces cover a text once and in order, whatever the passages', async () => {
  const failures = await inPage(
    'paragraphs.js',
    ({ module, argument: rounds }) => {
      let state = 7;
      const random = (below) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor((state / 2 ** 32) * below);
      };
      const wrong = [];
      for (let round = 0; round < rounds; round++) {
        const text =
          Array.from({ length: random(300) }, () => 'ab \n\f高'[random(6)]).join('') +
          (round % 10 === 0 ? 'x'.repeat(random(9000)) : '');
        const ranges = Array.from({ length: random(8) }, () =>
          [random(text.length + 1), random(text.length + 1)].sort((a, b) => a - b),
        );
        const places = Array.from({ length: random(5) }, () => random(text.length + 1))
          .sort((a, b) => a - b)
          .map((at, number) => ({ at, place: { page: number } }));
        const list = [...module.paragraphs(text, ranges, places)];
        const pieces = list.flatMap((paragraph) => paragraph.pieces);
        // Everything except white space occurs once and in order.
        if (
          pieces
            .map(({ start, end }) => text.slice(start, end))
            .join('')
            .replace(/\s/g, '') !== text.replace(/\s/g, '')
        )
          wrong.push([round, 'text']);
        for (const { start, end, passage } of pieces) {
          const covering = ranges.filter(([from, to]) => from <= start && end <= to);
          const longest = Math.max(0, ...covering.map(([from, to]) => to - from));
          const drawn = passage === null ? 0 : ranges[passage][1] - ranges[passage][0];
          if (drawn !== longest) wrong.push([round, 'passage', start]);
        }
        // Every passage that is not only white space begins once.
        const begun = pieces.flatMap((piece) => piece.begins).sort((a, b) => a - b);
        const shown = ranges.map((_, at) => at).filter((at) => text.slice(...ranges[at]).trim() !== '');
        if (new Set(begun).size !== begun.length || shown.some((at) => !begun.includes(at)))
          wrong.push([round, 'begins', begun, shown]);
      }
      return wrong;
    },
    500,
  );
  assert.deepEqual(failures, []);
});

test('a share is cut, not rounded', async () => {
  const shown = await inPage('format.js', ({ module }) => [0, 0.29, 0.5, 0.49999, 0.9999, 1].map(module.percent));
  assert.deepEqual(shown, ['0', '29', '50', '49.9', '99.9', '100'].map((number) => `${number}\u00a0%`));
});

test('counts have commas, as those of the command', async () => {
  const shown = await inPage('format.js', ({ module }) => [
    ...[0, 999, 1000, 1234567].map(module.count),
    module.counted(4429, 'shingle'),
    module.counted(1, 'word'),
  ]);
  assert.deepEqual(shown, ['0', '999', '1,000', '1,234,567', '4,429\u00a0shingles', '1\u00a0word']);
});

test('an excerpt ends at a word', async () => {
  const texts = {
    'one two three': 'one two…',
    'one two\nthr': 'one two thr',
    'one two thr': 'one two thr',
    'one, two, thirteen': 'one, two…',
    'one  two   three': 'one two…',
    unbreakableword: 'unbreakable…',
    '高原湖泊沉积物中微塑料的记录及其意义': '高原湖泊沉积物中微塑料…',
    'one two 😀😀😀': 'one two 😀…',
  };
  const shown = await inPage(
    'format.js',
    ({ module, argument }) => argument.map((text) => module.excerpt(text, 11)),
    Object.keys(texts),
  );
  assert.deepEqual(shown, Object.values(texts));
});

test('lengths are counted in words, or in characters where a script has no spaces', async () => {
  const units = await inPage('language.js', ({ module }) => [
    module.unitOf('nfkc+casefold / words:5 / minhash:128', 'Tidal marshes'),
    module.unitOf('nfkc+casefold / words:5 / minhash:128', '高原湖泊'),
    module.unitOf('nfkc+casefold / chars:9 / minhash:128', 'Tidal marshes'),
    module.unitOf('nfkc+casefold / words:5 / minhash:128', null),
    module.unitOf('nfkc+casefold / words:5 / minhash:128', 'The ferry to 上海 leaves at noon.'),
    module.unitOf('nfkc+casefold / words:5 / minhash:128', '去上海的渡轮中午离开。 Ferry'),
    module.unitOf('nfkc+casefold / words:5 / minhash:128', 'เรือออกเที่ยง'),
    module.unitOf('nfkc+casefold / terms / minhash:128', 'Tidal marshes'),
  ]);
  assert.deepEqual(units, ['word', 'character', 'character', 'word', 'word', 'character', 'character', 'term']);
});
