/** What this project relies on of an API server, asked of a real one. Needs root and `make build`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmbeddedCluster } from '../../kube/embedded/cluster.ts';
import type { KubeClient } from '../../kube/types.ts';
import { runKubeDifferential } from '../conformance/kube/differential.ts';
import { type RealServer, realServerHasControllers, startRealServer } from '../conformance/kube/real-server.ts';
import { runKubeConformance } from '../conformance/kube/suite.ts';

let server: RealServer;
beforeAll(async () => {
  server = await startRealServer('test-conformance');
}, 120_000);
afterAll(() => server?.close());

runKubeConformance({
  name: 'a real API server',
  bookmarkSeconds: 12,
  withoutControllers: !realServerHasControllers,
  newServer: async () => {
    const client = await server.connect();
    return {
      client,
      ...(server.compact === undefined ? {} : { compact: server.compact }),
      close: () => {
        client.close();
        return Promise.resolve();
      },
    };
  },
});

describe('a real API server beside the embedded one', () => {
  let reference: KubeClient;
  beforeAll(async () => {
    reference = await server.connect();
  });
  afterAll(() => reference?.close());

  it('answers random requests alike', async () => {
    const seeds = Array.from({ length: 20 }, (_, i) => i + 1);
    const subject = createEmbeddedCluster().client();
    expect(await runKubeDifferential({ reference, subject, seeds, steps: 25 })).toEqual([]);
  }, 300_000);
});
