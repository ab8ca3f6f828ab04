import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type App, createApp } from '../app.js';
import { createConfig } from '../config/index.js';
import { DemoClient } from './demo-client.js';
import { DEMO_QUESTIONS, DEMO_SESSIONS } from './demo-conversation.js';
import { heading, indent, number, optional } from './demo-print.js';
import { showProfile } from './demo-profile.js';

const ADMIN_KEY = 'demo-platform-administrator-key-0001';
const DAY_MS = 86_400_000;

/** `salient demo`: the main job on an example conversation, in a database of its own that is removed afterwards. */
export async function demo(): Promise<void> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'salient-demo-'));
  try {
    heading('Starting: embedded PostgreSQL and the bundled encoder, no key, no network');
    const config = createConfig({ port: 0, adminKey: ADMIN_KEY, dataDirectory, logLevel: 'warn' });
    const app = await createApp(config);
    try {
      await tell(app);
    } finally {
      await app[Symbol.asyncDispose]();
    }
  } finally {
    await rm(dataDirectory, { recursive: true, force: true });
  }
}

async function tell(app: App): Promise<void> {
  const platform = new DemoClient(app, ADMIN_KEY);
  const northwind = await openTenant(platform, 'northwind', 'Northwind Clinics');
  const contoso = await openTenant(platform, 'contoso', 'Contoso Hotels');

  await converse(northwind);
  await showFacts(northwind);
  await showBreakdown(northwind);
  await showProfile(northwind);
  await showRecall(northwind);
  await showEvent(northwind);
  await showIsolation(northwind, contoso);
  console.log('\nNext: `npm start` serves the same API, with GraphiQL; the README says how.\n');
}

export interface DemoTenant {
  readonly administrator: DemoClient;
  readonly agent: DemoClient;
  readonly userId: string;
}

async function openTenant(platform: DemoClient, slug: string, name: string): Promise<DemoTenant> {
  await platform.ask(
    `mutation ($input: CreateTenantInput!) { createTenant(input: $input) { tenant { id } errors { message } } }`,
    { input: { slug, name } },
  );
  const admin = platform.in(slug);
  const { createAgent } = await admin.ask<{ createAgent: { agent: { id: string } } }>(
    `mutation { createAgent(input: { name: "Desk assistant", externalId: "assistant" }) { agent { id } errors { message } } }`,
  );
  const { createUser } = await admin.ask<{ createUser: { user: { id: string } } }>(
    `mutation { createUser(input: { externalId: "mira", displayName: "Mira" }) { user { id } errors { message } } }`,
  );
  const { createApiKey } = await admin.ask<{ createApiKey: { secret: string } }>(
    `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret errors { message } } }`,
    { input: { role: 'AGENT', agentId: createAgent.agent.id, name: 'assistant' } },
  );
  return { administrator: admin, agent: platform.as(createApiKey.secret), userId: createUser.user.id };
}

interface Appended {
  readonly appendMessages: {
    readonly messages: { id: string }[];
    readonly extraction: { status: string; facts: { id: string }[]; refused: { category: string }[] };
  };
}

async function converse({ agent, userId }: DemoTenant): Promise<void> {
  heading('1. Five days of conversation, appended message by message; facts are learned on the way');
  const begin = Date.now() - 5 * DAY_MS;
  for (const session of DEMO_SESSIONS) {
    let facts = 0;
    const skipped: string[] = [];
    for (const [index, message] of session.messages.entries()) {
      const sentAt = new Date(begin + session.day * DAY_MS + index * 60_000).toISOString();
      const { appendMessages } = await agent.ask<Appended>(
        `mutation ($input: AppendMessagesInput!) { appendMessages(input: $input) {
           messages { id } extraction { status facts { id } refused { category } } errors { message } } }`,
        {
          input: {
            session: { create: { userId, externalId: session.name } },
            messages: [{ ...message, sentAt }],
          },
        },
      );
      facts += appendMessages.extraction.facts.length;
      if (message.role === 'USER' && appendMessages.extraction.status === 'SKIPPED_NOT_SALIENT')
        skipped.push(message.content);
    }
    const gate =
      skipped.length > 0 ? `; not worth an extraction: ${skipped.map((text) => `"${text}"`).join(', ')}` : '';
    console.log(
      `  ${session.name.padEnd(10)} ${String(session.messages.length).padStart(2)} messages, ${String(facts).padStart(2)} facts learned or reaffirmed${gate}`,
    );
  }
}

interface FactRow {
  readonly id: string;
  readonly text: string;
  readonly kind: string;
  readonly importance: number;
  readonly pinned: boolean;
  readonly importanceBreakdown: {
    z: number | null;
    base: number;
    decay: number;
    encoded: number;
    current: number;
    flashbulb: boolean;
  };
}

