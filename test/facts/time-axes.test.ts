import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type TestApp, testApp } from '../support/app.js';
import { accepted, type Caller, callersOf, TestClock } from './support.js';

// Each test is many requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clock = new TestClock();
let salient: TestApp;
beforeAll(async () => {
  salient = await testApp({ now: clock.now });
});
afterAll(() => salient?.[Symbol.asyncDispose]());

const day = (date: string) => new Date(`2026-${date}T00:00:00.000Z`);

interface Read {
  readonly validAt?: Date;
  readonly knownAt?: Date;
}

/** What lists and edges say at a point of the two axes. */
async function at(caller: Caller, ids: readonly string[], read: Read) {
  const texts = await caller.texts({ ...read });
  const page = await caller.facts({ ...read });
  expect(page.totalCount).toBe(texts.length);
  const edges = new Set<string>();
  for (const id of ids) for (const edge of await caller.edges(id, read)) edges.add(edge);
  return { texts, edges: [...edges].sort() };
}

describe('the two time axes of facts(filter) and of edges (SPEC §1)', () => {
  const LISBON = 'Acme has its office in Lisbon';
  const PORTO = 'Acme has its office in Porto';

  /** Valid from 10 January, recorded on 1 February, replaced on 1 March by what holds from then on. */
  async function superseded() {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    clock.moveTo(day('02-01'));
    const old = await admin.fact(LISBON, { validFrom: day('01-10'), entities: ['Acme', 'Lisbon'] });
    clock.moveTo(day('03-01'));
    const next = accepted(await admin.replace({ id: old.id }, PORTO));
    clock.moveTo(day('04-01'));
    return { admin, ids: [old.id, next.id] };
  }

  test.each<[string, Read, string[], string[]]>([
    ['now', {}, [PORTO], []],
    ['before it held', { validAt: day('01-09') }, [], []],
    ['from the moment on that it held', { validAt: day('01-10') }, [LISBON], ['Acme–Lisbon']],
    ['while it held', { validAt: day('02-15') }, [LISBON], ['Acme–Lisbon']],
    ['just before it ended', { validAt: new Date(day('03-01').getTime() - 1) }, [LISBON], ['Acme–Lisbon']],
    ['at its end', { validAt: day('03-01') }, [PORTO], []],
    ['after its end', { validAt: day('03-15') }, [PORTO], []],
    ['before it was known', { knownAt: day('01-15') }, [], []],
    ['while it held, before it was known', { validAt: day('01-15'), knownAt: day('01-31') }, [], []],
    [
      'from the moment on that it was known',
      { validAt: day('01-15'), knownAt: day('02-01') },
      [LISBON],
      ['Acme–Lisbon'],
    ],
    [
      'after its end, as known before',
      { validAt: day('03-15'), knownAt: day('02-15') },
      [LISBON],
      ['Acme–Lisbon'],
    ],
    ['now, as known before its end', { knownAt: day('02-15') }, [LISBON], ['Acme–Lisbon']],
    ['now, as known at its end', { knownAt: day('03-01') }, [PORTO], []],
    [
      'while it held, as known after',
      { validAt: day('02-15'), knownAt: day('03-15') },
      [LISBON],
      ['Acme–Lisbon'],
    ],
  ])('a supersession: %s', async (_name, read, texts, edges) => {
    const { admin, ids } = await superseded();
    expect(await at(admin, ids, read)).toEqual({ texts, edges });
  });

  /** Recorded on 1 February, found WRONG on 1 March. */
  async function corrected() {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    clock.moveTo(day('02-01'));
    const fact = await admin.fact(LISBON, { validFrom: day('01-10'), entities: ['Acme', 'Lisbon'] });
    clock.moveTo(day('03-01'));
    accepted(await admin.retire({ id: fact.id }, 'WRONG'));
    clock.moveTo(day('04-01'));
    return { admin, ids: [fact.id] };
  }

  test.each<[string, Read, string[], string[]]>([
    ['now', {}, [], []],
    ['while it was taken for true', { validAt: day('02-15') }, [], []],
    ['as known before the correction', { knownAt: day('02-15') }, [LISBON], ['Acme–Lisbon']],
    ['as known just before', { knownAt: new Date(day('03-01').getTime() - 1) }, [LISBON], ['Acme–Lisbon']],
    ['as known at the correction', { knownAt: day('03-01') }, [], []],
    [
      'of the past, as known before',
      { validAt: day('01-15'), knownAt: day('02-15') },
      [LISBON],
      ['Acme–Lisbon'],
    ],
    ['of the past, as known after', { validAt: day('01-15'), knownAt: day('03-15') }, [], []],
    ['of the time before it held', { validAt: day('01-09'), knownAt: day('02-15') }, [], []],
  ])('a correction as WRONG: %s', async (_name, read, texts, edges) => {
    const { admin, ids } = await corrected();
    expect(await at(admin, ids, read)).toEqual({ texts, edges });
  });

  test.each<[string, Read, string[], string[]]>([
    ['before its end', { validAt: new Date(day('02-20').getTime() - 1) }, [LISBON], ['Acme–Lisbon']],
    ['at its end', { validAt: day('02-20') }, [], []],
    ['now', {}, [], []],
    [
      'as known at any time after',
      { validAt: day('02-10'), knownAt: day('03-30') },
      [LISBON],
      ['Acme–Lisbon'],
    ],
  ])('an asserted end (validTo): %s', async (_name, read, texts, edges) => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    clock.moveTo(day('02-01'));
    const { id } = await admin.fact(LISBON, { validTo: day('02-20'), entities: ['Acme', 'Lisbon'] });
    clock.moveTo(day('04-01'));
    expect(await at(admin, [id], read)).toEqual({ texts, edges });
  });

  test('a relation holds as long as any of the facts that state it', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const entities = ['Acme', 'Lisbon'];
    clock.moveTo(day('02-01'));
    const wrong = await admin.fact('Acme was founded in Lisbon', { entities });
    clock.moveTo(day('02-10'));
    const short = await admin.fact('Acme rents a hall in Lisbon', { entities, validTo: day('02-20') });
    clock.moveTo(day('02-15'));
    await admin.retire({ id: wrong.id }, 'WRONG');
    clock.moveTo(day('03-01'));
    const late = await admin.fact('Acme sponsors a run in Lisbon', { entities });
    clock.moveTo(day('04-01'));
    await admin.retire({ id: late.id }, 'ENDED');
    clock.moveTo(day('05-01'));
    const holds = async (read: Read) => (await admin.edges(short.id, read)).length > 0;
    expect(await holds({})).toBe(false);
    // As known today, the first fact never was true, and the second held from 10 to 20 February.
    expect(await holds({ validAt: day('02-05') })).toBe(false);
    expect(await holds({ validAt: day('02-12') })).toBe(true);
    expect(await holds({ validAt: day('02-25') })).toBe(false);
    expect(await holds({ validAt: day('03-15') })).toBe(true);
    expect(await holds({ validAt: day('04-15') })).toBe(false);
    // As known on 12 February the first one was true, without an end.
    expect(await holds({ validAt: day('02-05'), knownAt: day('02-12') })).toBe(true);
    expect(await holds({ validAt: day('04-15'), knownAt: day('02-12') })).toBe(true);
    expect(await holds({ validAt: day('04-15'), knownAt: day('02-16') })).toBe(false);
    expect(await holds({ validAt: day('04-15'), knownAt: day('03-15') })).toBe(true);
  });

  test('CASE 22: times keep their instant whatever their zone', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    clock.moveTo(day('04-01'));
    const fact = await admin.fact(LISBON, {
      validFrom: '2026-03-28T23:30:00+01:00',
      validTo: '2026-03-29T03:30:00+02:00',
    });
    expect(fact).toMatchObject({
      validFrom: '2026-03-28T22:30:00.000Z',
      validTo: '2026-03-29T01:30:00.000Z',
    });
    expect(await admin.texts({ validAt: '2026-03-29T01:00:00+01:00' })).toEqual([LISBON]);
    expect(await admin.texts({ validAt: '2026-03-29T01:00:00-05:00' })).toEqual([]);
  });
});

