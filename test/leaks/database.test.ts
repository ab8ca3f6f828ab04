import { afterAll, beforeAll, vi } from 'vitest';
import { testMissingConditions } from './missing-conditions.js';
import { makeWorld, type World } from './owners.js';
import { testRowLevelSecurity } from './row-level-security.js';

// Nothing is timed here: it is only that the machine may be busy.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

let world: World;

beforeAll(async () => {
  world = await makeWorld('one');
});
afterAll(() => world[Symbol.asyncDispose]());

testMissingConditions(() => world);
testRowLevelSecurity(() => world);
