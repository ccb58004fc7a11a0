/**
 * What this project relies on of an API server, asked of a real one: of the kubeconfig that UDN_CONFORMANCE_KUBECONFIG
 * names, for a server that may be filled with namespaces. It needs no controllers; UDN_CONFORMANCE_CONTROLLERS=true says
 * that kube-controller-manager runs. Without a kubeconfig there is nothing to ask.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../kube/client/connect.ts';
import { loadConnection } from '../../kube/config/load.ts';
import { createEmbeddedCluster } from '../../kube/embedded/cluster.ts';
import type { KubeClient } from '../../kube/types.ts';
import { runKubeDifferential } from '../conformance/kube/differential.ts';
import { runKubeConformance } from '../conformance/kube/suite.ts';

const kubeconfig = process.env['UDN_CONFORMANCE_KUBECONFIG'];
const hasControllers = process.env['UDN_CONFORMANCE_CONTROLLERS'] === 'true';

const connectToServer = async (): Promise<KubeClient> =>
  connect(await loadConnection({ kubeconfig, env: {} }), { userAgent: 'conformance' });

describe.skipIf(kubeconfig === undefined)('a real API server', () => {
  runKubeConformance({
    name: 'real',
    bookmarkSeconds: 12,
    withoutControllers: !hasControllers,
    newServer: async () => {
      const client = await connectToServer();
      return {
        client,
        close: () => {
          client.close();
          return Promise.resolve();
        },
      };
    },
  });

  describe('beside the embedded one', () => {
    let reference: KubeClient;
    beforeAll(async () => {
      reference = await connectToServer();
    });
    afterAll(() => reference?.close());

    it('answers random requests alike', async () => {
      const seeds = Array.from({ length: 20 }, (_, i) => i + 1);
      const subject = createEmbeddedCluster().client();
      expect(await runKubeDifferential({ reference, subject, seeds, steps: 25 })).toEqual([]);
    }, 300_000);
  });
});
