import { defineConfig } from 'vitest/config';
import { GUEST_LANE, GUEST_LOCAL_LANE } from './test/guest-lane.ts';
import { LongestFirst } from './test/longest-first.ts';

/** Their unit tests keep nothing between them, and share the modules that they load: half of the time was loading. */
const shared = '{base,program,net,api,kube,ovsdb,datapath,agent,cluster-manager,cli,sandbox,tools,cni-shim,bench}';
/** Looks at its environment when it is loaded. */
const apart = 'demo';
const source = '{base,program,api,net,kube,ovsdb,datapath,agent,cluster-manager,cli,sandbox,tools,cni-shim,bench,demo}';

/** Unit tests that take seconds each, as they try so much: a lane of their own, so that `make check` stays short. */
const SIMULATIONS = [
  'agent/desired/convergence.test.ts',
  'agent/features/services/rules.property.test.ts',
  'agent/inputs/names.property.test.ts',
  'agent/inputs/policies/admin/firewall-room.test.ts',
  'agent/inputs/policies/admin/safe-order.test.ts',
  'agent/inputs/policies/many-policies.test.ts',
  'agent/inputs/policies/policy-budgets.test.ts',
  'agent/inputs/policies/policy-index.property.test.ts',
  'agent/inputs/policies/policy-projection.property.test.ts',
  'cli/invariants/invariants.test.ts',
  'cli/why/plans.property.test.ts',
  'cluster-manager/allocation/address-ledger.property.test.ts',
  'cluster-manager/controllers/fairness.test.ts',
  'cluster-manager/controllers/id-keeper.test.ts',
  'cluster-manager/controllers/manager.property.test.ts',
  'cluster-manager/controllers/two-managers.test.ts',
  'datapath/host/convergence.test.ts',
  'datapath/host/mutations.test.ts',
  'datapath/netlink/wire/fuzz.test.ts',
  'kube/lease/clock-skew.test.ts',
  'kube/reflector/convergence.test.ts',
  'ovsdb/desired/bulk/equality.property.test.ts',
  'ovsdb/desired/bulk/loaded-rows.test.ts',
  'ovsdb/desired/convergence.test.ts',
  'ovsdb/desired/reconcile/cut-anywhere.test.ts',
  'ovsdb/desired/reconcile/survival.test.ts',
  'test/unit/manifests/rbac.test.ts',
  'test/unit/networks/embedded.test.ts',
  'test/unit/node-status/node-status.test.ts',
  'test/unit/outside-text/outside-text.test.ts',
];

/** The test lanes of docs/testing.md: unit needs nothing, integration needs real daemons, e2e needs the sandbox. */
/**
 * Where daemons and packets are real, a test that fails is tried once more, and told: `tools/tally.ts` names what passed only
 * then, so that it is looked at. Unit tests have no such excuse: a seed that fails must not get away.
 */
const RETRIES = 1;

/** What was found instead is said in full: a run elsewhere leaves nothing but its output. */
const IN_FULL = { truncateThreshold: 0 };

const unit = {
  exclude: ['**/*.integration.test.ts', 'node_modules/**', 'dist/**', 'build/**'],
  // Property tests take a second; a machine that does ten things at once takes longer.
  testTimeout: 60_000,
};

const e2e = {
  retry: RETRIES,
  chaiConfig: IN_FULL,
  globalSetup: ['test/guest/share.ts'],
  testTimeout: 180_000,
  // More than pods are waited for in a guest, so that it is told which is not ready.
  hookTimeout: 300_000,
};

/** Scenarios mostly wait, and each file has a sandbox of its own. A guest has one cluster at a time. */
const TWO_AT_ONCE = { fileParallelism: true, maxWorkers: 2 };
const ONE_BY_ONE = { fileParallelism: false };

/** Three networks that come and go take 90 s where an emulated guest has two processors, and over 180 s with other lanes beside. */
const guest = { ...e2e, ...ONE_BY_ONE, testTimeout: 600_000, hookTimeout: 600_000 };

/** Scenarios of which every run has both renderings (docs/testing.md, "On demand"): where the two differ, in a minute or so. */
const ON_DEMAND = ['lifecycle', 'north-south-shared', 'drift'].map((name) => `test/e2e/${name}.test.ts`);

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...unit,
          name: 'unit',
          include: [`${shared}/**/*.test.ts`, 'test/{unit,oracles}/**/*.test.ts'],
          exclude: [...unit.exclude, ...SIMULATIONS],
          isolate: false,
        },
      },
      {
        test: { ...unit, name: 'unit-apart', include: [`${apart}/**/*.test.ts`] },
      },
      {
        test: { ...unit, name: 'simulations', include: SIMULATIONS, maxWorkers: 2, isolate: false },
      },
      {
        test: {
          name: 'integration',
          retry: RETRIES,
          chaiConfig: IN_FULL,
          include: [`${source}/**/*.integration.test.ts`, 'test/integration/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // V8's record of code pages loses one now and then where many worker threads come and go, and the process ends with "Check
          // failed: jit_page.has_value()": 3 of 19 runs of one file, none of 16 without this (github.com/nodejs/node/issues/64500).
          execArgv: ['--no-memory-protection-keys'],
          fileParallelism: true,
          maxWorkers: 2,
        },
      },
      {
        test: {
          ...e2e,
          ...TWO_AT_ONCE,
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          exclude: [...GUEST_LANE, ...GUEST_LOCAL_LANE],
        },
      },
      { test: { ...guest, name: 'e2e-guest', include: GUEST_LANE } },
      { test: { ...guest, name: 'e2e-guest-local', include: GUEST_LOCAL_LANE } },
      {
        test: {
          ...e2e,
          ...TWO_AT_ONCE,
          name: 'e2e-on-demand',
          include: ON_DEMAND,
          env: { UDN_E2E_RENDERING: 'on-demand' },
        },
      },
    ],
  },
});
