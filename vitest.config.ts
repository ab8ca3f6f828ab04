import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Vite would take graphql's ESM build for our files while packages take its CommonJS one, as Node does for both; the
  // library refuses objects of its other build.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two files at a time also on two cores, where vitest would take one.
    maxWorkers: 2,
    // Files that one worker runs load the modules once.
    isolate: false,
  },
});
