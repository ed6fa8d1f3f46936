// The page of a report in a real browser: it renders, fetches nothing, runs nothing, and fits the screen.
//
// `cargo x test` sets MINWISE to the command under test and CHROMIUM to the browser.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
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
    // Chromium refuses to run as root, as in a container, with its sandbox.
    args: isRoot ? ['--no-sandbox'] : [],
  });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs `dedup` over a file and gives the address of the page. */
function report(input, name) {
  const out = join(folder, name);
  execFileSync(process.env.MINWISE, ['dedup', input, '--dry-run', '--quiet', '--report', out]);
  return pathToFileURL(join(out, 'index.html')).href;
}

/** Families of two documents that hold what a hostile crawl may hold. */
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

/** Opens a page and gives it to `look`; anything that it logs, fetches or runs fails the test. */
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

/** What holds of every page, as the browser sees it. */
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
