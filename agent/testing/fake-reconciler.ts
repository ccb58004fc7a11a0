import { DONE, type Reconciler } from '../../base/reconciler.ts';

/** A reconciler that has nothing to do, but for what a test says of it. */
export const fakeReconciler = (overrides: Partial<Reconciler> = {}): Reconciler => ({
  status: () => DONE,
  problems: () => [],
  queue: () => ({ depth: 0, oldestMs: 0, stalledMs: 0, hasCompared: true }),
  whenIdle: () => Promise.resolve(),
  desired: () => [],
  differences: () => Promise.resolve([]),
  ...overrides,
});
