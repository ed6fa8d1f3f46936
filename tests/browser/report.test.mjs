// Tests the page of a report in a real browser: it renders, fetches nothing, runs nothing, and fits the screen.
//
// `cargo x test` sets MINWISE to the command under test and CHROMIUM to the browser.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { pages } from './paper.mjs';

const EXAMPLES = fileURLToPath(new URL('../../examples/articles.jsonl', import.meta.url));
const HOSTILE = [
  '<script>document.title = "taken"; alert(1)</script>',
  '" onmouseover="alert(1)" autofocus onfocus="alert(1)" x=\'',
  '</mark></div></section></main><style>body { display: none }</style><img src=https://example.com/x onerror=alert(1)>',
  '<svg onload=alert(1)><a href="javascript:alert(1)">here</a><iframe src="https://example.com"></iframe>',
  '\u001b[31m \u0000 \u007f \u009b \u2028 &lt;script&gt; &amp;amp;',
  '\u202egnorw morf thgir\u202c \u2066שלום עולם\u2069 مرحبا بالعالم',
  '<!-- --><base href="https://example.com/"><meta http-equiv="refresh" content="0;url=https://example.com/">',
  'W'.repeat(3000),
];

let folder;
let browser;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'minwise-browser-'));
  const isRoot = process.getuid?.() === 0;
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    // The sandbox is off for root, as in a container, because Chromium refuses to run as root with it.
    args: isRoot ? ['--no-sandbox'] : [],
  });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs `dedup` on a file and returns the address of the page. */
function report(input, name) {
  const out = join(folder, name);
  execFileSync(process.env.MINWISE, ['dedup', input, '--dry-run', '--quiet', '--report', out]);
  return pathToFileURL(join(out, 'index.html')).href;
}

/** Writes families of two documents with the contents of a hostile crawl. */
function hostileCorpus() {
  const records = [];
  for (let family = 0; family < 24; family++) {
    const hostile = HOSTILE[family % HOSTILE.length];
    for (const copy of [0, 1]) {
      const words = Array.from({ length: 120 }, (_, at) => (copy && at === 60 ? 'other' : `w${family}x${at}`));
      words.splice(30, 0, hostile);
      records.push({ id: `${family} ${copy} ${hostile}`, text: words.join(' ') });
    }
  }
  const path = join(folder, 'hostile.jsonl');
  writeFileSync(path, records.map((record) => JSON.stringify(record) + '\n').join(''));
  return path;
}

/** Checks the records of a file against an archive that has them, and returns the address of the page. */
function check(input, name) {
  const [archive, page] = [join(folder, `${name}-archive`), join(folder, `${name}.html`)];
  execFileSync(process.env.MINWISE, ['index', 'create', archive, '--quiet']);
  execFileSync(process.env.MINWISE, ['index', 'add', archive, input, '--quiet']);
  const words = ['check', input, '--index', archive, '--report', page, '--quiet'];
  // The exit code is 1, because documents are found.
  assert.equal(spawnSync(process.env.MINWISE, words).status, 1);
  return pathToFileURL(page).href;
}

/** Writes records with ids that are long or Chinese, or that reverse the reading direction. */
function oddCorpus() {
  const ids = [
    ['文献/二〇二四年度申请书（北方河口湿地碳储量研究）第一稿', '文献/二〇二四年度申请书（北方河口湿地碳储量研究）第二稿'],
    [`long/${'segment/'.repeat(60)}`, 'x'.repeat(800)],
    ['invoice\u202etxt.exe', '<b>bold</b>'],
  ];
  const records = ids.flatMap((pair, family) =>
    pair.map((id, copy) => {
      const words = Array.from({ length: 90 }, (_, at) => (copy && at === 40 ? 'other' : `word${family}x${at}`));
      return { id, text: words.join(' ') };
    }),
  );
  const path = join(folder, 'odd.jsonl');
  writeFileSync(path, records.map((record) => JSON.stringify(record) + '\n').join(''));
  return path;
}

/** Opens a page and passes it to `look`. If the page logs, fetches or runs anything, the test fails. */
async function open(address, { width, colorScheme }, look) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const events = [];
  context.on('request', (request) => {
    if (request.url() !== address) events.push(`request: ${request.url()}`);
  });
  context.on('console', (message) => events.push(`console: ${message.text()}`));
  context.on('dialog', (dialog) => events.push(`dialog: ${dialog.message()}`));
  context.on('weberror', (error) => events.push(`error: ${error.error()}`));
  const page = await context.newPage();
  await page.goto(address);
  await look(page);
  assert.deepEqual(events, []);
  await context.close();
}

