import { describe, expect, it } from 'vitest';
import { BadInputError, ForbiddenError, NotFoundError, type SalientError } from '../../src/errors.js';
import { newId } from '../../src/ids.js';
import { MAX_QUERY_CHARACTERS, type RecallInput, recallRequest } from '../../src/recall/input.js';
import type { ActorKind, TenantActor, TenantContext } from '../../src/tenancy/index.js';

const agentId = newId();
const userId = newId();

function actor(kind: ActorKind, settings: TenantContext['settings'] = {}): TenantActor {
  const at = new Date(0);
  return {
    kind,
    id: null,
    keyId: null,
    agentId: kind === 'AGENT' ? agentId : null,
    userId: kind === 'USER' ? userId : null,
    tenant: {
      id: newId(),
      slug: 't',
      name: 'T',
      overridePolicy: 'ADDITIVE_TOPICS',
      settings,
      version: 1,
      staleBelow: 0,
      createdAt: at,
      updatedAt: at,
      hashKey: new Uint8Array(32),
    },
  };
}

const admin = actor('TENANT_ADMIN');

function refusal(input: RecallInput, by: TenantActor = admin): SalientError {
  try {
    recallRequest(by, input);
  } catch (error) {
    return error as SalientError;
  }
  throw new Error('nothing was refused');
}

describe('recallRequest', () => {
  it('fills in defaults', () => {
    expect(recallRequest(admin, {})).toEqual({
      query: null,
      agentId: null,
      userId: null,
      agentShared: true,
      k: 20,
      charBudget: null,
      kinds: null,
      facts: true,
      messages: false,
      mode: 'OBSERVE',
      validAt: null,
      knownAt: null,
      includeFlagged: false,
    });
  });

  it.each([
    ['k', { k: 0 }],
    ['k', { k: 201 }],
    ['k', { k: 1.5 }],
    ['k', { k: Number.NaN }],
    ['charBudget', { charBudget: 0 }],
    ['charBudget', { charBudget: -1 }],
    ['charBudget', { charBudget: Number.POSITIVE_INFINITY }],
    ['query', { query: 'x'.repeat(MAX_QUERY_CHARACTERS + 1) }],
    ['query', { query: '😀'.repeat(MAX_QUERY_CHARACTERS + 1) }],
    ['kinds', { kinds: [] }],
    ['sources', { sources: [] }],
    ['validAt', { validAt: new Date('nonsense') }],
    ['knownAt', { knownAt: new Date(Number.NaN) }],
  ] satisfies [string, RecallInput][])('refuses a %s out of range and names it', (field, input) => {
    const error = refusal(input);
    expect(error).toBeInstanceOf(BadInputError);
    expect(error.inputPath).toEqual([field]);
    expect(error.message).toContain(field);
  });

  it('takes the limits themselves', () => {
    expect(recallRequest(admin, { k: 1 }).k).toBe(1);
    expect(recallRequest(admin, { k: 200, charBudget: 1 })).toMatchObject({ k: 200, charBudget: 1 });
    const longest = 'é'.repeat(MAX_QUERY_CHARACTERS);
    expect(recallRequest(admin, { query: longest }).query).toBe(longest);
  });

  it.each([undefined, null, '', '   ', '\n\t', '?!', '...', '"%\\_', '🎉', '-'])(
    'takes %j as no query',
    (query) => {
      expect(recallRequest(admin, { query }).query).toBeNull();
    },
  );

  it.each(['a', '7', '?a', '深', '"x" AND %', 'ß'])('takes %j as a query, unchanged', (query) => {
    expect(recallRequest(admin, { query }).query).toBe(query);
  });

  it('looks for messages only where there is something to search for, and no kind is asked for', () => {
    const sources = (input: RecallInput) => {
      const { facts, messages } = recallRequest(admin, input);
      return { facts, messages };
    };
    expect(sources({ query: 'tea' })).toEqual({ facts: true, messages: true });
    expect(sources({ query: 'tea', kinds: ['ENV'] })).toEqual({ facts: true, messages: false });
    expect(sources({ query: 'tea', kinds: ['ENV'], sources: ['FACT', 'MESSAGE'] })).toEqual({
      facts: true,
      messages: true,
    });
    expect(sources({ query: 'tea', sources: ['FACT'] })).toEqual({ facts: true, messages: false });
    expect(sources({ query: 'tea', sources: ['MESSAGE'] })).toEqual({ facts: false, messages: true });
    expect(sources({ sources: ['MESSAGE'] })).toEqual({ facts: false, messages: true });
    expect(sources({ sources: ['FACT', 'MESSAGE'] })).toEqual({ facts: true, messages: false });
  });

  it("takes the tenant's character budget where none is given", () => {
    const tenant = actor('TENANT_ADMIN', { budgets: { recallCharacters: 2_200 } });
    expect(recallRequest(tenant, {}).charBudget).toBe(2_200);
    expect(recallRequest(tenant, { charBudget: 50 }).charBudget).toBe(50);
  });

  it.each([
    ['AGENT', 'LEARN'],
    ['USER', 'LEARN'],
    ['TENANT_ADMIN', 'OBSERVE'],
    ['TENANT_AUDITOR', 'OBSERVE'],
    ['PLATFORM_ADMIN', 'OBSERVE'],
  ] as const)('%s recalls in the mode %s, unless it says otherwise', (kind, mode) => {
    expect(recallRequest(actor(kind), {}).mode).toBe(mode);
    expect(recallRequest(actor(kind), { mode: 'OBSERVE' }).mode).toBe('OBSERVE');
  });

  it('refuses LEARN to an auditor, who may change nothing', () => {
    const error = refusal({ mode: 'LEARN' }, actor('TENANT_AUDITOR'));
    expect(error).toBeInstanceOf(ForbiddenError);
    expect(error.inputPath).toEqual(['mode']);
    expect(recallRequest(admin, { mode: 'LEARN' }).mode).toBe('LEARN');
  });

  it("fills in an agent's and a user's own id and refuses another one", () => {
    expect(recallRequest(actor('AGENT'), {})).toMatchObject({ agentId, userId: null, agentShared: true });
    expect(recallRequest(actor('USER'), { agentId })).toMatchObject({ agentId, userId, agentShared: false });
    expect(refusal({ agentId: newId() }, actor('AGENT'))).toBeInstanceOf(ForbiddenError);
    expect(refusal({ userId: newId() }, actor('USER'))).toBeInstanceOf(ForbiddenError);
  });

  it.each(['agentId', 'userId'] as const)('answers a malformed %s like an unknown one', (field) => {
    const error = refusal({ [field]: "x' OR 1=1" });
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error.inputPath).toEqual([field]);
  });
});
