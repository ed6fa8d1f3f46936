// Tests of rare answers: archives without texts, with weights or without a sample, and jobs that fail.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WIDE, harness } from './harness.mjs';
import { checkSubmission, settled } from './routes.mjs';

const { api, visit } = harness();
const MARSH = '2021/0417';
const pair = `/pair?${new URLSearchParams({ left: MARSH, right: '2023/1102' })}`;

/** Changes the answers of the server to these calls. */
function change(page, calls, how) {
  return page.route(calls, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: how(await response.json()) });
  });
}

test('an archive without texts still says what is shared', async () => {
  await visit({ ...WIDE }, async (page) => {
    await change(page, '**/api/v1/pair', (found) => ({ ...found, left: { ...found.left, text: null } }));
    await change(page, '**/api/v1/documents/*', (document) => ({ ...document, text: null, marks: [] }));
    await page.goto(pair);
    await settled(page);
    assert.ok((await page.textContent('.notice')).includes('keeps no text'));
    assert.match(await page.locator('.verdict dd').first().textContent(), /^\d+(\.\d)?\u00a0%$/);
    await page.goto(`/document/${encodeURIComponent(MARSH)}`);
    await settled(page);
    assert.ok((await page.textContent('.notice')).includes('keeps no text'));
    assert.ok((await page.locator('tbody tr').count()) > 0);
  });
});

