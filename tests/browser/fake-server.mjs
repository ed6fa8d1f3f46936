// A fake server in Node. It serves `crates/server/web` and answers the API from memory, as `crates/server/API.md`
// describes it.
//
// `node tests/browser/fake-server.mjs PORT` starts this server by hand, with the documents of the tests.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { FakeArchive, cut, whole } from './fake-archive.mjs';

const WEB = fileURLToPath(new URL('../../crates/server/web', import.meta.url));
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const BODY_BYTES = 64 << 20;
const PAGES = /^\/(check|archive|document\/[^/]+|pair|clusters|overview)?$/;
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

class Refusal extends Error {
  constructor(status, code, title, detail = null, hint = null) {
    super(title);
    this.body = { code, title, detail, hint, status };
  }
}

/** Starts a server on a free port, or on a given port. Returns its address and a function that ends it. */
export async function startFakeServer({ token = null, port = 0 } = {}) {
  const archive = new FakeArchive();
  const jobs = new Map();
  const server = createServer(async (request, response) => {
    try {
      const url = new URL(request.url, 'http://localhost');
      if (!url.pathname.startsWith('/api/')) return await serveFile(url.pathname, request, response);
      if (token !== null && request.headers.authorization !== `Bearer ${token}`)
        throw new Refusal(401, 'token_required', 'A token is needed');
      const { status, body } = await answer(request, url, archive, jobs);
      return send(response, status, 'application/json', JSON.stringify(body));
    } catch (error) {
      const { body } = error instanceof Refusal ? error : new Refusal(500, 'internal', error.message);
      return send(response, body.status, 'application/problem+json', JSON.stringify(body));
    }
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

function send(response, status, type, body) {
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Security-Policy': POLICY,
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(body);
}

async function serveFile(path, request, response) {
  const isBrowser = request.headers.accept?.includes('text/html');
  const name = PAGES.test(path)
    ? 'index.html'
    : path.startsWith('/assets/')
      ? normalize(path.slice('/assets/'.length))
      : null;
  if (name === null && isBrowser)
    return send(response, 404, TYPES['.html'], await readFile(join(WEB, 'index.html')));
  if (name === null || name.startsWith('..')) throw new Refusal(404, 'no_such_address', `There is no page ${path}`);
  const body = await readFile(join(WEB, name)).catch(() => {
    throw new Refusal(404, 'no_such_address', `There is no file ${name}`);
  });
  return send(response, 200, TYPES[extname(name)], body);
}

async function answer(request, url, archive, jobs) {
  const [, call, id, part] = url.pathname.slice('/api/v1'.length).split('/').map(decodeURIComponent);
  const parameters = Object.fromEntries(url.searchParams);
  switch (`${request.method} ${call}${part ? ` ${part}` : ''}`) {
    case 'GET health':
      return { status: 200, body: { status: 'ok', documents: archive.size, body_bytes: BODY_BYTES, version: '0.0.0' } };
    case 'GET stats':
      return { status: 200, body: archive.stats() };
    case 'GET documents':
      if (id !== undefined) return { status: 200, body: whole(find(archive, id)) };
      return { status: 200, body: archive.list({ ...parameters, limit: Number(parameters.limit ?? 50) }) };
    case 'GET documents similar':
      return { status: 200, body: archive.check(find(archive, id)) };
    case 'POST documents':
      return { status: 201, body: add(archive, (await read(request)).documents) };
    case 'POST check': {
      const { text, ...options } = await read(request);
      return { status: 200, body: archive.check({ title: options.title, ...cut(text) }, options) };
    }
    case 'POST pair': {
      const { left, right } = await read(request);
      const side = ({ id, text, title }) => (id === undefined ? { title, ...cut(text) } : find(archive, id));
      return { status: 200, body: archive.pair(side(left), side(right)) };
    }
    case 'POST clusters': {
      const { threshold } = await read(request);
      const job = { id: `job-${jobs.size}`, kind: 'clusters', looks: 0, result: archive.clusters(threshold) };
      jobs.set(job.id, job);
      return { status: 202, body: { job: job.id } };
    }
    case 'GET jobs':
      return { status: 200, body: look(jobs.get(id) ?? missing('no_such_job', `There is no job ${id}`), archive.size) };
    default:
      throw new Refusal(404, 'no_such_address', `There is no call ${request.method} ${url.pathname}`);
  }
}

function missing(code, title) {
  throw new Refusal(404, code, title);
}

function find(archive, id) {
  return archive.get(id) ?? missing('no_such_document', `There is no document ${id}`);
}

function add(archive, documents) {
  const [added, replaced] = [[], []];
  for (const document of documents) (archive.add(document) ? added : replaced).push(document.id);
  const counts = { added: added.length, replaced: replaced.length, rejected: 0 };
  return { added, replaced, rejected: [], counts };
}

/** Returns the state of a job, and advances it by one step per call, so that tests see its progress. */
function look(job, total) {
  job.looks += 1;
  const state = ['queued', 'running', 'running'][job.looks - 1] ?? 'done';
  const done = state === 'done' ? total : state === 'running' ? Math.floor((total * (job.looks - 1)) / 3) : 0;
  return { id: job.id, kind: job.kind, state, done, total, result: state === 'done' ? job.result : null, error: null };
}

async function read(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const body = Buffer.concat(pieces);
  const type = request.headers['content-type'] ?? '';
  if (!type.startsWith('multipart/form-data')) return JSON.parse(body);
  const form = await new Response(body, { headers: { 'Content-Type': type } }).formData();
  const file = form.get('file');
  const text = await file.text();
  if (text.startsWith('%PDF'))
    throw new Refusal(
      422,
      'rejected_document',
      `${file.name} is broken`,
      'The file ends before its last page',
      'Open it in a reader and save it again',
    );
  return { title: file.name, ...JSON.parse(form.get('options')), text };
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const { documents, addAll } = await import('./fixtures.mjs');
  const { url } = await startFakeServer({ port: Number(argv[2] ?? 8080) });
  await addAll(url, documents());
  console.log(url);
}
