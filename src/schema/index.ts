import './api-keys.js';
import './consolidation.js';
import './conversations.js';
import './effective-profile.js';
import './events.js';
import './extraction-runs.js';
import './fact-batches.js';
import './fact-lists.js';
import './fact-mutations.js';
import './facts.js';
import './look-ups.js';
import './memory-context.js';
import './memory-quality.js';
import './previews.js';
import './profile-mutations.js';
import './profile-versions.js';
import './recall.js';
import './recall-receipts.js';
import './rescore-jobs.js';
import './rescore-requests.js';
import './tenant-mutations.js';
import './viewer.js';
import './why-not.js';
import { builder } from './builder.js';

export { createContext, type GraphQLContext } from './context.js';
export { feedSharing } from './feed-sharing.js';
export { costOfOperation } from './operation-cost.js';

/** The executable schema; `schema.graphql` is printed from it. */
export const schema = builder.toSchema();
