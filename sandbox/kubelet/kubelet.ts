/** A small kubelet: runs the pods of its node with real namespaces, cgroups and CNI calls. */
import { createEventRecorder } from '../../kube/events/recorder.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import { PODS } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import { type Cni, createCni } from './cni/invoke.ts';
import { POD_INTERFACE } from './cni/request.ts';
import { createContainerRuntime } from './container-runtime.ts';
import { createExecFiles } from './exec-files.ts';
import { createNetworkReadiness } from './network-readiness.ts';
import { keepNodeObject } from './node-object.ts';
import { CONTAINER_FOLDER, MOUNT_FOLDER, SANDBOX_FOLDER } from './paths.ts';
import type { NodeIdentity } from './pod-containers.ts';
import { createPodSandboxes } from './pod-sandbox.ts';
import { type Pod, readPod } from './pod-spec.ts';
import { PodWorker, type WorkerContext } from './pod-worker.ts';
import { createRecordStore, type SandboxRecord } from './records.ts';

export interface KubeletOptions {
  readonly client: KubeClient;
  readonly node: NodeIdentity;
  /** The node's CNI configuration. */
  readonly confFolder: string;
  readonly version: string;
  readonly onError: (error: unknown) => void;
}

/** Until `signal` aborts. Containers go on running; the next kubelet of the node takes them over. */
export const runKubelet = async (options: KubeletOptions, signal: AbortSignal): Promise<void> => {
  const { client, node, onError } = options;
  const cni = createCni();
  const records = createRecordStore(SANDBOX_FOLDER);
  const runtime = createContainerRuntime({ state: CONTAINER_FOLDER, mounts: MOUNT_FOLDER });
  const network = createNetworkReadiness({ folder: options.confFolder, cni });
  await runtime.open();
  const context: WorkerContext = {
    ...{ client, runtime, records, network, node, onError },
    sandboxes: createPodSandboxes(cni, records),
    execFiles: createExecFiles(),
    events: createEventRecorder({ client, component: 'kubelet', host: node.name }),
  };
  const workers = createWorkers(context);
  const known = await records.load();
  const pods = createReflector({
    client,
    resource: PODS,
    fieldSelector: `spec.nodeName=${node.name}`,
    project: readPod,
    observe: (observation) => observation.kind === 'bad' && onError(observation.reason),
  });
  network.onChange(() => workers.pokeAll());
  runtime.onChange((id) => workers.pokeOwner(id));
  const running = [keepNodeObject({ ...options, network }, signal), pods.run(signal), network.run(signal)];
  await pods.whenSynced(signal).catch(() => {});
  await collectGarbage(context, cni, known);
  workers.adopt(known, [...pods.values()]);
  pods.subscribe(({ before, after }) => workers.change(before, after));
  await Promise.all(running);
  runtime.close();
};

interface Workers {
  /** Takes over what an earlier kubelet left; sandboxes whose pod is gone are removed. */
  adopt(records: readonly SandboxRecord[], pods: readonly Pod[]): void;
  change(before: Pod | undefined, after: Pod | undefined): void;
  pokeAll(): void;
  pokeOwner(containerId: string): void;
}

const createWorkers = (context: WorkerContext): Workers => {
  const workers = new Map<string, PodWorker>();
  const add = (uid: string, record?: SandboxRecord): PodWorker => {
    const worker = new PodWorker(context, record);
    workers.set(uid, worker);
    void worker.ended.then(() => workers.delete(uid));
    return worker;
  };
  return {
    adopt: (records, pods) => {
      const uids = new Set(pods.map(({ metadata }) => metadata.uid));
      for (const record of records) {
        const worker = add(record.pod.uid, record);
        if (!uids.has(record.pod.uid)) worker.update(undefined);
      }
    },
    change: (before, after) => {
      if (before !== undefined && before.metadata.uid !== after?.metadata.uid) {
        workers.get(before.metadata.uid)?.update(undefined);
      }
      if (after !== undefined) (workers.get(after.metadata.uid) ?? add(after.metadata.uid)).update(after);
    },
    pokeAll: () => {
      for (const worker of workers.values()) worker.poke();
    },
    pokeOwner: (containerId) => {
      for (const worker of workers.values()) if (worker.owns(containerId)) worker.poke();
    },
  };
};

/**
 * What CNI plugins hold for containers that this node no longer knows is given back: once, before any pod is attached,
 * and only when the plugins work.
 */
const collectGarbage = async (
  { network, onError }: WorkerContext,
  cni: Cni,
  records: readonly SandboxRecord[],
): Promise<void> => {
  const { conf, isReady } = await network.check();
  if (conf === undefined || !isReady) return;
  const valid = records.filter((record) => record.conf !== undefined);
  const attachments = valid.map(({ id }) => ({ containerId: id, ifName: POD_INTERFACE }));
  await cni.collectGarbage(conf, attachments).catch(onError);
};
