// Documents for tests of the page: applications that repeat one another, Chinese and hostile documents, and two pairs
// of 100 pages. They are added through the API, so that the tests work with any server.

import { readFileSync } from 'node:fs';

const read = (name) =>
  readFileSync(new URL(`texts/${name}.txt`, import.meta.url), 'utf8')
    .trim()
    .split('\n');
const [marsh, battery, chinese, [template]] = ['marsh', 'battery', 'chinese', 'template'].map(read);

/** Hostile contents of documents: those of report.test.mjs that could harm the page. */
const HOSTILE = [
  '<script>document.title = "taken"; alert(1)</script>',
  '" onmouseover="alert(1)" autofocus onfocus="alert(1)" x=\'',
  '</mark></div></main><style>body { display: none }</style><img src=https://example.com/x onerror=alert(1)>',
  '\u0000 \u007f \u009b \u2028 \u202egnorw morf thgir\u202c \u2066שלום עולם\u2069 مرحبا بالعالم',
  'W'.repeat(800),
];

/** Generates pseudo-random numbers, which are equal in every run. */
export function* numbers(seed) {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** Returns a text to check: the first application in another order, with an added page. */
export function submission() {
  const [, why, cores, accretion, model, people, budget] = marsh;
  return [
    'Carbon in the soils of diked marshes',
    `${why.replace('three municipalities', 'four municipalities')} ${'The work continues a survey that ended last year.'}`,
    people,
    cores.replace('forty sites', 'thirty-two sites').replace('two centimetres', 'four centimetres'),
    'What is new is the use of drones to map creeks at low water. Flights at monthly intervals show how channels widen after a breach, and a student of the technical university has already written the program that outlines them.',
    accretion.replace('six moorings', 'five moorings'),
    model,
    budget.split('. ')[0],
  ].join('\n\n');
}

/** Returns all documents, the long ones last. */
export function documents() {
  return [...applications(), ...chineseApplications(), ...hostileDocuments(), ...longPair(), ...longChinesePair()];
}

function applications() {
  const pages = (list, perPage) =>
    list
      .map((paragraph, at) => paragraph + (at === list.length - 1 ? '' : at % perPage === perPage - 1 ? '\f' : '\n\n'))
      .join('');
  const [title, ...body] = marsh;
  const again = body.map((paragraph) =>
    paragraph.replace('northern estuary', 'western estuary').replace('five years', 'six years'),
  );
  const [cold, ...cells] = battery;
  const document = (id, title, paragraphs, applicant, year, decision, perPage = 3) => ({
    id,
    title,
    text: pages([title, ...paragraphs, template], perPage),
    metadata: { applicant, year, call: year < 2025 ? 'Environment' : 'Open call', decision },
  });
  return [
    document('2021/0417', title, body, 'M. Lindqvist', 2021, 'financed'),
    document(
      '2023/1102',
      'Tidal marshes of the western estuary and their carbon',
      [again[1], again[0], ...again.slice(2)],
      'M. Lindqvist',
      2023,
      'declined',
    ),
    document(
      '2024/0088',
      'Turbidity and ice: what limits accretion behind breached dikes',
      [body[2], body[1], cells[0], cells[3]],
      'T. Aalto',
      2024,
      'declined',
    ),
    document('2022/0731', cold, cells, 'R. Okafor', 2022, 'financed'),
    document(
      '2025/0015',
      'Electrolytes for sodium cells below minus forty degrees',
      [cells[1], cells[0], cells[2], cells[4], cells[3]],
      'R. Okafor',
      2025,
      'under review',
      2,
    ),
    document(
      '2025/0230',
      'A weather station above the tree line',
      [cells[4], body[5], body[6]],
      'I. Marchetti',
      2025,
      'under review',
    ),
    ...Array.from({ length: 60 }, (_, at) => ({
      id: `2020/${String(at).padStart(4, '0')}`,
      title: `Report ${at + 1} of the earlier programme`,
      // Five reports form a family, whose members share different parts of their texts.
      text: `${sentences(4000 + Math.floor(at / 5), 4 + 6 * (at % 5))} ${sentences(5000 + at, 4 + (at % 7))}\n\n${template}`,
      metadata: { applicant: 'Programme office', year: 2020 },
    })),
  ];
}

function chineseApplications() {
  const [title, ...body] = chinese;
  return [
    { id: 'zh-2023-001', title, text: [title, ...body].join('\n'), metadata: { 申请人: '王建国', 年度: 2023 } },
    {
      id: 'zh-2024-118',
      title: '高原湖泊微塑料沉积记录及其环境意义',
      text: [
        body[2],
        body[0].replace('旅游和城镇发展', '人口增长'),
        body[1].replace('三个', '两个'),
        body[4],
        body[5],
      ].join('\n'),
      metadata: { 申请人: '李明', 年度: 2024 },
    },
  ];
}

function hostileDocuments() {
  return [0, 1].map((copy) => ({
    id: `hostile/${copy} ${HOSTILE[0]}`,
    title: `${HOSTILE[2]} ${copy}`,
    text: HOSTILE.map(
      (hostile, at) => `${sentences(90 + at, 3)} ${hostile} ${sentences(900 + at + 10 * copy, 1)}`,
    ).join('\n\n'),
    metadata: { [HOSTILE[1]]: HOSTILE[0], nested: { list: [1, { two: HOSTILE[3] }] } },
  }));
}

/** Returns sentences of invented words. */
function sentences(seed, count) {
  const random = numbers(seed);
  const next = () => random.next().value;
  const part = () => 'bcdfghklmnprstvw'[Math.floor(next() * 16)] + 'aeiou'[Math.floor(next() * 5)];
  const word = () => Array.from({ length: 1 + Math.floor(next() * 3) }, part).join('') + (next() < 0.4 ? 'n' : '');
  return Array.from({ length: count }, () => {
    const words = Array.from({ length: 12 + Math.floor(next() * 8) }, word).join(' ');
    return `${words[0].toUpperCase()}${words.slice(1)}.`;
  }).join(' ');
}

function hanSentences(seed, count) {
  const random = numbers(seed);
  const next = () => random.next().value;
  const han = () => String.fromCodePoint(0x4e00 + Math.floor(next() * 3000));
  return Array.from({ length: count }, () => `${Array.from({ length: 24 }, han).join('')}。`).join('');
}

/** Returns two texts of `paragraphs` paragraphs. Two fifths are shared, some at other places in the right text. */
function long(paragraphs, paragraph) {
  const left = Array.from({ length: paragraphs }, (_, at) => paragraph(at));
  const right = left.map((text, at) => (at % 5 < 2 ? text : paragraph(paragraphs + at)));
  for (let at = 0; at + 60 < paragraphs; at += 25) [right[at], right[at + 53]] = [right[at + 53], right[at]];
  return [left, right];
}

/** Returns two texts of 50,000 words, with 500 words per page. */
function longPair() {
  return long(840, (at) => sentences(20_000 + at, 4)).map((list, at) => ({
    id: `long/${at}`,
    title: `A study in one hundred pages, ${at === 0 ? 'first' : 'second'} edition`,
    text: list.map((paragraph, at) => paragraph + (at % 8 === 7 ? '\f' : '\n\n')).join(''),
    metadata: { year: 2024 + at },
  }));
}

/** Returns two texts of 100,000 characters. */
function longChinesePair() {
  return long(500, (at) => hanSentences(70_000 + at, 8)).map((list, at) => ({
    id: `long-zh/${at}`,
    title: at === 0 ? '长篇报告' : '长篇报告（修订）',
    text: list.join('\n'),
    metadata: {},
  }));
}

/** Adds documents to the archive at an address, 20 per request. */
export async function addAll(url, list) {
  for (let at = 0; at < list.length; at += 20) {
    const response = await fetch(`${url}/api/v1/documents`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ documents: list.slice(at, at + 20) }),
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    const { job } = await response.json();
    if (job !== undefined) await finished(`${url}/api/v1/jobs/${job}`);
  }
}

/** Waits for the end of a job, because the server adds many documents in a job. */
async function finished(address) {
  for (;;) {
    const job = await (await fetch(address)).json();
    if (job.state === 'done') return;
    if (job.state === 'failed') throw new Error(job.error.title);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
