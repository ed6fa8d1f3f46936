// Takes the pictures of README and guides. `cargo x pictures` runs this file.
//
// MINWISE is the command, MINWISE_URL a server with an empty archive, CHROMIUM the browser.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { addAll, documents } from './fixtures.mjs';
import { launch } from './open.mjs';
import { ROUTES } from './routes.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const docs = join(root, 'docs');
const folder = mkdtempSync(join(tmpdir(), 'minwise-pictures-'));
const browser = await launch();

// The first picture shows the report of the README's example: its beginning and the first pair.
const report = join(folder, 'report');
const words = ['dedup', 'examples/articles.jsonl', '--output', join(folder, 'cleaned.jsonl'), '--report', report];
execFileSync(process.env.MINWISE, [...words, '--quiet'], { cwd: root });
const light = { colorScheme: 'light' };
const page = await browser.newPage({ ...light, viewport: { width: 1000, height: 900 } });
await page.goto(pathToFileURL(join(report, 'index.html')).href);
// The table of clusters is hidden, because it is as long as the other parts of the picture.
await page.addStyleTag({ content: '#clusters, nav { display: none }' });
const end = await page.locator('article').first().boundingBox();
const clip = { x: 0, y: 0, width: 1000, height: Math.ceil(end.y + end.height) + 16 };
await page.screenshot({ path: join(docs, 'report.png'), fullPage: true, clip });

await addAll(process.env.MINWISE_URL, documents());
const context = await browser.newContext({
  ...light,
  viewport: { width: 1360, height: 900 },
  baseURL: process.env.MINWISE_URL,
});
const pair = await context.newPage();
await ROUTES.pair(pair);
await pair.screenshot({ path: join(docs, 'pair-view.png') });

await browser.close();
rmSync(folder, { recursive: true });
