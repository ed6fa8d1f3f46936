// Tests the tasks of users: check a text, browse the archive, find clusters, enter a token.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WIDE, harness, isFake } from './harness.mjs';
import { startFakeServer } from './fake-server.mjs';
import { submission } from './fixtures.mjs';
import { checkSubmission, settled } from './routes.mjs';

const { api, visit, visitAt } = harness();
const plain = (text) => text.replaceAll('\u00a0', ' ');

/** Sets a slider and sends the event that a user would cause. */
function slide(page, selector, value) {
  return page.locator(selector).evaluate((slider, value) => {
    slider.value = value;
    slider.dispatchEvent(new Event('input', { bubbles: true }));
  }, value);
}

test('a pasted text is checked, and the threshold says what is shown', async () => {
  const { matches } = await api('check', { text: submission(), threshold: 0.05, containment: 0.05, top: 10 });
  assert.ok(matches.length >= 3);
  await visit({ ...WIDE }, async (page) => {
    await checkSubmission(page);
    assert.equal(await page.textContent('h1'), 'Carbon in the soils of diked marshes');
    assert.equal(plain(await page.textContent('#status')), `${matches.length} matches`);
    const rows = () => page.locator('tbody tr:visible').count();
    const measures = {
      containment_of_query: 'Share of the submission found in the document',
      containment_of_document: 'Share of the document found in the submission',
      similarity: 'Similarity of the two',
    };
    const heads = await page.locator('thead th').allTextContents();
    assert.deepEqual(heads, ['Document', ...Object.values(measures), 'Longest passage']);
    for (const [measure, label] of Object.entries(measures)) {
      await page.selectOption('#measure', { label });
      // The slider begins at the threshold of the check, and matches are sorted by the measure.
      assert.equal(await page.inputValue('input[type=range]'), '0.05');
      const best = matches.toSorted((a, b) => b[measure] - a[measure]);
      assert.deepEqual(
        await page.locator('tbody a.title').allTextContents(),
        best.map(({ title }) => title),
      );
      for (const threshold of [0.05, 0, 0.2, 0.51, 0.75, 1]) {
        await slide(page, 'input[type=range]', String(threshold));
        const reach = matches.filter((match) => match[measure] >= threshold).length;
        const reading = plain(await page.textContent('.reading'));
        assert.ok(reading.startsWith(`${reach} of ${matches.length} matches at `), `${reading}: ${threshold}`);
        assert.equal(await rows(), reach);
        assert.equal(await page.locator('.empty').isVisible(), reach === 0);
        assert.equal(await page.locator('text=Show all').isVisible(), reach < matches.length);
      }
      await page.click('text=Show all');
      assert.equal(await rows(), matches.length);
    }
    // A click on a match opens the page of its pair, which shows the passages of the check. The link back shows the
    // same matches.
    await page.selectOption('#measure', '0');
    const [first] = matches.toSorted((a, b) => b.containment_of_query - a.containment_of_query);
    const leading = await page.locator('tbody td.leading').first().textContent();
    assert.equal(plain(leading), `${Math.floor(Number((first.containment_of_query * 1000).toFixed(6))) / 10} %`);
    await page.locator('a.title').first().click();
    await page.waitForSelector('.compare[data-drawn]');
    assert.equal(await page.locator('.pane.left .sign').count(), first.passages.length);
    assert.equal(await page.locator('.verdict dd').first().textContent(), leading);
    await page.click('text=All matches');
    await page.waitForSelector('tbody tr');
    assert.equal(await page.locator('tbody tr').count(), matches.length);
  });
});

test('a check whose matches are all below the slider says so and shows them', async () => {
  await visit({ ...WIDE }, async (page) => {
    await page.route('**/api/v1/check', async (route) => {
      const response = await route.fetch();
      const answer = await response.json();
      const matches = answer.matches.map((match) => ({ ...match, containment_of_query: 0.01 }));
      await route.fulfill({ response, json: { ...answer, matches } });
    });
    await checkSubmission(page);
    assert.equal(await page.locator('tbody tr:visible').count(), 0);
    assert.ok((await page.textContent('.empty')).includes('No match reaches this'));
    await page.click('text=Show all');
    assert.ok((await page.locator('tbody tr:visible').count()) >= 3);
    assert.equal(await page.evaluate(() => document.activeElement.type), 'range');
  });
});

test('an address that nobody knows is a page with a way out', async () => {
  await visit({ ...WIDE, refused: [404] }, async (page) => {
    const response = await page.goto('/nosuch/address');
    await settled(page);
    assert.equal(response.status(), 404);
    assert.equal(await page.textContent('h1'), 'Not found');
    await page.click('text=look through the archive');
    await page.waitForSelector('h1:text-is("Archive")');
  });
});

