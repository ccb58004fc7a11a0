/**
 * Scenarios that need what a kernel may lack (docs/testing.md), and so run in a guest on most machines. Each of the two lanes has a
 * guest of its own, which has one cluster at a time. Both at once take more processor time than two processors have: scenarios miss their
 * deadlines then.
 */

/** Local gateway mode, and what else takes about as long as the other lane. */
export const GUEST_LOCAL_LANE = [
  'test/e2e/cleanup-local.test.ts',
  'test/e2e/hostile-kernel-local.test.ts',
  'test/e2e/north-south-local.test.ts',
  'test/e2e/service-kernel-local.test.ts',
  'test/guest/guest.test.ts',
];

/** Shared gateway mode, encryption, real kubelets. */
export const GUEST_LANE = [
  'test/e2e/encryption.test.ts',
  'test/e2e/hostile-kernel.test.ts',
  'test/e2e/north-south-kernel.test.ts',
  'test/e2e/service-kernel.test.ts',
  'test/e2e/service-names-real.test.ts',
  'test/e2e/steady-kernel.test.ts',
];
