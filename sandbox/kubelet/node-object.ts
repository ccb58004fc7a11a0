/** Keeps this node's Node object: made when it is absent, its Ready condition that of the network. */

import { arch, cpus, totalmem } from 'node:os';
import { isAlreadyExists } from '../../kube/errors.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import { NODES } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { NetworkReadiness, NetworkState } from './network-readiness.ts';
import type { NodeIdentity } from './pod-containers.ts';

export interface NodeObjectOptions {
  readonly client: KubeClient;
  readonly node: NodeIdentity;
  readonly network: NetworkReadiness;
  readonly version: string;
  readonly onError: (error: unknown) => void;
}

const RETRY_MS = 500;
const MAX_PODS = '250';
const FIELD_MANAGER = 'kubelet';

/** Until `signal` aborts. */
export const keepNodeObject = async (options: NodeObjectOptions, signal: AbortSignal): Promise<void> => {
  const { client, node, network } = options;
  const write = serially(() => writeNode(options), options.onError, signal);
  const mirror = createReflector({
    client,
    resource: NODES,
    fieldSelector: `metadata.name=${node.name}`,
    project: ({ metadata }) => metadata.uid,
  });
  mirror.subscribe(({ type }) => type === 'deleted' && write());
  network.onChange(() => write());
  write();
  await mirror.run(signal);
};

/** Runs one at a time, once more when it was asked for meanwhile, and again after a failure. */
const serially = (work: () => Promise<void>, onError: (error: unknown) => void, signal: AbortSignal): (() => void) => {
  let [isRunning, isRequested] = [false, false];
  const run = async (): Promise<void> => {
    while (isRequested && !signal.aborted) {
      isRequested = false;
      await work().catch((error: unknown) => {
        onError(error);
        setTimeout(ask, RETRY_MS).unref();
      });
    }
    isRunning = false;
  };
  const ask = (): void => {
    isRequested = true;
    if (isRunning) return;
    isRunning = true;
    void run();
  };
  return ask;
};

const writeNode = async ({ client, node, network, version }: NodeObjectOptions): Promise<void> => {
  const { name } = node;
  const metadata = { name, labels: labelsOf(name) };
  await client.create(NODES, { metadata }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
  await client.patch(NODES, { name }, { type: 'merge', body: { metadata: { labels: metadata.labels } } });
  const status = statusOf(node, version);
  await client.patch(NODES, { name }, { type: 'merge', body: { status } }, { subresource: 'status' });
  // Conditions of other programs have to stay, and a merge patch would replace the list.
  const conditions = conditionsOf(network.current());
  const body = { apiVersion: 'v1', kind: 'Node', metadata: { name }, status: { conditions } };
  const patch = { type: 'apply', body, fieldManager: FIELD_MANAGER, force: true } as const;
  await client.patch(NODES, { name }, patch, { subresource: 'status' });
};

const labelsOf = (name: string): Record<string, string> => ({
  'kubernetes.io/hostname': name,
  'kubernetes.io/os': 'linux',
  'kubernetes.io/arch': goArchitecture(),
});

const goArchitecture = (): string => ({ x64: 'amd64', arm64: 'arm64' })[arch() as string] ?? arch();

const conditionsOf = (network: NetworkState): unknown[] => {
  const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  const condition = (type: string, status: string, reason: string, message: string): unknown => ({
    ...{ type, status, reason, message },
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  });
  return [
    condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
    condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    network.isReady
      ? condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status')
      : condition('Ready', 'False', 'KubeletNotReady', `container runtime network not ready: ${network.reason}`),
  ];
};

const statusOf = ({ name, addresses }: NodeIdentity, version: string): unknown => {
  const resources = { cpu: String(cpus().length), memory: `${Math.floor(totalmem() / 1024)}Ki`, pods: MAX_PODS };
  return {
    addresses: [...addresses.map((address) => ({ type: 'InternalIP', address })), { type: 'Hostname', address: name }],
    capacity: resources,
    allocatable: resources,
    nodeInfo: {
      architecture: goArchitecture(),
      operatingSystem: 'linux',
      kubeletVersion: `v${version}-sandbox`,
      containerRuntimeVersion: `toolbox://${version}`,
      ...{ bootID: '', machineID: '', systemUUID: '', kernelVersion: '', osImage: 'sandbox', kubeProxyVersion: '' },
    },
    daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
  };
};
