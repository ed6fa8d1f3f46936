// Shared parts of the tests of the page: a server with documents, a browser, and visits that fail on forbidden events.
//
// MINWISE_URL is the server under test, whose archive must be empty or have these documents already. Without MINWISE_URL,
// the tests start a fake server.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { startFakeServer } from './fake-server.mjs';
import { addAll, documents } from './fixtures.mjs';
import { launch, watched } from './open.mjs';

export const WIDE = { viewport: { width: 1360, height: 900 } };
export const NARROW = { viewport: { width: 360, height: 740 } };

/** The message that Chromium writes to the console if an answer is not 200. */
const NETWORK = /^console: Failed to load resource: the server responded with a status of (\d+)/;

/** The message that Chromium writes if there is no answer. Among `refused`, this is 0. */
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

/** Passes a page to `look`. If the page logs, runs or fetches anything from elsewhere, except the named refusals, the test fails. */
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