test('a document that is too long to be looked for shows what else is known of it', async () => {
  await visit({ ...WIDE, refused: [413] }, async (page) => {
    const problem = {
      code: 'text_too_long',
      title: 'The text is too long',
      detail: 'The text has 20000000 bytes',
      hint: null,
      status: 413,
    };
    await page.route('**/similar?*', (route) =>
      route.fulfill({ status: 413, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
    );
    await page.goto(`/document/${encodeURIComponent(MARSH)}`);
    await settled(page);
    assert.ok((await page.textContent('.terms')).includes('M. Lindqvist'));
    assert.ok((await page.textContent('[role=alert]')).includes('20000000 bytes'));
  });
});

test('an archive without texts has a histogram as others do', async () => {
  await visit({ ...WIDE }, async (page) => {
    await change(page, '**/api/v1/stats', (stats) => ({ ...stats, text_kept: false }));
    await page.goto('/overview');
    await settled(page);
    assert.equal(await page.locator('.histogram').count(), 1);
    // Each document counts once, with its most similar document.
    assert.match(await page.textContent('.histogram .reading'), /^\d+ documents? at 50.% or above$/);
    assert.ok((await page.textContent('.terms')).includes('not kept'));
  });
});

test('what is not all that was found is said not to be', async () => {
  await visit({ ...WIDE, refused: [503] }, async (page) => {
    await change(page, '**/api/v1/check', (answer) => ({
      ...answer,
      further: 300,
      not_compared: 1,
      passed_over: 7,
      recall_at_threshold: 0.99999,
      matches: answer.matches.map((match) => ({ ...match, further_passages: 100 })),
    }));
    await checkSubmission(page);
    const shown = await page.locator('tbody tr').count();
    const plain = (text) => text.replaceAll('\u00a0', ' ');
    assert.equal(plain(await page.textContent('#status')), `${shown} of ${shown + 300} matches`);
    assert.ok(plain(await page.textContent('main')).includes(`the best ${shown} of ${shown + 300} matches`));
    assert.ok(plain(await page.textContent('.facts')).includes('1 document with less in common was not compared'));
    assert.match(plain(await page.textContent('.facts')), /99\.9 % or more.*Pieces of text not looked up, because very many documents contain them7/);
    assert.match(plain(await page.textContent('tbody tr')), /10\d passages, [\d,]+ words in all/);
    // If passages cannot be loaded, the page reports that they are missing.
    await page.route('**/api/v1/pair', (route) => route.fulfill({ status: 503, body: 'busy' }));
    await page.locator('a.title').first().click();
    await page.waitForSelector('.compare[data-drawn]');
    assert.match(plain(await page.textContent('[role=alert]')), /Only the \d+ longest of 10\d passages/);
  });
});

test('words that only experts know stand under Details', async () => {
  const EXPERT = /\b(shingles?|tokens?|bands?|spec|sketch(es)?|jaccard|containment|fingerprints?|candidates?)\b/i;
  const read = () =>
    page.evaluate(() => {
      const copy = document.querySelector('main').cloneNode(true);
      for (const details of copy.querySelectorAll('details.more, .sheet, .text, .excerpt')) details.remove();
      return copy.textContent;
    });
  let page;
  await visit({ ...WIDE }, async (visited) => {
    page = visited;
    await checkSubmission(page);
    assert.doesNotMatch(await read(), EXPERT);
    for (const address of ['/', '/archive', `/document/${encodeURIComponent(MARSH)}`, pair, '/clusters', '/overview']) {
      await page.goto(address);
      await settled(page);
      assert.doesNotMatch(await read(), EXPERT, address);
    }
  });
});

test('an id that stands for a missing title stands once', async () => {
  const untitled = (matches) => matches.map((match) => ({ ...match, title: null }));
  await visit({ ...WIDE }, async (page) => {
    const times = async (selector, id) => (await page.locator(selector).first().textContent()).split(id).length - 1;
    await change(page, '**/api/v1/check', (answer) => ({ ...answer, matches: untitled(answer.matches) }));
    await change(page, '**/api/v1/documents/*', (document) => ({ ...document, title: null }));
    await change(page, '**/api/v1/pair', (found) => ({
      ...found,
      left: { ...found.left, title: null },
      right: { ...found.right, title: null },
    }));
    await checkSubmission(page);
    const id = await page.locator('tbody a.title').first().textContent();
    assert.equal(await times('tbody tr', id), 1);
    assert.equal(await page.locator('tbody a.id').first().textContent(), 'in the archive');
    await page.goto(`/document/${encodeURIComponent(MARSH)}`);
    await settled(page);
    assert.equal(await page.textContent('h1'), MARSH);
    assert.equal(await times('.terms', MARSH), 0);
    await page.goto(pair);
    await settled(page);
    assert.equal(await times('.side.left', MARSH), 1);
  });
});

test('clusters beyond those that are told are counted', async () => {
  await visit({ ...WIDE }, async (page) => {
    await change(page, '**/api/v1/jobs/*', (job) => ({
      ...job,
      result: job.result && {
        ...job.result,
        further: 5,
        documents: 99,
        recall_at_threshold: 0.6849,
        left_out: 1200,
        clusters: job.result.clusters.map((cluster) => ({ ...cluster, size: cluster.size + 8 })),
      },
    }));
    await page.goto('/clusters');
    await settled(page);
    await page.click('button.primary');
    await page.waitForSelector('.clusters');
    const all = (await page.locator('.card').count()) + 5;
    assert.match(await page.textContent('h2'), new RegExp(`^The \\d+ largest of ${all}.clusters with 99`));
    assert.ok((await page.locator('.card').first().textContent()).includes('8\u00a0documents more'));
    const missed = await page.textContent('.facts');
    assert.match(missed, /About 68\.4.% of the pairs with a similarity of exactly 50.% .* 1.200.documents/);
  });
});

test('sentences about one document are in the singular', async () => {
  await visit({ ...WIDE }, async (page) => {
    await change(page, '**/api/v1/jobs/*', (job) => ({
      ...job,
      result: job.result && {
        ...job.result,
        left_out: 1,
        clusters: job.result.clusters.map((cluster, at) => ({
          ...cluster,
          size: at === 0 ? 2 : 3,
          members: cluster.members.slice(0, 2),
        })),
      },
    }));
    await page.goto('/clusters');
    await settled(page);
    await page.click('button.primary');
    await page.waitForSelector('.clusters');
    const over = (await page.locator('.card .over').allTextContents()).map((text) => text.replace(/\s/g, ' '));
    assert.deepEqual(over.slice(0, 2), ['1 document is similar to', '2 documents are similar to']);
    const missed = (await page.textContent('.facts')).replace(/\s/g, ' ');
    const left = '1 document has a little in common with very many others. Some pairs with this document may be missing.';
    assert.ok(missed.endsWith(left), missed);
  });
});

test('long names are shortened in the middle, and whole in their tooltips', async () => {
  const long = `${'folder/'.repeat(100)}the-end-tells-them-apart.txt`;
  await visit({ ...WIDE }, async (page) => {
    const renamed = (found) => ({ ...found, id: long, title: null });
    await change(page, '**/api/v1/check', (answer) => ({
      ...answer,
      matches: answer.matches.map((match, at) => (at === 0 ? renamed(match) : match)),
    }));
    await change(page, '**/api/v1/pair', (found) => ({ ...found, left: renamed(found.left) }));
    await checkSubmission(page);
    const name = page.locator('tbody .title bdi').first();
    const shown = await name.textContent();
    assert.ok(shown.length < 130 && shown.startsWith('folder/') && shown.endsWith('-end-tells-them-apart.txt'), shown);
    assert.equal(await name.getAttribute('title'), long);
    await page.goto(pair);
    await page.waitForSelector('.compare[data-drawn]');
    // The head of the page leaves room for the texts.
    assert.ok((await page.locator('.compare').boundingBox()).y < 400);
  });
});

test('a chart states its tallest bar to those who cannot see it', async () => {
  await visit({ ...WIDE }, async (page) => {
    await checkSubmission(page);
    const label = await page.getAttribute('.histogram svg', 'aria-label');
    assert.match(label, /\. The tallest bar, from \d+.% to \d+.%, counts \d+$/);
  });
});

test('documents that share no passage are said to', async () => {
  await visit({ ...WIDE }, async (page) => {
    await change(page, '**/api/v1/pair', (found) => ({ ...found, passages: [] }));
    await page.goto(pair);
    await page.waitForSelector('.compare[data-drawn]');
    assert.ok((await page.textContent('.notice')).includes('share no passage'));
    assert.equal(await page.locator('mark, .toolbar, .passage-list').count(), 0);
  });
});

test('passages that overlap all have a sign, and the longest has the colour', async () => {
  const { left, right } = await api('pair', { left: { id: MARSH }, right: { id: '2023/1102' } });
  // The first range lies within the second. The third begins in the second and ends after it.
  const ranges = [
    [60, 90],
    [20, 200],
    [150, 260],
  ];
  const end = Math.min(left.text.length, right.text.length);
  assert.ok(end > 260 && /^[\x00-\x7f]*$/.test(left.text.slice(0, 260) + right.text.slice(0, 260)));
  const passages = ranges.map((range) => ({ left: range, right: range, tokens: range[1] - range[0], moved: false }));
  await visit({ ...WIDE }, async (page) => {
    await change(page, '**/api/v1/pair', (found) => ({ ...found, passages }));
    await page.goto(pair);
    await page.waitForSelector('.compare[data-drawn]');
    const signs = await page.locator('.pane.left .sign').evaluateAll((all) => all.map((sign) => sign.dataset.passage));
    assert.deepEqual(signs, ['1', '0', '2']);
    const colours = await page
      .locator('.pane.left mark')
      .evaluateAll((all) => [...new Set(all.map((mark) => mark.dataset.passage))]);
    assert.deepEqual(colours, ['1', '2']);
    await page.keyboard.press('n');
    await page.keyboard.press('n');
    assert.ok((await page.textContent('.toolbar .now')).startsWith('3'));
  });
});

test('weights have a column and a threshold of their own', async () => {
  await visit({ ...WIDE }, async (page) => {
    await change(page, '**/api/v1/check', (answer) => ({
      ...answer,
      not_compared: 3,
      matches: answer.matches.map((match, at) => ({ ...match, weighted: at === 0 ? 0.9 : 0.1 })),
    }));
    await checkSubmission(page);
    assert.ok((await page.locator('thead th').allTextContents()).includes('Weighted similarity'));
    await page.selectOption('#measure', { label: 'Weighted similarity' });
    await page.locator('input[type=range]').fill('0.5');
    assert.equal(await page.locator('tbody tr:visible').count(), 1);
    assert.match(await page.textContent('.facts'), /3\u00a0documents with less in common were not compared/);
  });
});

test('an archive of which nothing was sampled has no histogram', async () => {
  await visit({ ...WIDE }, async (page) => {
    await change(page, '**/api/v1/stats', ({ added_by_month, ...stats }) => ({ ...stats, similarities: null }));
    await page.goto('/overview');
    await settled(page);
    assert.equal(await page.locator('.histogram, .months').count(), 0);
    assert.ok((await page.textContent('.empty')).includes('no two documents'));
  });
});

test('a job that fails says why', async () => {
  await visit({ ...WIDE }, async (page) => {
    const error = {
      code: 'stopped',
      title: 'The server was stopped',
      detail: null,
      hint: 'Start it again',
      status: 500,
    };
    await change(page, '**/api/v1/jobs/*', (job) => ({ ...job, state: 'failed', result: null, error }));
    await page.goto('/clusters');
    await settled(page);
    await page.click('button.primary');
    await page.waitForSelector('[role=alert]');
    assert.ok((await page.textContent('[role=alert]')).includes('Start it again'));
  });
});

test('nothing is found, and that is said', async () => {
  await visit({ ...WIDE }, async (page) => {
    await change(page, '**/api/v1/check', (answer) => ({ ...answer, matches: [] }));
    await checkSubmission(page);
    assert.equal(await page.textContent('#status'), 'No match');
    assert.ok((await page.textContent('.empty')).includes('No document of the archive'));
  });
});
