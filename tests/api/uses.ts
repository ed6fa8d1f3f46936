// Uses the types that openapi-typescript generates from docs/reference/openapi.json. The program is compiled, not run.

import type { components, operations, paths } from './generated';

type Schemas = components['schemas'];

const submission: Schemas['CheckText'] = {
  text: 'We ask for a grant to study the song of the reed warbler.',
  threshold: 0.5,
  until: '2026-03-01',
  weight: 'tf-idf,smooth',
};

// @ts-expect-error The field `text` is required.
const withoutText: Schemas['CheckText'] = { threshold: 0.5 };

// @ts-expect-error There is no such weighting.
const wrongWeight: Schemas['CheckText'] = { text: '', weight: 'heavy' };

type Answer = operations['check']['responses'][200]['content']['application/json'];
type Page = paths['/documents']['get']['responses'][200]['content']['application/json'];

export function best({ matches, compared, not_compared }: Answer): string {
  const [first] = matches;
  if (first === undefined) return `none of ${compared + not_compared}`;
  const { similarity, containment, passage } = first.reasons;
  const passages = first.passages.map(({ query, tokens }) => `${query[0]}: ${tokens}`);
  return [first.id, first.title ?? '', similarity, containment, passage, ...passages].join(' ');
}

export function after({ documents, next }: Page): string | null {
  return documents.length > 0 ? (next ?? null) : null;
}

export function ended({ state, stage, done, total, error }: Schemas['Job']): string {
  return error ? `${error.code}: ${error.title}` : `${state} ${stage ?? ''} ${done}/${total}`;
}

export function whole({ id, text, marks }: Schemas['Document']): string {
  return `${id} ${text?.length ?? 0} ${marks.length}`;
}

export const unused = [submission, withoutText, wrongWeight];
