// Every route with contents, for tests and screenshots.

import { submission } from './fixtures.mjs';

/** Waits until a route has its heading and is not busy. */
export async function settled(page) {
  await page.waitForSelector('main:not([aria-busy]) h1');
}

/** Enters and checks the submission, and shows the matches. */
export async function checkSubmission(page) {
  await page.goto('/');
  await settled(page);
  await page.fill('#text', submission());
  await page.click('text=Options');
  await page.fill('input[type=number] >> nth=0', '5');
  await page.fill('input[type=number] >> nth=1', '5');
  await page.click('button.primary');
  await page.waitForURL('**/check');
  await settled(page);
}

const pair = (left, right) => `/pair?${new URLSearchParams({ left, right })}`;
const visit = (address) => async (page) => {
  await page.goto(address);
  await settled(page);
};
const drawn = (address) => async (page) => {
  await visit(address)(page);
  await page.waitForSelector('.compare[data-drawn]');
};

/** Names of routes, with functions that lead to them. */
export const ROUTES = {
  check: visit('/'),
  'check-options': async (page) => {
    await visit('/')(page);
    await page.click('text=Options');
  },
  result: checkSubmission,
  'checked-pair': async (page) => {
    await checkSubmission(page);
    await page.click('a.title >> nth=0');
    await page.waitForSelector('.compare[data-drawn]');
  },
  pair: drawn(pair('2021/0417', '2023/1102')),
  passages: async (page) => {
    await drawn(pair('2021/0417', '2023/1102'))(page);
    await page.locator('.passage-list').scrollIntoViewIfNeeded();
  },
  'pair-chinese': drawn(pair('zh-2023-001', 'zh-2024-118')),
  'pair-long': drawn(pair('long/0', 'long/1')),
  archive: visit('/archive'),
  document: visit(`/document/${encodeURIComponent('2021/0417')}`),
  'document-text': async (page) => {
    await visit(`/document/${encodeURIComponent('zh-2023-001')}`)(page);
    await page.locator('.sheet').scrollIntoViewIfNeeded();
  },
  clusters: visit('/clusters'),
  'clusters-found': async (page) => {
    await visit('/clusters')(page);
    await page.click('button.primary');
    await page.waitForSelector('.clusters');
  },
  overview: visit('/overview'),
  details: async (page) => {
    await checkSubmission(page);
    await page.click('summary');
  },
  missing: visit('/document/nowhere'),
  unknown: visit('/nosuch'),
};
