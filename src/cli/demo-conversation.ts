/** A week of a backend engineer with her assistant, made up for the demo: what a team keeps, and what it does not. */
export interface DemoMessage {
  readonly role: 'USER' | 'ASSISTANT';
  readonly content: string;
}

/** Sessions in order, `day` days after the first. */
export const DEMO_SESSIONS: readonly {
  readonly name: string;
  readonly day: number;
  readonly messages: readonly DemoMessage[];
}[] = [
  {
    name: 'day 1',
    day: 0,
    messages: [
      { role: 'USER', content: 'Hi! My name is Mira Okafor. I am the backend lead at Northwind Clinics.' },
      { role: 'ASSISTANT', content: 'Nice to meet you, Mira. What are you working on?' },
      {
        role: 'USER',
        content: 'The project uses PostgreSQL 16 and Fastify. We deploy with Kamal to Hetzner.',
      },
      { role: 'ASSISTANT', content: 'Noted. Anything about how you like to work?' },
      { role: 'USER', content: 'I prefer tabs over spaces. I prefer short answers with code first.' },
      {
        role: 'USER',
        content:
          'The team uses trunk-based development. We never deploy on Fridays because support is thin at weekends.',
      },
      { role: 'ASSISTANT', content: 'Understood.' },
      { role: 'USER', content: 'thanks' },
    ],
  },
  {
    name: 'day 2',
    day: 1,
    messages: [
      {
        role: 'USER',
        content:
          'We decided to use pgvector instead of Pinecone because patient data must stay in our database.',
      },
      {
        role: 'USER',
        content: 'Staging runs on port 5433. The staging database is refreshed every night at two.',
      },
      { role: 'ASSISTANT', content: 'Should I remember who is on call?' },
      {
        role: 'USER',
        content: 'Jonas Weber is on call for the billing service. Priya Raman owns the scheduling service.',
      },
      {
        role: 'USER',
        content: 'I use Neovim on macOS. My terminal is Ghostty. Our CI runs on GitHub Actions.',
      },
      { role: 'USER', content: 'help' },
    ],
  },
  {
    name: 'day 3',
    day: 2,
    messages: [
      {
        role: 'USER',
        content: 'The repo uses pnpm workspaces. The convention is to name branches after the ticket.',
      },
      {
        role: 'USER',
        content:
          'We always write migrations by hand because generated ones locked the appointments table twice.',
      },
      {
        role: 'USER',
        content: 'I am allergic to peanuts, so please never suggest the Thai place for team lunches.',
      },
      { role: 'ASSISTANT', content: 'I will keep that in mind.' },
      {
        role: 'USER',
        content:
          'The project uses Redis for queues. The project uses MinIO for files. We use Zod for validation.',
      },
      {
        role: 'USER',
        content: 'The reporting service uses ClickHouse. We agreed to keep raw events for ninety days.',
      },
    ],
  },
  {
    name: 'day 4',
    day: 3,
    messages: [
      {
        role: 'USER',
        content: 'Our API gateway is Traefik. Our error tracker is Sentry. We use Grafana for dashboards.',
      },
      { role: 'USER', content: 'I work from Lisbon and I am usually online from nine to five.' },
      {
        role: 'USER',
        content: 'A nurse in Porto received the wrong dosage alert last night and nobody was paged.',
      },
      { role: 'ASSISTANT', content: 'That sounds serious. Is there an incident channel?' },
      {
        role: 'USER',
        content:
          'We decided to page the lead physician for every dosage alert, because the nurse had no one to call.',
      },
    ],
  },
  {
    name: 'day 5',
    day: 4,
    messages: [
      { role: 'USER', content: 'I prefer tabs over spaces.' },
      { role: 'USER', content: 'The team uses Linear for tickets. The team uses Slack for incidents.' },
      {
        role: 'USER',
        content: 'We use feature flags from Unleash. We run load tests with k6 before every release.',
      },
      {
        role: 'USER',
        content: 'We decided to freeze releases during the audit because the inspectors read our change log.',
      },
      { role: 'USER', content: 'My daughter Lena was born last week and I named her after my grandmother.' },
      { role: 'USER', content: 'ok continue' },
    ],
  },
];

/** What the example asks of its memory. */
export const DEMO_QUESTIONS = [
  'where does staging run?',
  'who should be paged for a dosage alert?',
  'when are we not allowed to deploy?',
] as const;

/** What the example's tenant calls critical. */
export const DEMO_INTEREST = 'keeping patients safe from wrong medication';
