// The browser, and pages in it that may not do what the page of `minwise serve` never does.

import { chromium } from 'playwright-core';

/** Starts the system's Chromium. */
export function launch() {
  const isRoot = process.getuid?.() === 0;
  // Chromium refuses to run as root, as in a container, with its sandbox.
  return chromium.launch({ executablePath: process.env.CHROMIUM, args: isRoot ? ['--no-sandbox'] : [] });
}

/**
 * A context and a list of what happened in it that must not: requests to elsewhere, messages of the console (which is
 * where violations of the policy appear), dialogs and errors.
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
