/**
 * Mirrors all pods and says what that takes.
 *
 *   mirror-process.ts reflector|informer KUBECONFIG        run with --expose-gc
 *
 * The reflector keeps what the cluster manager's does, with its indexes; the informer keeps the objects, as it always does.
 * Prints as JSON how many there are, and by how many bytes the heap and the buffers beside it have grown after a full
 * collection, since each has read a list of one pod. Ends when its stdin does.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { POD_MIRROR } from '../../cluster-manager/controllers/caches.ts';
import { connect } from '../../kube/client/connect.ts';
import { loadConnection } from '../../kube/config/load.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import type { ReflectorObservation } from '../../kube/reflector/types.ts';
import { PODS } from '../../kube/resources.ts';

const main = async ([kind, kubeconfig = '']: readonly string[]): Promise<void> => {
  const mirror = kind === 'informer' ? await openInformer(kubeconfig) : await openReflector(kubeconfig);
  const before = await used();
  await mirror.fill();
  console.log(JSON.stringify({ bytes: (await used()) - before, objects: mirror.size() }));
  process.stdin.on('end', () => process.exit()).resume();
};

interface Mirror {
  /** Resolves when it has all pods and watches them. */
  fill(): Promise<void>;
  size(): number;
}

const openReflector = async (kubeconfig: string): Promise<Mirror> => {
  const client = connect(await loadConnection({ kubeconfig, env: {} }), { userAgent: 'bench' });
  await client.list(PODS, { limit: 1 });
  const watching = Promise.withResolvers<void>();
  const observe = ({ kind }: ReflectorObservation): void => {
    if (kind === 'watch-started') watching.resolve();
  };
  const pods = createReflector({ client, resource: PODS, ...POD_MIRROR, observe });
  return {
    fill: async () => {
      void pods.run(new AbortController().signal);
      await watching.promise;
    },
    size: () => pods.size,
  };
};

const openInformer = async (kubeconfig: string): Promise<Mirror> => {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  await core.listPodForAllNamespaces({ limit: 1 });
  const pods = makeInformer(config, '/api/v1/pods', () => core.listPodForAllNamespaces());
  return { fill: () => pods.start(), size: () => pods.list().length };
};

/** Of what is reachable when what the last answer was made of has been let go, which takes some turns of the event loop. */
const used = async (): Promise<number> => {
  for (let turn = 0; turn < TURNS; turn++) {
    await nextTurn();
    globalThis.gc?.();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const TURNS = 5;

await main(process.argv.slice(2));
