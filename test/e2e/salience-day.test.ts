import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ADMIN_KEY, type TestApp, testApp } from '../support/app.js';
import { Caller, callServerAt, type Data, follow, unsent } from './caller.js';

// It is only that the machine may be busy.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let salient: TestApp;
beforeAll(async () => {
  salient = await testApp();
  callServerAt((await salient.app.listen()).url);
});
afterAll(() => salient[Symbol.asyncDispose]());

describe("a policy manager's day", () => {
  const slug = `hospital-${Date.now()}`;
  let admin: Caller;
  let agent: Caller;
  let user: Caller;
  let agentId: string;
  let userId: string;
  let allergy: Data;

  const importanceOf = async (id: string) => (await admin.ask('Fact', { id })).importanceBreakdown.encoded;

  beforeAll(async () => {
    await new Caller(ADMIN_KEY).ask('CreateTenant', {
      input: { slug, name: 'Hospital A', overridePolicy: 'ADDITIVE_TOPICS' },
    });
    const inTenant = new Caller(ADMIN_KEY, slug);
    const keyFor = async (caller: Caller, input: Record<string, unknown>) =>
      new Caller((await caller.ask('CreateApiKey', { input: { name: 'k', ...input } })).secret);
    admin = await keyFor(inTenant, { role: 'TENANT_ADMIN' });
    agentId = (await admin.ask('CreateAgent', { input: { name: 'Medication checker' } })).agent.id;
    userId = (await admin.ask('CreateUser', { input: { externalId: 'dr-smith' } })).user.id;
    agent = await keyFor(admin, { role: 'AGENT', agentId });
    user = await keyFor(admin, { role: 'USER', userId });
    allergy = (
      await agent.ask('Remember', {
        input: { text: 'Patient safety demands a second check of penicillin doses', userId },
      })
    ).fact;
    await agent.ask('Remember', { input: { text: 'The cafeteria serves soup on Mondays', userId } });
  });

  test('the tenant says what matters; the agent and the user add to it, and see what is blocked', async () => {
    const { salienceProfile, rescoreJob, warnings } = await admin.ask('SetSalienceProfile', {
      input: {
        owner: { tenant: true },
        interests: [
          { topic: 'patient safety', level: 'CRITICAL' },
          { topic: 'HIPAA compliance', level: 'HIGH' },
        ],
        icnuWeights: { importance: 0.3, coactivation: 0.2, novelty: 0.3, urgency: 0.2 },
        flashbulbThreshold: 2.5,
        rescore: 'RECALL_ONLY',
      },
    });
    expect(salienceProfile.interests.map(({ topic }: Data) => topic)).toEqual([
      'patient safety',
      'HIPAA compliance',
    ]);
    expect({ rescoreJob, warnings }).toEqual({ rescoreJob: null, warnings: [] });
    const specialised = await agent.ask('SetSalienceProfile', {
      input: {
        owner: { agentId },
        interests: [
          { topic: 'drug interactions', level: 'CRITICAL' },
          { topic: 'Patient Safety', level: 'HIGH' },
        ],
        rescore: 'RECALL_ONLY',
      },
    });
    expect(specialised.warnings).toHaveLength(1);
    await user.ask('SetSalienceProfile', {
      input: {
        owner: { userId },
        interests: [{ topic: 'cardiology', level: 'HIGH' }],
        disinterests: [{ topic: 'administrative tasks', level: 'LOW' }],
        rescore: 'RECALL_ONLY',
      },
    });
    const effective = await admin.ask('EffectiveSalienceProfile', { agentId, userId });
    expect(effective.interests.map(({ topic, level, origin }: Data) => [topic, level, origin])).toEqual([
      ['patient safety', 'CRITICAL', 'TENANT'],
      ['HIPAA compliance', 'HIGH', 'TENANT'],
      ['drug interactions', 'CRITICAL', 'AGENT'],
      ['cardiology', 'HIGH', 'USER'],
    ]);
    expect(effective.disinterests).toMatchObject([
      { topic: 'administrative tasks', level: 'LOW', origin: 'USER' },
    ]);
    expect(effective.icnuWeights).toEqual({
      origin: 'TENANT',
      value: { importance: 0.3, coactivation: 0.2, novelty: 0.3, urgency: 0.2 },
    });
    expect(effective.flashbulbThreshold).toEqual({ origin: 'TENANT', value: 2.5 });
    expect(effective.blocked).toEqual([
      {
        origin: 'AGENT',
        setting: 'INTEREST',
        topic: 'Patient Safety',
        level: 'HIGH',
        reason: 'ANCESTOR_TOPIC',
      },
    ]);
  });

  test('a dry run tells what would change, and changes nothing', async () => {
    const before = await importanceOf(allergy.id);
    const input = {
      owner: { tenant: true },
      interests: [{ topic: 'soup on Mondays in the cafeteria', level: 'CRITICAL' }],
    };
    const preview = await admin.ask('PreviewSalienceProfile', { input });
    expect(preview).toMatchObject({ affected: 2, raised: 1, lowered: 0, unchanged: 1 });
    expect(preview.changes[0].fact.text).toContain('cafeteria');
    expect(preview.changes[0].after).toBeGreaterThan(preview.changes[0].before);
    expect(await importanceOf(allergy.id)).toBe(before);
    const policy = await admin.ask('PreviewOverridePolicy', { policy: 'TENANT_ONLY' });
    expect(policy.affected).toBe(2);
    expect(policy.blocked).toContainEqual({
      setting: 'INTEREST',
      topic: 'cardiology',
      reason: 'TENANT_ONLY',
    });
    const statement = await agent.ask('PreviewImportance', {
      input: { text: 'Patient safety comes first', userId },
    });
    expect(statement.matchedTopics).toMatchObject([
      { topic: 'patient safety', level: 'CRITICAL', origin: 'TENANT' },
    ]);
    expect(statement.topicBoost).toBeGreaterThan(1);
    expect(statement.encoded).toBeCloseTo(statement.base * statement.topicBoost, 9);
  });

  test('a rescoring applies it to what is stored, told step by step', async () => {
    const before = await importanceOf(allergy.id);
    const { job } = await admin.ask('StartRescore', { input: {} });
    expect(job).toMatchObject({ strategy: 'BACKGROUND', error: null });
    const socket = admin.socket();
    const progress = follow(socket, 'RescoreProgress', { jobId: job.id });
    const told = await progress.until(({ status }) => status === 'SUCCEEDED');
    expect(told.at(-1)).toMatchObject({ id: job.id, total: 2, processed: 2, failed: 0 });
    await socket.dispose();
    expect(await admin.ask('Job', { id: job.id })).toMatchObject({ status: 'SUCCEEDED', processed: 2 });
    expect(await importanceOf(allergy.id)).toBeGreaterThan(before);
    expect((await admin.ask('RunningJobs')).edges).toEqual([]);
    const refused = await admin.send('CancelRescore', { input: { id: job.id } });
    expect(refused.data?.cancelRescore.errors).toMatchObject([{ code: 'CONFLICT' }]);
  });

  test('a profile is reset; facts are consolidated', async () => {
    const { rescoreJob } = await admin.ask('ResetSalienceProfile', { input: { owner: { tenant: true } } });
    expect(rescoreJob).not.toBeNull();
    const { report } = await admin.ask('RunConsolidation');
    expect(report).toMatchObject({ retired: 0, merged: 0, edgesRemoved: 0 });
  });

  test('every document about salience was sent', () => {
    expect(unsent('salience.graphql')).toEqual([]);
  });
});