describe('CASE 6: one definition of live', () => {
  test('counts and lists agree for every status, on facts retired and past their end too', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    clock.moveTo(day('02-01'));
    const { id: wrong } = await admin.fact('Was never so');
    const { id: ended } = await admin.fact('Was so once');
    const { id: expired } = await admin.fact('Is so until March', { validTo: day('03-01') });
    const { id: ending } = await admin.fact('Is so until May', { validTo: day('05-01') });
    const { id: future } = await admin.fact('Will be so in June', { validFrom: day('06-01') });
    const { id: live } = await admin.fact('Is so for ever');
    await admin.retire({ id: wrong }, 'WRONG');
    await admin.retire({ id: ended }, 'ENDED');
    clock.moveTo(day('04-01'));
    const expected = {
      LIVE: [ending, future, live],
      RETIRED: [wrong, ended, expired],
      ALL: [wrong, ended, expired, ending, future, live],
    };
    for (const [status, ids] of Object.entries(expected)) {
      const page = await admin.facts({ status });
      expect(page.edges.map(({ node }) => node.id).sort(), status).toEqual([...ids].sort());
      expect(page.totalCount, status).toBe(ids.length);
      if (status === 'ALL') continue;
      for (const { node } of page.edges) expect(node.status).toBe(status);
    }
    // Without a status the list is that of the live ones.
    expect((await admin.facts()).totalCount).toBe(3);
  });
});
