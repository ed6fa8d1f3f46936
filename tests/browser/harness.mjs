// Shared parts of the tests of the page: a server with documents, a browser, and visits that fail on forbidden events.
//
// MINWISE_URL is the server under test, whose archive must be empty or have these documents already. Without
// MINWISE_URL, the tests start a fake server.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { startFakeServer } from './fake-server.mjs';
import { addAll, documents } from './fixtures.mjs';
import { launch, watched } from './open.mjs';

export const WIDE = { viewport: { width: 1360, height: 900 } };
export const NARROW = { viewport: { width: 360, height: 740 } };

/** Message that Chromium writes to the console if the status of an answer is an error. */
const NETWORK = /^console: Failed to load resource: the server responded with a status of (\d+)/;

/** Message that Chromium writes if there is no answer. In `refused`, it has the number 0. */
const RESET = 'console: Failed to load resource: net::ERR_CONNECTION_RESET';

/** Whether the server under test is the fake server. */
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
    /** Returns the answer of the API to a call. */
    async api(path, body) {
      const request =
        body === undefined
          ? {}
          : { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
      const response = await fetch(`${own.server.url}/api/v1/${path}`, request);
      assert.ok(response.ok, `${path}: ${response.status}`);
      return response.json();
    },
    /** Visits the server under test. */
    visit: (options, look) => visit(own.browser, own.server.url, options, look),
    /** Visits another server. */
    visitAt: (url, options, look) => visit(own.browser, url, options, look),
  };
}

/** Passes a page to `look`. Fails if the page logs, runs or fetches anything external, except for `refused`. */
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
