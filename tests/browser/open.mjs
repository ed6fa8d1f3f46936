// Launches the browser, and opens pages whose forbidden events are recorded.

import { chromium } from 'playwright-core';

/** Starts the system's Chromium. */
export function launch() {
  const isRoot = process.getuid?.() === 0;
  // The sandbox is off for root, as in a container, because Chromium refuses to run as root with it.
  return chromium.launch({ executablePath: process.env.CHROMIUM, args: isRoot ? ['--no-sandbox'] : [] });
}

/**
 * Returns a context, and a list of its forbidden events: requests to other servers, messages of the console (which
 * include violations of the policy), dialogs and errors.
 */
export async function watched(browser, origin, options) {
  const context = await browser.newContext(options);
  const events = [];
  context.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) events.push(`request: ${request.url()}`);
  });
  context.on('console', (message) => events.push(`console: ${message.text()}`));
  context.on('dialog', (dialog) => events.push(`dialog: ${dialog.message()}`));
  context.on('weberror', (error) => events.push(`error: ${error.error()}`));
  return { context, events };
}
