import type { DemoTenant } from './demo.js';
import { DEMO_INTEREST } from './demo-conversation.js';
import { heading, number } from './demo-print.js';

interface Preview {
  readonly previewSalienceProfile: {
    readonly affected: number;
    readonly raised: number;
    readonly lowered: number;
    readonly changes: { before: number; after: number; fact: { text: string } }[];
  };
}

/** The tenant says what matters: tried, saved, and applied to what is stored. */
export async function showProfile({ administrator }: DemoTenant): Promise<void> {
  heading('4. The tenant says what matters: first a dry run, then for good, in the background');
  const input = { owner: { tenant: true }, interests: [{ topic: DEMO_INTEREST, level: 'CRITICAL' }] };
  const { previewSalienceProfile: preview } = await administrator.ask<Preview>(
    `query ($input: SetSalienceProfileInput!) { previewSalienceProfile(input: $input, first: 3) {
       affected raised lowered changes { before after fact { text } } } }`,
    { input },
  );
  console.log(
    `  with "${DEMO_INTEREST}" as CRITICAL, of ${preview.affected} facts ${preview.raised} would rise and ${preview.lowered} fall; the largest changes:`,
  );
  for (const { before, after, fact } of preview.changes)
    console.log(`  ${number(before, 10)}  → ${number(after, 5)}  ${fact.text}`);
  const { setSalienceProfile } = await administrator.ask<{
    setSalienceProfile: { rescoreJob: { id: string } };
  }>(
    `mutation ($input: SetSalienceProfileInput!) { setSalienceProfile(input: $input) {
       rescoreJob { id } errors { message } } }`,
    { input: { ...input, rescore: 'BACKGROUND' } },
  );
  const progress = await administrator.subscribe(
    `subscription ($jobId: ID!) { rescoreProgress(jobId: $jobId) { __typename status processed changed failed } }`,
    { jobId: setSalienceProfile.rescoreJob.id },
  );
  let job: { status?: string; processed?: number; changed?: number } = {};
  while (job.status !== 'SUCCEEDED' && job.status !== 'FAILED')
    job = (await progress.next('RescoreJob')) as typeof job;
  await progress.close();
  console.log(
    `  rescored: ${job.status}, ${job.processed} facts, ${job.changed} changed, each told as an event`,
  );
}
