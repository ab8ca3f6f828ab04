import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Extractor, ExtractorInput, ExtractorOutput } from '../../src/extraction/index.js';
import { checkContent } from '../../src/text/index.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { ATTACKS } from '../text/threat-corpus.js';
import { OUTSIDE_ATTACKS, OUTSIDE_HARMLESS } from '../text/threat-corpus-outside.js';
import { type Caller, callersOf } from './support.js';

// Each test is some hundred requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

/** What a model would propose that an attacker steers: each message is a fact as it stands, or the entity of one. */
class Steered implements Extractor {
  readonly name = 'OPENAI' as const;
  as: 'text' | 'entity' | 'edge' = 'text';

  async extract({ messages }: ExtractorInput): Promise<ExtractorOutput> {
    const add = messages.map(({ id, content }, place) => ({
      text: this.as === 'text' ? content : `The depot number ${place} is in Leeds`,
      kind: 'FACT' as const,
      entities: this.as === 'entity' ? [content] : [],
      confidence: 0.9,
      sourceMessageIds: [id],
    }));
    const edges =
      this.as === 'edge'
        ? messages.map(({ content }) => ({ source: 'Leeds', relation: 'is', target: content }))
        : [];
    return { add, supersede: [], edges };
  }
}

const extractor = new Steered();
let salient: TestApp;
let tenant: TestTenant;
let admin: Caller;
let owners: { agentId: string; userId: string };
beforeAll(async () => {
  salient = await testApp({ extractor });
  tenant = await salient.tenant('threats');
  admin = callersOf(salient, tenant).admin;
  owners = { agentId: tenant.agentId, userId: tenant.userId };
});
afterAll(() => salient?.[Symbol.asyncDispose]());

// Ours beside the others: some of each kind are enough for the door. What is only hidden at an end is trimmed away.
const texts = [
  ...OUTSIDE_ATTACKS.map(({ text }) => text),
  ...Object.entries(ATTACKS).flatMap(([category, some]) =>
    category === 'CONTROL_CHARACTER' ? [] : some.filter((_, place) => place % 4 === 0),
  ),
].filter((text) => checkContent(text.trim(), 4_000) !== null);

async function pages<T>(items: readonly T[], size: number, work: (page: readonly T[]) => Promise<void>) {
  for (let at = 0; at < items.length; at += size) await work(items.slice(at, at + size));
}

it('tries every threat of the others', () => {
  expect(texts).toEqual(expect.arrayContaining(OUTSIDE_ATTACKS.map(({ text }) => text)));
});

describe('no threat becomes a fact, by whatever door it comes (SPEC §2.5)', () => {
  it('remember: as text, subject, predicate, object, entity or metadata', async () => {
    for (const text of texts) {
      const { fact, errors } = await admin.remember({ text });
      expect([fact, errors[0]?.code], text).toEqual([null, 'CONTENT_REFUSED']);
      expect(JSON.stringify(errors)).not.toContain(JSON.stringify(text).slice(1, -1));
    }
    const fields = [
      (text: string) => ({ subject: text }),
      (text: string) => ({ predicate: text }),
      (text: string) => ({ object: text }),
      (text: string) => ({ entities: [text] }),
      (text: string) => ({ metadata: { note: text } }),
    ];
    for (const [place, text] of texts.entries()) {
      const { fact, errors } = await admin.remember({
        text: 'The office is in Lisbon',
        ...fields[place % fields.length]!(text),
      });
      expect([fact, errors[0]?.code], text).toEqual([null, 'CONTENT_REFUSED']);
    }
    expect((await admin.facts({ status: 'ALL' })).totalCount).toBe(0);
  });

  it('replaceFact: the old fact stays', async () => {
    const { id } = await admin.fact('The depot is in Porto');
    for (const text of texts) {
      const { fact, errors } = await admin.replace({ id }, text);
      expect([fact, errors[0]?.code], text).toEqual([null, 'CONTENT_REFUSED']);
    }
    expect(await admin.texts({ status: 'ALL' })).toEqual(['The depot is in Porto']);
    await admin.forget({ id });
  });

  it('topics and identity of a profile', async () => {
    for (const [place, text] of texts.entries()) {
      const part = [
        { interests: [{ topic: text, level: 'HIGH' }] },
        { disinterests: [{ topic: text, level: 'LOW' }] },
        { persona: { identity: [text] } },
      ][place % 3]!;
      const { setSalienceProfile: saved } = await admin.query<{
        setSalienceProfile: { salienceProfile: unknown; errors: { code: string }[] };
      }>(
        `mutation ($input: SetSalienceProfileInput!) { setSalienceProfile(input: $input) {
          salienceProfile { id } errors { code message path } } }`,
        { input: { owner: { tenant: true }, ...part } },
      );
      expect([saved.salienceProfile, saved.errors.length], text).toEqual([null, 1]);
    }
  });

  it.each(['text', 'entity', 'edge'] as const)(
    'messages, imported ones too, and what is extracted as %s',
    async (as) => {
      extractor.as = as;
      await pages(texts, 40, async (page) => {
        const { messages, extraction } = await admin.append({
          session: { create: owners },
          messages: page.map((content) => ({ role: 'USER', content })),
        });
        // Raw messages are kept, and flagged.
        expect(messages!.map(({ flagged }) => flagged)).toEqual(page.map(() => true));
        expect(extraction!.status).toMatch(/^EXTRACTED/);
        if (as === 'text') expect(extraction!.facts).toEqual([]);
        expect(extraction!.refused.length).toBeGreaterThan(0);
      });
      const stored = JSON.stringify(
        await admin.query(
          `query { facts(filter: { status: ALL }, first: 100) { edges { node {
          text entities { name } edges(first: 3) { edges { node { relation source { name } target { name } } } } } } } }`,
        ),
      );
      for (const text of texts) expect(stored).not.toContain(JSON.stringify(text).slice(1, -1));
      const shown = await admin.query<{ recall: { items: { node: { content?: string } }[] } }>(
        `query { recall(input: { query: "previous instructions backups user curl", k: 100, mode: OBSERVE }) {
        items { node { ... on Message { content } } } } }`,
      );
      expect(shown.recall.items.flatMap(({ node }) => node.content ?? [])).toEqual([]);
    },
  );
});

describe('what is harmless is stored (SPEC §2.5)', () => {
  it('of the look-alikes of someone who had not seen the patterns, at most one is refused', async () => {
    const refused: string[] = [];
    for (const { text } of OUTSIDE_HARMLESS) {
      const { errors } = await admin.remember({ text, ...owners });
      if (errors.length > 0) refused.push(`${errors[0]!.code} ${text}`);
    }
    expect(refused.length, refused.join('\n')).toBeLessThanOrEqual(1);
  });
});