test('the slider is moved by keys', async () => {
  await visit({ ...WIDE }, async (page) => {
    await checkSubmission(page);
    await page.focus('input[type=range]');
    await page.keyboard.press('ArrowRight');
    assert.ok(plain(await page.textContent('.reading')).includes('at 6 %'));
    const spoken = await page.getAttribute('input[type=range]', 'aria-valuetext');
    assert.ok(plain(spoken).includes('at 6 % or above'), spoken);
  });
});

test('files are chosen or dropped, and one that cannot be read does not stop the others', async () => {
  await visit({ ...WIDE, refused: [422] }, async (page) => {
    await page.goto('/');
    await settled(page);
    await page.setInputFiles('input[type=file]', {
      name: 'submission.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from(submission()),
    });
    await page.evaluate(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['%PDF-1.7 and nothing more'], 'broken.pdf'));
      dataTransfer.items.add(new File(['Nothing like it was ever written anywhere before.'], 'other.txt'));
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    });
    assert.equal(await page.locator('.files li').count(), 3);
    await page.click('button[aria-label="Remove other.txt"]');
    assert.equal(await page.locator('.files li').count(), 2);
    await page.click('button.primary');
    await page.waitForURL('**/check');
    await settled(page);
    assert.ok((await page.locator('tbody tr').count()) >= 1);
    const checked = page.locator('.checked a');
    assert.equal(await checked.count(), 2);
    assert.ok((await checked.nth(1).textContent()).includes('not checked'));
    await checked.nth(1).click();
    await page.waitForSelector('[role=alert]');
    assert.ok((await page.textContent('[role=alert]')).length > 10);
  });
});

test('nothing to check is said so, and a reload forgets what was checked', async () => {
  await visit({ ...WIDE }, async (page) => {
    await page.goto('/');
    await settled(page);
    await page.click('button.primary');
    assert.ok((await page.textContent('[role=alert]')).includes('nothing to check'));
    assert.equal(await page.evaluate(() => document.activeElement.id), 'text');
    await checkSubmission(page);
    await page.reload();
    await settled(page);
    assert.equal(await page.textContent('h1'), 'No result');
  });
});