/** Asserts the facts that hold for every page, as the browser sees them. */
async function assertRenders(page, { width, colorScheme }, pairs) {
  const seen = await page.evaluate(() => {
    const all = (selector) => [...document.querySelectorAll(selector)];
    const size = (element) => element.getBoundingClientRect();
    const lineHeight = (element) => parseFloat(getComputedStyle(element).lineHeight);
    return {
      title: document.title,
      headings: all('h2').map((heading) => heading.textContent),
      levels: all('h1, h2, h3, h4').map((heading) => Number(heading.tagName[1])),
      charts: all('svg').map((chart) => [size(chart).width > 250, size(chart).height > 150, chart.getAttribute('role')]),
      pairs: all('article').length,
      sides: all('article .text').filter((side) => size(side).height >= lineHeight(side)).length,
      marks: all('mark').length,
      captions: all('table').every((table) => table.caption?.textContent),
      targets: all('nav a').every((link) => document.querySelector(link.getAttribute('href'))),
      foreign: all('script, img, iframe, link, base, form, object').length,
      width: document.documentElement.scrollWidth,
      ground: getComputedStyle(document.body).backgroundColor,
      ink: getComputedStyle(document.body).color,
    };
  });
  assert.equal(seen.title, 'Minwise report');
  assert.deepEqual(seen.headings, [
    'What was read, kept and removed',
    'Similarities and recall',
    'The largest clusters',
    'Pairs near the threshold',
    'Documents worth a look',
    'Settings',
    'This run',
  ]);
  assert.ok(seen.levels.every((level, at) => at === 0 || level <= seen.levels[at - 1] + 1), 'no level is skipped');
  assert.deepEqual(seen.charts, [[true, true, 'img'], [true, true, 'img']]);
  assert.equal(seen.pairs, pairs);
  assert.equal(seen.sides, 2 * pairs);
  assert.ok(seen.marks > pairs);
  assert.ok(seen.captions && seen.targets);
  assert.equal(seen.foreign, 0);
  assert.equal(seen.width, width, 'nothing scrolls sideways');
  const [ground, ink] = [seen.ground, seen.ink].map((colour) => Number(colour.match(/\d+/)[0]));
  assert.equal(ground < ink, colorScheme === 'dark', `${seen.ink} on ${seen.ground}`);
}

const SCREENS = [380, 1400].flatMap((width) => ['light', 'dark'].map((colorScheme) => ({ width, colorScheme })));

test('the examples', async () => {
  const address = report(EXAMPLES, 'examples');
  for (const screen of SCREENS) {
    await open(address, screen, (page) => assertRenders(page, screen, 12));
  }
});

test('hostile documents', async () => {
  const address = report(hostileCorpus(), 'hostile');
  for (const screen of SCREENS) {
    await open(address, screen, async (page) => {
      await assertRenders(page, screen, 20);
      const text = await page.textContent('main');
      assert.ok(text.includes('<script>document.title = "taken"; alert(1)</script>'));
      assert.ok(text.includes('\\u{202e}gnorw') && text.includes('שלום עולם'));
    });
  }
});

test('keys and paper', async () => {
  const address = report(EXAMPLES, 'keys');
  await open(address, { width: 1400, colorScheme: 'light' }, async (page) => {
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('href')), '#counts');
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.equal(outline, 'solid');
    await page.emulateMedia({ media: 'print' });
    const nav = await page.evaluate(() => getComputedStyle(document.querySelector('nav')).display);
    assert.equal(nav, 'none');
    assert.ok(pages(await page.pdf({ format: 'A4' })) > 0);
  });
});

test('a corpus without documents, and one without near-duplicates', async () => {
  const [empty, single] = [join(folder, 'empty.jsonl'), join(folder, 'single.jsonl')];
  writeFileSync(empty, '');
  writeFileSync(single, '{"id": "a", "text": "one of a kind, and nothing else is like it at all"}\n');
  for (const [input, name, tables] of [
    [empty, 'empty', 0],
    [single, 'single', 2],
  ]) {
    const address = report(input, name);
    for (const screen of SCREENS) {
      await open(address, screen, async (page) => {
        const text = await page.textContent('main');
        assert.ok(text.includes('No document is a near-duplicate of another.'));
        assert.ok(text.includes('There are no documents.') === (tables === 0));
        assert.ok(!/precision\d|of the removed documents/.test(text), text);
        const documents = page.locator('#counts table, #strange table');
        assert.equal(await documents.count(), tables);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), screen.width);
      });
    }
  }
});

test('beginnings of documents end at words', async () => {
  const text = Array.from({ length: 60 }, (_, at) => `Gewässergüte${at}`).join(' ');
  const input = join(folder, 'words.jsonl');
  writeFileSync(input, `${JSON.stringify({ id: 'a', text })}\n`);
  await open(report(input, 'words'), SCREENS[0], async (page) => {
    const begins = await page.locator('#strange [data-name="first words"]').first().textContent();
    assert.match(begins, /^Gewässergüte0 .*Gewässergüte10 …$/);
  });
});

test('the page of a check', async () => {
  const address = check(oddCorpus(), 'checked');
  for (const screen of SCREENS) {
    await open(address, screen, async (page) => {
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), screen.width);
      const heads = await page.locator('section table').first().locator('thead th').allTextContents();
      assert.deepEqual(heads.slice(1, 4), ['share of this document in it', 'share of it in this document', 'similarity']);
      const row = page.locator('section tbody tr').first();
      assert.deepEqual((await row.locator('td').allTextContents()).slice(0, 4), ['100 %', '100 %', '100 %', '90 words']);
      const text = await page.textContent('main');
      assert.ok(text.includes('invoice\\u{202e}txt.exe') && text.includes('<b>bold</b>'));
      // On a narrow screen, each number stands below the document, with its name.
      const isNarrow = screen.width < 600;
      const [name, number] = await Promise.all([row.locator('th').boundingBox(), row.locator('td').first().boundingBox()]);
      assert.equal(number.y >= name.y + name.height, isNarrow);
      const before = await row.locator('td').first().evaluate((cell) => getComputedStyle(cell, '::before').content);
      assert.equal(before.includes('share of this document'), isNarrow, before);
    });
  }
});
