// Tests of every route of the page: it renders, is accessible, fetches nothing external, and fits the screen.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { NARROW, WIDE, harness } from './harness.mjs';
import { ROUTES, settled } from './routes.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const { visit } = harness();
const refused = [404];

/** Returns short descriptions of the violations that axe-core finds. */
async function violations(page) {
  // axe is run as an expression of the debugger, because the policy of the page does not apply to such expressions.
  await page.evaluate(axe);
  const { violations: found } = await page.evaluate(() => globalThis.axe.run());
  return found.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' ')).slice(0, 3)}`);
}

/** Asserts the facts that hold for every route, as the browser sees them. */
async function assertRenders(page, { width, colorScheme }) {
  const seen = await page.evaluate(() => {
    const all = (selector) => [...document.querySelectorAll(selector)];
    return {
      headings: all('h1').map((heading) => heading.textContent),
      levels: all('h1, h2, h3').map((heading) => Number(heading.tagName[1])),
      landmarks: ['header', 'main', 'nav[aria-label]', '[role=status]'].map((landmark) => all(landmark).length > 0),
      captions: all('table').every((table) => table.caption?.textContent),
      title: document.title,
      width: document.documentElement.scrollWidth,
      styled: all('[style]').every((node) => [...node.style].every((property) => property.startsWith('--'))),
      ground: getComputedStyle(document.body).backgroundColor,
      ink: getComputedStyle(document.body).color,
    };
  });
  assert.equal(seen.headings.length, 1);
  assert.ok(seen.headings[0].trim() !== '');
  assert.ok(seen.title.endsWith(' · Minwise') && seen.title.length > 10, seen.title);
  assert.ok(
    seen.levels.every((level, at) => at === 0 || level <= seen.levels[at - 1] + 1),
    `levels ${seen.levels}`,
  );
  assert.ok(seen.landmarks.every(Boolean) && seen.captions && seen.styled);
  assert.equal(seen.width, width, 'nothing scrolls sideways');
  const [ground, ink] = [seen.ground, seen.ink].map((colour) => Number(colour.match(/\d+/)[0]));
  assert.equal(ground < ink, colorScheme === 'dark', `${seen.ink} on ${seen.ground}`);
}

for (const [name, show] of Object.entries(ROUTES)) {
  for (const colorScheme of ['light', 'dark']) {
    test(`${name}, ${colorScheme}`, async () => {
      await visit({ ...WIDE, colorScheme, refused }, async (page) => {
        await show(page);
        await assertRenders(page, { width: WIDE.viewport.width, colorScheme });
        // The long pair is left out, because it has the same parts as a short pair and takes axe-core ten seconds.
        if (name !== 'pair-long') assert.deepEqual(await violations(page), []);
      });
    });
  }
  test(`${name}, narrow`, async () => {
    await visit({ ...NARROW, colorScheme: 'light', refused }, async (page) => {
      await show(page);
      await assertRenders(page, { width: NARROW.viewport.width, colorScheme: 'light' });
    });
  });
}

test('hostile documents are text on every route that shows them', async () => {
  const ids = await visitIds();
  const script = '<script>document.title = "taken"; alert(1)</script>';
  for (const address of [
    '/archive?search=hostile',
    `/document/${encodeURIComponent(ids[0])}`,
    `/pair?${new URLSearchParams({ left: ids[0], right: ids[1] })}`,
  ]) {
    for (const screen of [WIDE, NARROW]) {
      await visit({ ...screen, colorScheme: 'light' }, async (page) => {
        await page.goto(address);
        await settled(page);
        await assertRenders(page, { width: screen.viewport.width, colorScheme: 'light' });
        const text = await page.textContent('main');
        assert.ok(text.includes(script), address);
        assert.ok(!text.includes('\u202e') && !text.includes('\u0000'), address);
        assert.equal(await page.locator('main script, main iframe, main img, main style').count(), 0);
      });
    }
  }

  async function visitIds() {
    const found = [];
    await visit({ ...WIDE }, async (page) => {
      await page.goto('/archive?search=hostile');
      await settled(page);
      for (const href of await page
        .locator('a.title')
        .evaluateAll((links) => links.map((link) => link.getAttribute('href')))) {
        found.push(decodeURIComponent(href.slice('/document/'.length)));
      }
    });
    assert.equal(found.length, 2);
    return found;
  }
});

test('by keyboard from route to route', async () => {
  await visit({ ...WIDE }, async (page) => {
    await page.goto('/');
    await settled(page);
    const focused = () => page.evaluate(() => document.activeElement.textContent);
    await page.keyboard.press('Tab');
    assert.equal(await focused(), 'Skip to the content');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
    for (const [link, heading] of [
      ['Archive', 'Archive'],
      ['Clusters', 'Clusters'],
      ['Overview', 'Overview'],
      ['Check', 'Check a document'],
    ]) {
      await page.locator('nav[aria-label=Main] a', { hasText: link }).focus();
      assert.equal(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), 'solid');
      await page.keyboard.press('Enter');
      await page.waitForSelector(`h1:text-is("${heading}")`);
      assert.equal(await focused(), heading, 'the focus is on the heading');
      assert.equal(await page.locator('nav[aria-label=Main] [aria-current]').textContent(), link);
    }
    await page.goBack();
    await page.waitForSelector('h1:text-is("Overview")');
    assert.equal(await focused(), 'Overview');
  });
});

test('going back comes to the same place', async () => {
  await visit({ ...WIDE }, async (page) => {
    await page.goto('/archive');
    await settled(page);
    // The place is computed, because the length of the page depends on the fonts.
    const place = await page.evaluate(() => {
      window.scrollTo(0, Math.floor((document.documentElement.scrollHeight - window.innerHeight) / 2));
      return window.scrollY;
    });
    assert.ok(place > 0, 'the archive is to be longer than the screen');
    // The click is made by script, because a click by pointer would scroll to its link first.
    await page
      .locator('a.title')
      .nth(20)
      .evaluate((link) => link.click());
    await page.waitForURL('**/document/**');
    await settled(page);
    assert.equal(await page.evaluate(() => window.scrollY), 0);
    await page.goBack();
    await page.waitForSelector('h1:text-is("Archive")');
    assert.equal(await page.evaluate(() => window.scrollY), place);
  });
});
