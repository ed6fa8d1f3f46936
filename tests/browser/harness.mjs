// What the tests of the page share: a server with documents, a browser, and visits that may do nothing they should not.
//
// MINWISE_URL is the server under test; it must be empty or hold these documents already. Without it there is a fake one.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { startFakeServer } from './fake-server.mjs';
import { addAll, documents } from './fixtures.mjs';
import { launch, watched } from './open.mjs';

export const WIDE = { viewport: { width: 1360, height: 900 } };
export const NARROW = { viewport: { width: 360, height: 740 } };

/** What Chromium itself writes to the console when an answer is not 200. */
const NETWORK = /^console: Failed to load resource: the server responded with a status of (\d+)/;

/** What it writes when there is none; among the refusals this is 0. */
const RESET = 'console: Failed to load resource: net::ERR_CONNECTION_RESET';

/** Whether the server under test is our own stand-in. */
export const isFake = !process.env.MINWISE_URL;

/** Sets up server and browser for the tests of a file. */
export function harness() {
  const own = { server: null, browser: null };
  before(async () => {
    own.server = isFake ? await startFakeServer() : { url: process.env.MINWISE_URL, stop() {} };
    await addAll(own.server.url, documents());
    own.browser = await launch();
  });
  after(async () => {
    await own.browser?.close();
    await own.server?.stop();
  });
  return {
    /** The answer of the API to a call. */
    async api(path, body) {
      const request =
        body === undefined
          ? {}
          : { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
      const response = await fetch(`${own.server.url}/api/v1/${path}`, request);
      assert.ok(response.ok, `${path}: ${response.status}`);
      return response.json();
    },
    /** A visit to the server under test. */
    visit: (options, look) => visit(own.browser, own.server.url, options, look),
    /** A visit to another server. */
    visitAt: (url, options, look) => visit(own.browser, url, options, look),
  };
}

/** Gives a page to `look`; anything that it logs, fetches from elsewhere or runs fails the test, but for the refusals named. */
async function visit(browser, url, { refused = [], ...options }, look) {
  const { context, events } = await watched(browser, url, { ...options, baseURL: url });
  const page = await context.newPage();
  await look(page);
  const isExpected = (event) => refused.includes(event === RESET ? 0 : Number(NETWORK.exec(event)?.[1]));
  assert.deepEqual(
    events.filter((event) => !isExpected(event)),
    [],
  );
  await context.close();
}
