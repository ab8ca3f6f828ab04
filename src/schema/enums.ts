import type { ACTOR_KINDS, OVERRIDE_POLICIES } from '../tenancy/index.js';
import type { FACT_KINDS } from '../text/index.js';
import { builder } from './builder.js';

export const Role = builder.enumType('Role', {
  description: 'Who acts.',
  values: {
    PLATFORM_ADMIN: {
      description: 'Runs the platform; names the tenant it works in by the header X-Salient-Tenant.',
    },
    TENANT_ADMIN: { description: 'Does and sees everything of one tenant.' },
    TENANT_AUDITOR: { description: 'Sees everything of one tenant and changes nothing.' },
    AGENT: {
      description: 'An agent: reads and writes its own facts and those without an agent, of every user.',
    },
    USER: {
      description: 'An end user: reads and writes its own facts, and reads those shared by the whole tenant.',
    },
  } satisfies Record<(typeof ACTOR_KINDS)[number], object>,
});

export const KeyRole = builder.enumType('KeyRole', {
  description: 'What a key lets its holder be.',
  values: {
    TENANT_ADMIN: { description: 'A tenant administrator.' },
    TENANT_AUDITOR: { description: 'A tenant auditor: reads only.' },
    AGENT: { description: 'The agent named by `agentId`.' },
    USER: { description: 'The user named by `userId`.' },
  },
});

export const OverridePolicy = builder.enumType('OverridePolicy', {
  description: "How far agents and users may change what their tenant's salience profile says.",
  values: {
    TENANT_ONLY: { description: "The tenant's profile alone counts." },
    ADDITIVE_TOPICS: {
      description: 'Agents and users add topics and fill what is unset; what the tenant set stays.',
    },
    FULL_OVERRIDE: { description: 'What is nearer to the user wins.' },
  } satisfies Record<(typeof OVERRIDE_POLICIES)[number], object>,
});

export const FactKind = builder.enumType('FactKind', {
  description: 'What sort of statement a fact is.',
  values: {
    USER_PROFILE: { description: 'Who the user is: name, role, home, health.' },
    PREFERENCE: { description: 'What someone likes, wants or avoids.' },
    PROJECT: { description: 'What a project is and uses.' },
    ENV: { description: 'Machines, versions, tools, paths.' },
    FACT: { description: 'Anything else.' },
    DECISION: { description: 'What was decided; should tell why.' },
    CONVENTION: { description: 'What is always or never done; should tell why.' },
  } satisfies Record<(typeof FACT_KINDS)[number], object>,
});

export const FactTier = builder.enumType('FactTier', {
  description: 'Which memory a fact belongs to.',
  values: {
    EPISODIC: { description: 'What happened; every flashbulb fact.' },
    SEMANTIC: { description: 'What is so. The default.' },
    PROCEDURAL: { description: 'How something is done.' },
    WORKING: { description: 'What is needed for the task at hand.' },
  },
});

export const FactStatus = builder.enumType('FactStatus', {
  description: 'Whether a fact counts today.',
  values: {
    LIVE: { description: 'Not retired, and not past its asserted end.' },
    RETIRED: { description: 'Retired, or past its asserted end.' },
  },
});

export const RetireReason = builder.enumType('RetireReason', {
  description: 'Why a fact was retired.',
  values: {
    ENDED: { description: 'It was true and is no longer; its past stays readable.' },
    WRONG: { description: 'It was never true.' },
    DUPLICATE: { description: 'Another fact says the same.' },
    FADED: {
      description:
        'It was never recalled and faded below what its tenant keeps; consolidation alone gives this reason.',
    },
  },
});

export const MessageRole = builder.enumType('MessageRole', {
  description: 'Who speaks in a message.',
  values: {
    USER: { description: 'The user. Only these are mined by the gate and the rules extractor.' },
    ASSISTANT: { description: 'The agent.' },
    SYSTEM: { description: 'Instructions of the host application.' },
    TOOL: { description: "A tool's result." },
  },
});

export const SortDirection = builder.enumType('SortDirection', {
  description: 'Order of a list.',
  values: {
    ASC: { description: 'Smallest or oldest first.' },
    DESC: { description: 'Greatest or newest first.' },
  },
});

export const ExtractorName = builder.enumType('ExtractorName', {
  description: 'What turns messages into facts.',
  values: {
    RULES: {
      description: 'Built-in rules: sentences that state something durable, in the words of the user.',
    },
    OPENAI: {
      description:
        'A language model behind an OpenAI-compatible endpoint: atomic statements in the third person.',
    },
  },
});
