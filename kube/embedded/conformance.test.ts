import { runKubeConformance } from '../../test/conformance/kube/suite.ts';
import { createEmbeddedCluster } from './cluster.ts';

runKubeConformance({
  name: 'embedded, in process',
  bookmarkSeconds: 1,
  newServer: () => {
    const cluster = createEmbeddedCluster();
    return Promise.resolve({
      client: cluster.client(),
      compact: () => Promise.resolve(cluster.compact()),
      close: () => Promise.resolve(cluster.close()),
    });
  },
});
