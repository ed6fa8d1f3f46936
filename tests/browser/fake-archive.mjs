// Stands in for the server's archive in tests of the page. The archive is in memory and simple: every document is
// compared with every other.

/** Number of tokens per shingle, and least number of tokens of a passage. */
const [SHINGLE, PASSAGE] = [5, 10];
/** Upper bound on the passages per match. The longest passages are kept. */
const LONGEST = 50;
/** Upper bound on the occurrences of a shingle that are compared. */
const FOLLOWED = 16;
export const SPEC = 'nfkc+casefold / words:5 / minhash:128 / seed:1';

export class FakeArchive {
  #documents = new Map();

  get size() {
    return this.#documents.size;
  }

  add({ id, text, title = null, metadata = {} }) {
    const isNew = !this.#documents.has(id);
    const added = `2026-0${1 + (this.size % 6)}-14T09:30:00Z`;
    this.#documents.set(id, { id, title, metadata, added, ...cut(text) });
    return isNew;
  }

  get(id) {
    return this.#documents.get(id);
  }

  list({ search = '', after = '', limit = 50 }) {
    const wanted = search.toLowerCase();
    const has = ({ id, title, metadata }) =>
      `${id} ${title} ${Object.values(metadata).join(' ')}`.toLowerCase().includes(wanted);
    const rest = [...this.#documents.values()]
      .filter(has)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .filter(({ id }) => id > after);
    const documents = rest.slice(0, limit);
    return { documents: documents.map(listed), next: rest.length > limit ? documents.at(-1).id : null };
  }

  /** Returns the documents that resemble a text or another document. */
  check(query, { threshold = 0.5, containment = 0.3, top = 10, exclude = [], metadata = {} } = {}) {
    const begin = performance.now();
    const others = [...this.#documents.values()].filter(
      (other) =>
        other.id !== query.id &&
        !exclude.some((field) => field in metadata && other.metadata[field] === metadata[field]),
    );
    const found = others
      .map((other) => ({ other, ...measures(query, other) }))
      .filter(({ similarity, left, right }) => similarity >= threshold || left >= containment || right >= containment)
      .sort((a, b) => b.similarity - a.similarity);
    const matches = found.slice(0, top).map(({ other, similarity, left, right }) => {
      const passages = sharedPassages(query, other).map(({ left, right, ...rest }) => ({
        query: left,
        document: right,
        ...rest,
      }));
      const tokens = passages.map((passage) => passage.tokens);
      return {
        id: other.id,
        title: other.title,
        metadata: other.metadata,
        reasons: {
          similarity: similarity >= threshold,
          containment: Math.max(left, right) >= containment,
          passage: tokens.some((count) => count >= PASSAGE),
        },
        similarity,
        containment_of_query: left,
        containment_of_document: right,
        weighted: null,
        longest_passage: Math.max(0, ...tokens),
        shared_tokens: tokens.reduce((sum, count) => sum + count, 0),
        passages: longest(passages),
        further_passages: Math.max(0, passages.length - LONGEST),
      };
    });
    const { id = null, title = null, text, marks, tokens, set } = query;
    return {
      query: { id, title, characters: [...text].length, tokens: tokens.length, shingles: set.size, text, marks },
      matches,
      further: found.length - matches.length,
      compared: found.length,
      not_compared: 0,
      passed_over: 0,
      recall_at_threshold: 0.996,
      no_passages: null,
      elapsed_ms: performance.now() - begin,
      spec: SPEC,
    };
  }

  pair(left, right) {
    const { similarity, left: containment_of_left, right: containment_of_right } = measures(left, right);
    const side = ({ id = null, title = null, text, marks, metadata = {} }) => ({ id, title, text, marks, metadata });
    return {
      left: side(left),
      right: side(right),
      similarity,
      containment_of_left,
      containment_of_right,
      passages: sharedPassages(left, right),
      no_passages: null,
      spec: SPEC,
    };
  }

  clusters(threshold) {
    const taken = new Set();
    const clusters = [];
    for (const keeper of this.#documents.values()) {
      if (taken.has(keeper.id)) continue;
      const members = [...this.#documents.values()]
        .filter((other) => !taken.has(other.id))
        .map((other) => ({
          id: other.id,
          title: other.title,
          similarity: other === keeper ? 1 : measures(keeper, other).similarity,
        }))
        .filter((member) => member.similarity >= threshold);
      for (const { id } of members) taken.add(id);
      if (members.length > 1) clusters.push({ size: members.length, keeper: keeper.id, members });
    }
    const documents = clusters.reduce((sum, { size }) => sum + size, 0);
    return {
      clusters: clusters.sort((a, b) => b.size - a.size),
      further: 0,
      documents,
      threshold,
      recall_at_threshold: 1 - (1 - threshold ** 4) ** 32,
      left_out: 0,
    };
  }

  stats() {
    const documents = [...this.#documents.values()];
    const bytes = documents.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    const buckets = Array.from({ length: 20 }, (_, at) => ({ from: at / 20, to: (at + 1) / 20, documents: 0 }));
    for (const left of documents) {
      const others = documents.filter((right) => right !== left);
      const nearest = Math.max(0, ...others.map((right) => measures(left, right).similarity));
      if (nearest > 0) buckets[Math.min(19, Math.floor(nearest * 20))].documents += 1;
    }
    const months = new Map();
    for (const { added } of documents) months.set(added.slice(0, 7), (months.get(added.slice(0, 7)) ?? 0) + 1);
    return {
      documents: documents.length,
      text_bytes: bytes,
      disk_bytes: Math.round(bytes * 0.6),
      spec: SPEC,
      passage: PASSAGE,
      bands: 32,
      rows: 4,
      text_kept: true,
      sequence: documents.length,
      version: '0.0.0',
      similarities: { buckets, documents_sampled: documents.length },
      added_by_month: [...months].sort().map(([month, count]) => ({ month, documents: count })),
    };
  }
}

export function listed({ id, title, metadata, added, text, set }) {
  return { id, title, metadata, added, characters: [...text].length, shingles: set.size };
}

export function whole(document) {
  return { ...listed(document), text: document.text, marks: document.marks };
}

/** Returns a text with its tokens, its shingles in order and as a set, and its marks. Pages end with form feeds. */
export function cut(text) {
  const tokens = [];
  let at = 0;
  let byte = 0;
  for (const match of text.matchAll(/\p{Script=Han}|(?:(?!\p{Script=Han})[\p{L}\p{M}\p{N}_])+/gu)) {
    byte += Buffer.byteLength(text.slice(at, match.index));
    const size = Buffer.byteLength(match[0]);
    tokens.push({ word: match[0].normalize('NFKC').toLowerCase(), start: byte, end: byte + size });
    at = match.index + match[0].length;
    byte += size;
  }
  const shingles = [];
  for (let first = 0; first + SHINGLE <= tokens.length; first++) {
    shingles.push(
      tokens
        .slice(first, first + SHINGLE)
        .map((token) => token.word)
        .join(' '),
    );
  }
  return { text, tokens, shingles, set: new Set(shingles), marks: marksOf(text) };
}

function marksOf(text) {
  if (!text.includes('\f')) return [];
  let offset = 0;
  return text.split('\f').map((page, at) => {
    const mark = { offset, place: { page: at + 1 } };
    offset += Buffer.byteLength(page) + 1;
    return mark;
  });
}

function measures(left, right) {
  let shared = 0;
  for (const shingle of left.set) shared += right.set.has(shingle) ? 1 : 0;
  const of = (whole) => (whole === 0 ? 0 : shared / whole);
  return {
    similarity: of(left.set.size + right.set.size - shared),
    left: of(left.set.size),
    right: of(right.set.size),
  };
}

/** Returns maximal runs of equal shingles in left order. Runs in another order in the right text are moved. */
function sharedPassages(left, right) {
  const places = new Map();
  right.shingles.forEach((shingle, at) =>
    places.has(shingle) ? places.get(shingle).push(at) : places.set(shingle, [at]),
  );
  const runs = [];
  for (let at = 0; at < left.shingles.length;) {
    let best = { at: 0, length: 0 };
    for (const other of (places.get(left.shingles[at]) ?? []).slice(0, FOLLOWED)) {
      let length = 1;
      while (at + length < left.shingles.length && left.shingles[at + length] === right.shingles[other + length])
        length += 1;
      if (length > best.length) best = { at: other, length };
    }
    if (best.length + SHINGLE - 1 >= PASSAGE)
      runs.push({ left: at, right: best.at, tokens: best.length + SHINGLE - 1 });
    at += Math.max(1, best.length);
  }
  const stay = inOrder(runs);
  const range = ({ tokens }, first, count) => [tokens[first].start, tokens[first + count - 1].end];
  return runs.map((run) => ({
    left: range(left, run.left, run.tokens),
    right: range(right, run.right, run.tokens),
    tokens: run.tokens,
    moved: !stay.has(run),
  }));
}

/** Returns the longest passages, in their given order. */
function longest(passages) {
  const kept = new Set(passages.toSorted((a, b) => b.tokens - a.tokens).slice(0, LONGEST));
  return passages.filter((passage) => kept.has(passage));
}

/** Returns the runs with the most tokens in total that are in the same order in both texts. */
function inOrder(runs) {
  const best = [];
  runs.forEach((run, at) => {
    let before = null;
    for (let other = 0; other < at; other++) {
      if (runs[other].right < run.right && best[other].tokens > (before?.tokens ?? 0)) before = best[other];
    }
    best.push({ run, before, tokens: run.tokens + (before?.tokens ?? 0) });
  });
  const stay = new Set();
  for (let link = best.reduce((a, b) => (b.tokens > (a?.tokens ?? 0) ? b : a), null); link; link = link.before)
    stay.add(link.run);
  return stay;
}