test('a check can be changed and made again', async () => {
  await visit({ ...WIDE }, async (page) => {
    await checkSubmission(page);
    await page.click('text=Back to the check');
    await page.waitForSelector('#text');
    assert.equal(await page.inputValue('#text'), submission());
    assert.equal(await page.getByLabel('Minimum similarity').inputValue(), '5');
    await page.setInputFiles('input[type=file]', { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') });
    await page.click('text=Clear');
    assert.equal(await page.inputValue('#text'), '');
    assert.equal(await page.locator('.files li').count(), 0);
    assert.equal(await page.getByLabel('Minimum similarity').inputValue(), '50');
  });
});

test('documents of the same applicant are left out', async () => {
  await visit({ ...WIDE }, async (page) => {
    await page.goto('/');
    await settled(page);
    await page.fill('#text', submission());
    await page.click('summary');
    await page.getByLabel('Documents whose field').fill('applicant');
    await page.getByLabel('has the value').fill('M. Lindqvist');
    await page.click('button.primary');
    await page.waitForURL('**/check');
    await settled(page);
    assert.ok(!(await page.textContent('main')).includes('M. Lindqvist'));
  });
});

test('the archive is paged through without loss', async () => {
  const wanted = [];
  for (let after = ''; after !== null;) {
    const { documents, next } = await api(`documents?${new URLSearchParams({ limit: 20, after })}`);
    wanted.push(...documents.map(({ id }) => id));
    after = next;
  }
  await visit({ ...WIDE }, async (page) => {
    await page.goto('/archive');
    await settled(page);
    const seen = [];
    for (;;) {
      const links = await page
        .locator('a.title')
        .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
      seen.push(...links.map((href) => decodeURIComponent(href.slice('/document/'.length))));
      const next = page.locator('text=Next page');
      if ((await next.count()) === 0) break;
      const first = await page.locator('a.title').first().getAttribute('href');
      await next.click();
      await page.waitForFunction((first) => document.querySelector('a.title')?.getAttribute('href') !== first, first);
    }
    assert.deepEqual(seen, wanted);
    await page.click('text=First page');
    await page.waitForURL('**/archive');
  });
});

test('the archive is searched while one types', async () => {
  await visit({ ...WIDE }, async (page) => {
    await page.goto('/archive');
    await settled(page);
    await page.locator('#search').pressSequentially('lindqvist');
    await page.waitForURL('**/archive?search=lindqvist');
    assert.equal(await page.locator('tbody tr').count(), 2);
    assert.equal(plain(await page.textContent('#status')), '2 documents');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'search', 'the focus stays');
    await page.fill('#search', '王建国');
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
    await page.fill('#search', 'no such thing');
    await page.waitForSelector('.empty');
    await page.reload();
    await settled(page);
    assert.equal(await page.inputValue('#search'), 'no such thing');
  });
});

test('a document has what resembles it', async () => {
  const { matches } = await api(`documents/${encodeURIComponent('2021/0417')}/similar`);
  await visit({ ...WIDE }, async (page) => {
    await page.goto(`/document/${encodeURIComponent('2021/0417')}`);
    await settled(page);
    assert.deepEqual(
      await page.locator('a.title').allTextContents(),
      matches.toSorted((a, b) => b.containment_of_query - a.containment_of_query).map(({ title }) => title),
    );
    assert.equal(await page.inputValue('input[type=range]'), '0.3', 'the threshold that was used');
    assert.ok((await page.textContent('.sheet')).includes('Tidal marshes store carbon'));
    await page.locator('a.title').first().click();
    await page.waitForSelector('.compare[data-drawn]');
    assert.equal(new URL(page.url()).searchParams.get('left'), '2021/0417');
  });
});

test('clusters come with progress and survive a reload', async () => {
  await visit({ ...WIDE }, async (page) => {
    await page.goto('/clusters');
    await settled(page);
    await slide(page, '#threshold', '0.7');
    await page.click('button.primary');
    await page.waitForSelector('progress, .clusters');
    await page.waitForSelector('.clusters');
    const job = await api(`jobs/${new URL(page.url()).searchParams.get('job')}`);
    assert.equal(job.result.threshold, 0.7);
    assert.equal(await page.locator('.card').count(), job.result.clusters.length);
    assert.ok(plain(await page.textContent('#status')).startsWith(`${job.result.clusters.length} clusters with`));
    assert.equal(await page.locator('.card').first().locator('.members li').count(), job.result.clusters[0].size - 1);
    await page.reload();
    await page.waitForSelector('.clusters');
    assert.equal(await page.inputValue('#threshold'), '0.7');
    await page.locator('.members a').first().click();
    await page.waitForSelector('.compare[data-drawn]');
  });
});

test('whoever leaves the clusters while a job is begun is not called back', async () => {
  await visit({ ...WIDE }, async (page) => {
    await page.goto('/clusters');
    await settled(page);
    let begun = 0;
    let answer;
    const held = new Promise((resolve) => (answer = resolve));
    await page.route('**/api/v1/clusters', async (route) => {
      begun += 1;
      await held;
      await route.continue();
    });
    await page.dblclick('button.primary');
    await page.click('nav[aria-label=Main] a[href="/archive"]');
    await page.waitForSelector('h1:text-is("Archive")');
    const answered = page.waitForResponse('**/api/v1/clusters');
    answer();
    await answered;
    await page.waitForTimeout(100);
    assert.equal(begun, 1, 'a double click is one');
    assert.equal(new URL(page.url()).pathname, '/archive');
  });
});

test('a search that a later one takes the place of is given up', async () => {
  await visit({ ...WIDE }, async (page) => {
    await page.goto('/archive');
    await settled(page);
    const given = page.waitForEvent('requestfailed', (request) => request.url().includes('search=slow'));
    await page.route('**/documents?search=slow*', () => {});
    await page.fill('#search', 'slow');
    await page.waitForRequest('**/documents?search=slow*');
    await page.fill('#search', 'lindqvist');
    await given;
    await page.waitForURL('**/archive?search=lindqvist');
  });
});

test('a search goes on where the server ended its look', async () => {
  await visit({ ...WIDE }, async (page) => {
    await page.route('**/documents?search=lindqvist&limit=50', (route) =>
      route.fulfill({ json: { documents: [], next: '~' } }),
    );
    await page.route('**/documents?search=lindqvist&after=%7E&limit=50', async (route) => {
      const url = route.request().url().replace('after=%7E&', '');
      await route.fulfill({ response: await route.fetch({ url }) });
    });
    await page.goto('/archive?search=lindqvist');
    await settled(page);
    assert.equal(await page.locator('tbody tr').count(), 2);
  });
});

// This test needs the real server, because the fake server has no such option. `cargo x test` runs this file with both.
if (!isFake) {
  test('the text of a form is no evidence', async () => {
    await visit({ ...WIDE }, async (page) => {
      await page.goto('/');
      await settled(page);
      await page.fill('#text', submission());
      await page.click('summary');
      await page.getByLabel('This text').fill(submission());
      await page.click('button.primary');
      await page.waitForURL('**/check');
      await settled(page);
      assert.equal(await page.textContent('#status'), 'No match');
    });
  });
}

test('a file that is too large is not sent, and a server that hangs up on one gets the next', async () => {
  await visit({ ...WIDE, refused: [0] }, async (page) => {
    await page.route('**/api/v1/health', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), body_bytes: 10_000 } });
    });
    await page.route('**/api/v1/check', (route) =>
      route.request().postData()?.includes('hang up') ? route.abort('connectionreset') : route.continue(),
    );
    await page.goto('/');
    await settled(page);
    const file = (name, text) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
    await page.setInputFiles('input[type=file]', [
      file('large.txt', 'a'.repeat(10_001)),
      file('reset.txt', 'hang up'),
      file('whole.txt', submission().slice(0, 5000)),
    ]);
    await page.click('button.primary');
    await page.waitForURL('**/check');
    await settled(page);
    assert.ok((await page.textContent('[role=alert]')).includes('too large'));
    const checked = await page.locator('.checked a').allTextContents();
    assert.ok(checked[0].includes('not checked') && checked[1].includes('not checked'), checked.join());
    assert.ok(!checked[2].includes('not checked'), checked[2]);
  });
});

