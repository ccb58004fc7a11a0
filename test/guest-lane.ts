/** Scenarios that need what a kernel may lack (docs/testing.md), and so are in a guest on most machines: a lane of their own. */
export const GUEST_LANE = [
  'test/e2e/cleanup-local.test.ts',
  'test/e2e/encryption.test.ts',
  'test/e2e/hostile-kernel-local.test.ts',
  'test/e2e/hostile-kernel.test.ts',
  'test/e2e/north-south-kernel.test.ts',
  'test/e2e/north-south-local.test.ts',
  'test/e2e/service-kernel-local.test.ts',
  'test/e2e/service-kernel.test.ts',
  'test/e2e/service-names-real.test.ts',
  'test/e2e/steady-kernel.test.ts',
  'test/guest/guest.test.ts',
];
