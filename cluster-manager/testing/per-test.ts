/** A cluster for each test of a file. */
import { afterEach, beforeEach } from 'vitest';
import { createTestCluster, type TestCluster, type TestClusterOptions } from './harness.ts';

interface ClusterPerTest {
  /** That of the test that runs now. */
  readonly cluster: TestCluster;
  /** Goes on with an empty one that has other options. */
  reopen(options: TestClusterOptions): Promise<void>;
}

/** To be called once in a file. Each test has an empty cluster, which is closed after it. */
export const clusterPerTest = ({ isStarted = false } = {}): ClusterPerTest => {
  let current: TestCluster;
  beforeEach(async () => {
    current = await createTestCluster();
    if (isStarted) current.start();
  });
  afterEach(() => current.close());
  return {
    cluster: new Proxy({} as TestCluster, { get: (_, name) => Reflect.get(current, name) }),
    reopen: async (options) => {
      await current.close();
      current = await createTestCluster(options);
    },
  };
};
