import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { profileCallers, setPolicy } from './support.js';

// It is only that the machine may be busy.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let salient: TestApp;
let hospital: TestTenant;
beforeAll(async () => {
  salient = await testApp();
  hospital = await salient.tenant('hospital-a');
  const { admin, agent, user } = profileCallers(salient, hospital);
  await admin.saved(
    { tenant: true },
    {
      interests: [
        { topic: 'patient safety', level: 'CRITICAL' },
        { topic: 'HIPAA compliance', level: 'HIGH' },
      ],
      icnuWeights: { importance: 0.3, coactivation: 0.2, novelty: 0.3, urgency: 0.2 },
      flashbulbThreshold: 2.5,
    },
  );
  // The medication checker and Dr. Smith set their own.
  await agent.saved(
    { agentId: hospital.agentId },
    {
      interests: [
        { topic: 'drug interactions', level: 'CRITICAL' },
        { topic: 'patient safety', level: 'HIGH' },
      ],
    },
  );
  await user.saved(
    { userId: hospital.userId },
    {
      interests: [{ topic: 'cardiology', level: 'HIGH' }],
      disinterests: [{ topic: 'administrative tasks', level: 'LOW' }],
    },
  );
});
afterAll(() => salient?.[Symbol.asyncDispose]());

const topic = (topic: string, level: string, origin: string, similarityThreshold = 0.5) => ({
  topic,
  level,
  origin,
  similarityThreshold,
});
const byDefault = (value: unknown) => ({ origin: 'DEFAULT', value });

/** What nobody in the hospital has set. */
const UNSET = {
  fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
  alpha: byDefault(0.6),
  beta: byDefault(0.4),
  similarityThreshold: byDefault(0.5),
  persona: {
    name: byDefault(null),
    valenceBias: byDefault(0),
    arousalSensitivity: byDefault(1),
    selfRelevanceBoost: byDefault(1),
    identity: [],
  },
};
const TENANTS = {
  icnuWeights: {
    origin: 'TENANT',
    value: { importance: 0.3, coactivation: 0.2, novelty: 0.3, urgency: 0.2 },
  },
  flashbulbThreshold: { origin: 'TENANT', value: 2.5 },
};
const SAFETY = topic('patient safety', 'CRITICAL', 'TENANT');
const HIPAA = topic('HIPAA compliance', 'HIGH', 'TENANT');

describe("the hospital's effective profile, value by value", () => {
  const read = () =>
    profileCallers(salient, hospital).admin.effective({
      agentId: hospital.agentId,
      userId: hospital.userId,
    });

  test('under ADDITIVE_TOPICS', async () => {
    expect(await read()).toEqual({
      ...UNSET,
      ...TENANTS,
      policy: 'ADDITIVE_TOPICS',
      interests: [
        SAFETY,
        HIPAA,
        topic('drug interactions', 'CRITICAL', 'AGENT'),
        topic('cardiology', 'HIGH', 'USER'),
      ],
      disinterests: [topic('administrative tasks', 'LOW', 'USER')],
      blocked: [
        {
          origin: 'AGENT',
          setting: 'INTEREST',
          topic: 'patient safety',
          level: 'HIGH',
          reason: 'ANCESTOR_TOPIC',
        },
      ],
    });
  });

  test('under TENANT_ONLY', async () => {
    await setPolicy(salient, hospital, 'TENANT_ONLY');
    const blocked = (origin: string, setting: string, topic: string, level: string) => ({
      origin,
      setting,
      topic,
      level,
      reason: 'TENANT_ONLY',
    });
    expect(await read()).toEqual({
      ...UNSET,
      ...TENANTS,
      policy: 'TENANT_ONLY',
      interests: [SAFETY, HIPAA],
      disinterests: [],
      blocked: [
        blocked('AGENT', 'INTEREST', 'drug interactions', 'CRITICAL'),
        blocked('AGENT', 'INTEREST', 'patient safety', 'HIGH'),
        blocked('USER', 'INTEREST', 'cardiology', 'HIGH'),
        blocked('USER', 'DISINTEREST', 'administrative tasks', 'LOW'),
      ],
    });
  });

  test('under FULL_OVERRIDE, where the agent takes the place of the tenant', async () => {
    await setPolicy(salient, hospital, 'FULL_OVERRIDE');
    const effective = await read();
    expect(effective).toEqual({
      ...UNSET,
      ...TENANTS,
      policy: 'FULL_OVERRIDE',
      interests: [
        HIPAA,
        topic('drug interactions', 'CRITICAL', 'AGENT'),
        topic('patient safety', 'HIGH', 'AGENT'),
        topic('cardiology', 'HIGH', 'USER'),
      ],
      disinterests: [topic('administrative tasks', 'LOW', 'USER')],
      blocked: [],
    });
    const { effectiveSalienceProfile } = await profileCallers(salient, hospital).admin.query<{
      effectiveSalienceProfile: { interests: object[] };
    }>(
      `query ($agentId: ID) { effectiveSalienceProfile(agentId: $agentId) {
         interests { topic overrides { origin list level } } } }`,
      { agentId: hospital.agentId },
    );
    expect(effectiveSalienceProfile.interests).toEqual([
      { topic: 'HIPAA compliance', overrides: [] },
      { topic: 'drug interactions', overrides: [] },
      { topic: 'patient safety', overrides: [{ origin: 'TENANT', list: 'INTEREST', level: 'CRITICAL' }] },
    ]);
  });

  test('with neither agent nor user, and with one of them, nobody else counts', async () => {
    await setPolicy(salient, hospital, 'ADDITIVE_TOPICS');
    const { admin } = profileCallers(salient, hospital);
    const topics = async (asked: { agentId?: string; userId?: string }) =>
      ((await admin.effective(asked))['interests'] as { topic: string }[]).map((one) => one.topic);
    const own = ['patient safety', 'HIPAA compliance'];
    expect(await topics({})).toEqual(own);
    expect(await topics({ agentId: hospital.agentId })).toEqual([...own, 'drug interactions']);
    expect(await topics({ userId: hospital.userId })).toEqual([...own, 'cardiology']);
  });
});
