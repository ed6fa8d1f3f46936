// Takes pictures of every route for people: `node tests/browser/screenshots.mjs FOLDER [ROUTE…]`.
//
// MINWISE_URL is the server; without it, a fake server is started. CHROMIUM is the browser.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeServer } from './fake-server.mjs';
import { addAll, documents } from './fixtures.mjs';
import { launch } from './open.mjs';
import { ROUTES } from './routes.mjs';

const SCREENS = {
  light: { viewport: { width: 1360, height: 900 }, colorScheme: 'light' },
  dark: { viewport: { width: 1360, height: 900 }, colorScheme: 'dark' },
  narrow: { viewport: { width: 360, height: 740 }, colorScheme: 'light', deviceScaleFactor: 2 },
};

const [folder, ...wanted] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const server = process.env.MINWISE_URL ? { url: process.env.MINWISE_URL, stop() {} } : await startFakeServer();
await addAll(server.url, documents());
const browser = await launch();
for (const [screen, options] of Object.entries(SCREENS)) {
  const context = await browser.newContext({ ...options, baseURL: server.url });
  for (const [name, show] of Object.entries(ROUTES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const page = await context.newPage();
    await show(page);
    // A page with long texts is captured only as far as the screen, because texts off the screen are not laid out.
    const fullPage = (await page.locator('.text').count()) === 0;
    await page.screenshot({ path: join(folder, `${name}-${screen}.png`), fullPage });
    await page.close();
  }
  await context.close();
}
await browser.close();
await server.stop();
