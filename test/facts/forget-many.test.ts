import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LineExtractor } from '../extraction/line-extractor.js';
import { type TestApp, testApp } from '../support/app.js';
import { countStatements } from '../support/database.js';
import { callersOf, type ForgottenItem, TestClock, uuidOf } from './support.js';
import { eventsOf, rowsOf, scopeTotals, seeingClient, tablesHolding } from './tables.js';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

const clock = new TestClock();
let salient: TestApp;
let owner: pg.Client;
beforeAll(async () => {
  salient = await testApp({ now: clock.now, extractor: new LineExtractor() });
  owner = await seeingClient();
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

async function setUp() {
  const tenant = await salient.tenant();
  return { tenant, ...callersOf(salient, tenant) };
}

const outcomes = (results: readonly ForgottenItem[] | null) =>
  results!.map(({ errors }) => (errors[0] ? `${errors[0].code} ${errors[0].path.join('.')}` : 'gone'));

describe('forgetMany', () => {
  test('removes facts with all that hangs on them, and nothing else; each target has its result', async () => {
    const { tenant, agent } = await setUp();
    const said = await agent.say(
      [
        'FACT [Quokka, Shelf]: The Quokka book stands on the shelf',
        'FACT [Numbat, Shelf]: The Numbat book stands on the shelf',
        'FACT [Bilby, Shelf]: The Bilby book stands on the shelf',
      ],
      { session: { create: { userId: tenant.userId } } },
    );
    const [quokka, numbat, bilby] = said.extraction!.facts;
    const retired = await agent.fact('The wombat office is in Lisbon', { userId: tenant.userId });
    const kept = await agent.replace({ id: retired.id }, 'The office is in Porto');
    const { results, errors } = await agent.forgetMany([
      { id: quokka!.id },
      { id: 'ffffffffffff' },
      { match: { kind: 'FACT', text: 'Numbat', userId: tenant.userId } },
      { id: '' },
      { match: { kind: 'FACT', text: 'book stands', userId: tenant.userId } },
      { id: quokka!.id },
      { match: { kind: 'FACT', text: ' ' } },
      { match: { kind: 'FACT', text: 'office', userId: '0198c0de-0000-7000-8000-000000000000' } },
      { id: retired.shortId.slice(0, 8) },
      { match: { kind: 'FACT', text: 'wombat', userId: tenant.userId } },
    ]);
    expect(errors).toEqual([]);
    expect(outcomes(results)).toEqual([
      'gone',
      'NOT_FOUND input.targets.1.id',
      'gone',
      'BAD_INPUT input.targets.3.id',
      // One alone is left that holds it: the targets before have taken theirs.
      'gone',
      'NOT_FOUND input.targets.5.id',
      'BAD_INPUT input.targets.6.match.text',
      'NOT_FOUND input.targets.7.match.userId',
      'gone',
      'NOT_FOUND input.targets.9.match.text',
    ]);
    expect(results![4]!.forgottenId).toBe(bilby!.id);
    for (const word of ['Quokka', 'Numbat', 'Bilby', 'Shelf', 'wombat'])
      expect(await tablesHolding(owner, tenant, word), word).toEqual([]);
    expect(await agent.texts()).toEqual([kept.fact!.text]);
    const gone = [quokka, numbat, bilby, retired].map((fact) => uuidOf(fact!.id));
    const events = (await eventsOf(owner, tenant)).filter(({ type }) => type === 'FACT_FORGOTTEN');
    expect(events.map(({ subjectId }) => subjectId)).toEqual(gone);
    for (const table of ['posting', 'fact_embedding', 'fact_salience', 'fact_source', 'edge_source', 'edge'])
      for (const id of gone) expect((await rowsOf(owner, tenant, table)).join(), table).not.toContain(id);
    const totals = await scopeTotals(owner, tenant);
    expect(totals.stored).toEqual(totals.recounted);
    expect(await rowsOf(owner, tenant, 'tombstone')).toHaveLength(4);
    const audit = await owner.query<{ targets: string[] }>(
      `SELECT target_ids AS targets FROM audit_entry WHERE tenant_id = $1 AND operation = 'forgetMany'`,
      [uuidOf(tenant.id)],
    );
    expect(audit.rows.map(({ targets }) => [...targets].sort())).toEqual([[...gone].sort()]);
  });

  test('what two of them supported goes, what another supports stays with its weight', async () => {
    const { agent, tenant } = await setUp();
    const facts = await agent.rememberMany(
      ['a', 'b', 'c'].map((room) => ({
        text: `Acme rents room ${room} in Lisbon from ${room === 'a' ? 'May' : room === 'b' ? 'June' : 'July'} on`,
        entities: ['Acme', 'Lisbon', `Room ${room}`],
      })),
    );
    const [a, b, c] = facts.results!.map(({ fact }) => fact!.id);
    await agent.forgetMany([{ id: a }, { id: b }]);
    expect(await agent.edges(c!)).toEqual(['Acme–Lisbon', 'Acme–Room c', 'Lisbon–Room c']);
    const weights = await owner.query<{ weight: number }>('SELECT weight FROM edge WHERE tenant_id = $1', [
      uuidOf(tenant.id),
    ]);
    expect(weights.rows.map(({ weight }) => weight)).toEqual([1, 1, 1]);
    expect(await rowsOf(owner, tenant, 'entity')).toHaveLength(3);
  });

  test('a chain that loses several links points from what is left to what is left', async () => {
    const { agent } = await setUp();
    const texts = ['Lisbon', 'Porto', 'Faro', 'Braga', 'Evora'].map((town) => `The office is in ${town}`);
    let last = await agent.fact(texts[0]!);
    const chain = [last];
    for (const text of texts.slice(1)) {
      last = (await agent.replace({ id: last.id }, text)).fact!;
      chain.push(last);
    }
    await agent.forgetMany([{ id: chain[2]!.id }, { id: chain[1]!.id }, { id: chain[3]!.id }]);
    expect((await agent.history(chain[4]!.id)).map(({ text }) => text).sort()).toEqual(
      [texts[0], texts[4]].sort(),
    );
    expect((await agent.find(chain[0]!.id))!.supersededBy).toEqual({ id: chain[4]!.id });
  });

  test('CASE 1, 2: blank ids, one character and LIKE patterns remove nothing', async () => {
    const { agent } = await setUp();
    for (let n = 0; n < 3; n++) await agent.fact(`The page in question is number ${n}`);
    const { results } = await agent.forgetMany(
      ['', ' ', '0', 'a', '%', '_', '0000000', '%%%%%%%%', '________'].map((id) => ({ id })),
    );
    expect(results!.every(({ errors }) => errors.length === 1)).toBe(true);
    expect((await agent.facts()).totalCount).toBe(3);
  });

  test('CASE 4: it forgets in the scope of the target alone, and a user nothing that all share', async () => {
    const { tenant, admin, user } = await setUp();
    const text = 'The office is in Lisbon';
    const own = await admin.fact(text, { userId: tenant.userId });
    const shared = await admin.fact(text);
    const ofAgent = await admin.fact(text, { agentId: tenant.agentId });
    const { results } = await user.forgetMany([
      { id: shared.id },
      { id: ofAgent.id },
      { match: { kind: 'FACT', text: 'Lisbon' } },
    ]);
    expect(outcomes(results)).toEqual([
      'NOT_FOUND input.targets.0.id',
      'NOT_FOUND input.targets.1.id',
      'gone',
    ]);
    expect(results![2]!.forgottenId).toBe(own.id);
    expect((await admin.facts()).totalCount).toBe(2);
  });

  test('KEEP leaves the messages as they are, REDACT empties them', async () => {
    const { agent } = await setUp();
    for (const sources of ['KEEP', 'REDACT'] as const) {
      // Not the same twice: what was forgotten is not learned again.
      const lines = [1, 2].map((n) => `FACT: The ${sources} page is number ${n}`);
      const said = await agent.say(lines, { session: { create: { externalId: sources } } });
      await agent.forgetMany(
        said.extraction!.facts.map(({ id }) => ({ id })),
        sources,
      );
      const { session } = await agent.query<{
        session: { messages: { edges: { node: { content: string } }[] } };
      }>(
        'query ($id: ID!) { session: node(id: $id) { ... on Session { messages(first: 5) { edges { node { content } } } } } }',
        { id: said.session!.id },
      );
      expect(session.messages.edges.map(({ node }) => node.content)).toEqual(
        sources === 'KEEP' ? lines : ['', ''],
      );
    }
  });

  test('sends as many statements for 200 as for 10', async () => {
    const { agent, tenant } = await setUp();
    const make = async (count: number, from: number) => {
      const { results } = await agent.rememberMany(
        Array.from({ length: count }, (_, n) => ({
          text: `Sensor unit${from + n} reports the humidity of building ${from + n}`,
          userId: n % 2 === 0 ? tenant.userId : null,
          entities: ['Sensor', `Unit ${from + n}`],
        })),
      );
      return results!.map(({ fact }) => fact!);
    };
    const sent = async (count: number, from: number) => {
      const facts = await make(count - 2, from);
      const targets = facts.map(({ id, text }, n) =>
        n % 3 === 0
          ? { match: { kind: 'FACT', text: text.split(' ')[1], userId: tenant.userId } }
          : n % 3 === 1
            ? { id: uuidOf(id).slice(-12) }
            : { id },
      );
      const statements = await countStatements(salient.app.services.db, async () => {
        const { results } = await agent.forgetMany([...targets, { id: '' }, { id: 'abcdefabcdef' }]);
        expect(results!.filter(({ forgottenId }) => forgottenId !== null)).toHaveLength(count - 2);
      });
      return statements.map((sql) => sql.trim().replace(/\s+/g, ' ').slice(0, 60));
    };
    const few = await sent(10, 100_000);
    const many = await sent(200, 200_000);
    expect(many).toEqual(few);
    expect(few.length, few.join('\n')).toBeLessThanOrEqual(18);
  });
});