test('the overview counts the documents above any threshold', async () => {
  const { similarities } = await api('stats');
  await visit({ ...WIDE }, async (page) => {
    await page.goto('/overview');
    await settled(page);
    for (const [at, { from }] of similarities.buckets.entries()) {
      await slide(page, 'input[type=range]', String(from));
      const reach = similarities.buckets.slice(at).reduce((sum, { documents }) => sum + documents, 0);
      assert.ok(
        plain(await page.textContent('.reading'))
          .replaceAll(' ', '')
          .startsWith(`${reach}document`),
        `from ${from}`,
      );
      // The mark of the threshold is exactly above the slider's thumb.
      const [line, thumb] = await page.evaluate(() => {
        const slider = document.querySelector('input[type=range]');
        const { left, width } = slider.getBoundingClientRect();
        const size = 20;
        const share = (slider.value - slider.min) / (slider.max - slider.min);
        return [
          document.querySelector('path.threshold').getBoundingClientRect().left,
          left + size / 2 + share * (width - size),
        ];
      });
      assert.ok(Math.abs(line - thumb) < 2, `line at ${line}, thumb at ${thumb}`);
    }
  });
});

/** Starts or finds a server that requires a token. */
async function guarded() {
  const { MINWISE_TOKEN_URL: url, MINWISE_TOKEN: token = 'right-token-of-the-tests' } = process.env;
  return { token, ...(url ? { url, stop() {} } : await startFakeServer({ token })) };
}

test(
  'a token is asked for, once, and a wrong one is told',
  { skip: !isFake && !process.env.MINWISE_TOKEN_URL && 'no server with tokens is known' },
  async () => {
    const server = await guarded();
    await visitAt(server.url, { ...WIDE, refused: [401] }, async (page) => {
      await page.goto('/archive');
      await page.waitForSelector('dialog[open]');
      assert.equal(await page.evaluate(() => document.activeElement.id), 'token');
      await page.keyboard.type('wrong');
      await page.keyboard.press('Enter');
      await page.waitForSelector('dialog[open] .bad');
      await page.fill('#token', server.token);
      await page.keyboard.press('Enter');
      await page.waitForSelector('h1:text-is("Archive")');
      await page.goto('/overview');
      await settled(page);
      assert.equal(await page.locator('dialog').count(), 0);
      assert.equal(
        await page.evaluate(() => localStorage.length + document.cookie.length),
        0,
        'it is kept for the session only',
      );
    });
    await visitAt(server.url, { ...WIDE, refused: [401] }, async (page) => {
      await page.goto('/archive');
      await page.waitForSelector('dialog[open]');
      await page.keyboard.press('Escape');
      await settled(page);
      assert.ok((await page.textContent('main')).includes('A token is needed'));
    });
    await server.stop();
  },
);

test('an answer that is not of our making is told, and no more than that', async () => {
  await visit({ ...WIDE, refused: [503] }, async (page) => {
    await page.goto('/archive');
    await settled(page);
    await page.route('**/api/**', (route) =>
      route.fulfill({ status: 503, contentType: 'text/html', body: '<h1>Busy</h1>' }),
    );
    await page.click('text=Overview');
    await page.waitForSelector('[role=alert]');
    assert.ok((await page.textContent('[role=alert]')).includes('503'));
    assert.ok(!(await page.textContent('main')).includes('Busy'));
  });
});