async function showFacts({ agent }: DemoTenant): Promise<void> {
  heading('2. What was established, most important first');
  const { facts } = await agent.ask<{ facts: { totalCount: number; edges: { node: FactRow }[] } }>(
    `{ facts(first: 100, orderBy: { field: IMPORTANCE, direction: DESC }) { totalCount edges { node {
         id text kind importance pinned importanceBreakdown { z base decay encoded current flashbulb } } } } }`,
  );
  console.log(
    `  ${facts.totalCount} facts. z: how surprising each was, in standard deviations from what was known; none during the warm-up, until 20 distances are known.`,
  );
  console.log('  importance  z      kind          fact');
  for (const { node } of facts.edges) {
    const { z } = node.importanceBreakdown;
    const pin = node.pinned ? ' (pinned)' : '';
    console.log(
      `  ${number(node.importance, 10)}  ${z === null ? '  –  ' : number(z, 5)}  ${node.kind.padEnd(12)}  ${node.text}${pin}`,
    );
  }
}

async function showBreakdown({ agent }: DemoTenant): Promise<void> {
  heading('3. Why the most important fact matters that much, and where it comes from');
  const { facts } = await agent.ask<{ facts: { edges: { node: Record<string, never> }[] } }>(
    `{ facts(first: 1) { edges { node { text extractor recordedAt
         importanceBreakdown { distance z base topicBoost matchedTopics { topic level origin similarity } valenceFactor selfRelevanceFactor decayResistance encoded reinforcement decay current }
         sources(first: 3) { edges { node { content sentAt session { externalId } } } }
         entities { name } edges(first: 3) { edges { node { relation source { name } target { name } } } } } } } }`,
  );
  console.log(indent(JSON.stringify(facts.edges[0]?.node, null, 2)));
}

interface Recalled {
  readonly recall: {
    readonly items: {
      rank: number;
      score: number;
      scores: { lexical: number | null; vector: number | null; icnu: number };
      node: { __typename: string; text?: string; content?: string };
    }[];
    readonly receipt: { arms: { name: string; candidates: number }[] };
  };
}

async function showRecall({ agent, userId }: DemoTenant): Promise<void> {
  heading(
    '5. Recall: facts and messages, by words (BM25) and by meaning (similarity); icnu: importance, freshness, urgency',
  );
  for (const query of DEMO_QUESTIONS) {
    const { recall } = await agent.ask<Recalled>(
      `query ($input: RecallInput!) { recall(input: $input) {
         items { rank score scores { lexical vector icnu } node { __typename ... on Fact { text } ... on Message { content } } }
         receipt { arms { name candidates } } } }`,
      { input: { query, userId, k: 3, mode: 'OBSERVE' } },
    );
    const arms = recall.receipt.arms.map((arm) => `${arm.name} ${arm.candidates}`).join(', ');
    console.log(`\n  "${query}"  (candidates: ${arms})`);
    for (const { rank, score, scores, node } of recall.items) {
      const parts = `words ${optional(scores.lexical)}  meaning ${optional(scores.vector)}  icnu ${number(scores.icnu, 4)}`;
      console.log(
        `   ${rank}. ${score.toFixed(4)}  ${parts}  ${node.__typename === 'Fact' ? 'fact   ' : 'message'}  ${node.text ?? node.content}`,
      );
    }
  }
}

async function showEvent({ agent, userId }: DemoTenant): Promise<void> {
  heading(
    '6. A service subscribes to importance changes; the agent remembers something, and the event arrives',
  );
  const events = await agent.subscribe(
    `subscription { importanceChanged { __typename cursor ... on ImportanceChange { cause old new at actor { kind } fact { text } } } }`,
  );
  await agent.ask(
    `mutation ($input: RememberInput!) { remember(input: $input) { fact { id } errors { message } } }`,
    {
      input: {
        text: 'The pager rotation moves to Opsgenie in January',
        kind: 'PROJECT',
        userId,
        entities: ['Opsgenie'],
      },
    },
  );
  console.log(indent(JSON.stringify(await events.next('ImportanceChange'), null, 2)));
  await events.close();
}

async function showIsolation(northwind: DemoTenant, contoso: DemoTenant): Promise<void> {
  heading('7. The other tenant, with the same external ids, asks the same and tries an id');
  const { facts } = await northwind.agent.ask<{ facts: { edges: { node: { id: string } }[] } }>(
    `{ facts(first: 1) { edges { node { id } } } }`,
  );
  const foreignId = facts.edges[0]?.node.id;
  const { recall } = await contoso.agent.ask<Recalled>(
    `query ($input: RecallInput!) { recall(input: $input) { items { rank } receipt { arms { name candidates } } } }`,
    { input: { query: DEMO_QUESTIONS[0], userId: contoso.userId, mode: 'OBSERVE' } },
  );
  const { fact } = await contoso.agent.ask<{ fact: unknown }>(
    `query ($id: ID!) { fact(id: $id) { id text } }`,
    { id: foreignId },
  );
  console.log(`  recall found ${recall.items.length} items; the fact by its id: ${JSON.stringify(fact)}`);
}
