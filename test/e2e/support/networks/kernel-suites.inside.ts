/**
 * A program of its own: the suites of the host's network stack on the kernel that it runs on, where there is no Vitest but
 * what is bundled. Prints a line of JSON per test.
 */
import { startTests } from 'vitest/internal/browser';
import { hostBackendSuite } from '../../../../datapath/host/backend.suite.ts';
import { linuxHarness } from '../../../../datapath/netlink/harness.suite.ts';
import { hostSuite } from '../../../../datapath/netlink/kernel/host.suite.ts';

const [pattern = ''] = process.argv.slice(2);
const TIMEOUT_MS = 120_000;

type Runner = Parameters<typeof startTests>[1];
type Task = Parameters<NonNullable<Runner['onAfterRunTask']>>[0];

const config = {
  root: '/',
  testNamePattern: new RegExp(pattern),
  testTimeout: TIMEOUT_MS,
  hookTimeout: TIMEOUT_MS,
  maxConcurrency: 1,
  sequence: { hooks: 'stack', setupFiles: 'list', concurrent: false, shuffle: false, seed: 0 },
  setupFiles: [],
  retry: 0,
  allowOnly: false,
  passWithNoTests: false,
  includeTaskLocation: false,
  expect: {},
  snapshotOptions: {},
  fakeTimers: {},
  tags: [],
  experimental: {},
};

const notify = ({ name, mode, result }: Task): void => {
  const errors = result?.errors?.map(({ message, diff = '' }) => `${message}\n${diff}`) ?? [];
  const state = mode === 'skip' ? 'skip' : (result?.state ?? 'fail');
  process.stdout.write(`${JSON.stringify({ name, state, errors })}\n`);
};

// What Vitest's own worker would have made.
Object.assign(globalThis, {
  __vitest_worker__: { config, filepath: '/suites', environment: { name: 'node' }, ctx: {}, rpc: {}, metaEnv: {} },
});
const runner = {
  config,
  pool: 'none',
  viteEnvironment: 'none',
  importFile: () => {
    hostSuite('Linux', linuxHarness);
    hostBackendSuite('Linux', linuxHarness);
  },
  onAfterRunTask: notify,
};
const [file] = await startTests(['/suites'], runner as unknown as Runner);
process.exitCode = file?.result?.state === 'pass' ? 0 : 1;
