/**
 * Pods on three networks: their tenant's primary one, a secondary layer-2 network, and a VLAN of the physical network. Who reaches them
 * by each of the three.
 */
import { POD_ANNOTATIONS, PRIMARY_NETWORK_LABEL, UDN_API_VERSION } from '../api/names.ts';
import { type Ip, ipFamily } from '../net/ip.ts';
import type { ManifestObject, Sandbox } from '../sandbox/index.ts';
import { GATEWAY_BRIDGE } from '../sandbox/plan/links.ts';
import { readPods } from '../test/oracles/reachability/measure.ts';
import type { ReachabilityPod } from '../test/oracles/reachability/types.ts';
import { waitUntilReady } from './readiness.ts';
import type { Terminal } from './terminal.ts';

const VLAN = 100;
const HOST = 'a host of the VLAN';
/** An Open vSwitch port of the other node's bridge: between it and the pod are the uplinks of both nodes, which are trunks. */
const HOST_PORT = { node: 'node-2', name: `vlan${VLAN}`, addresses: ['10.61.0.250/24', 'fd00:10:61::fa/64'] } as const;

export interface AttachmentPlan {
  readonly objects: readonly ManifestObject[];
  /** Of the tenant, on its primary network only. */
  readonly stranger: string;
  readonly from: string;
  readonly to: string;
}

/** One connection by TCP. */
export interface Reached {
  readonly from: string;
  readonly to: string;
  readonly network: string;
  readonly address: Ip;
  readonly expected: boolean;
  /** Whoever answered said that it is the one meant. */
  readonly observed: boolean;
}

/** In the namespace of the first network. Undefined: there is no pod of it that is not attached, or no other node. */
export const planAttachments = (
  manifests: readonly ManifestObject[],
  pods: readonly ReachabilityPod[],
): AttachmentPlan | undefined => {
  const { metadata: { namespace } = {} } = manifests.find(({ kind }) => kind === 'UserDefinedNetwork') ?? {};
  const stranger = pods.find(({ key }) => key.startsWith(`${namespace}/`))?.key;
  const nodes = new Set(pods.map(({ node }) => node));
  if (namespace === undefined || stranger === undefined || !nodes.has(HOST_PORT.node) || nodes.size < 2)
    return undefined;
  const attached = (name: string, node: string): ManifestObject => podOf(namespace, name, node);
  return {
    objects: [storage(namespace), VLAN_NETWORK, attached('attached-1', 'node-1'), attached('attached-2', 'node-2')],
    stranger,
    from: `${namespace}/attached-1`,
    to: `${namespace}/attached-2`,
  };
};

/** @returns who reached whom; all that it has made is gone again */
export const measureAttachments = async (
  sandbox: Sandbox,
  plan: AttachmentPlan,
  timeoutSeconds: number,
): Promise<Reached[]> => {
  const objects = await sandbox.objects();
  try {
    await addHost(sandbox);
    await objects.apply(plan.objects);
    await waitUntilReady(sandbox, plan.objects, timeoutSeconds, () => {});
    const pods = new Map((await readPods(objects)).map((pod) => [pod.key, pod]));
    return await Promise.all(trialsOf(plan, pods).map((trial) => reach(sandbox, trial)));
  } finally {
    await objects.delete([...plan.objects].reverse());
    await sandbox.node(HOST_PORT.node, ['ovs-vsctl', '--if-exists', 'del-port', GATEWAY_BRIDGE, HOST_PORT.name]);
  }
};

export const areAttachmentsRight = (results: readonly Reached[]): boolean =>
  results.every(({ expected, observed }) => expected === observed);

/** A line for each network and sender, with both families. */
export const renderAttachments = (results: readonly Reached[], { paint }: Pick<Terminal, 'paint'>): string => {
  const lines = [
    ...Map.groupBy(results, ({ from, to, network }) => [from, '→', to, 'by', network].join('  ')).entries(),
  ];
  const width = Math.max(...lines.map(([way]) => way.length));
  return lines
    .map(([way, tries]) => {
      const marks = tries.map(({ address, observed }) => `IPv${ipFamily(address)} ${observed ? '✓' : '·'}`).join('  ');
      return paint(areAttachmentsRight(tries) ? 'good' : 'bad', `${way.padEnd(width)}  ${marks}`);
    })
    .join('\n');
};

type Trial = Omit<Reached, 'observed'> & { readonly hostname: string };

/** From a pod that has all three networks, from one that has the primary one, and from a host of the VLAN. */
const trialsOf = (plan: AttachmentPlan, pods: ReadonlyMap<string, ReachabilityPod>): Trial[] => {
  const { hostname = '', attachments = [] } = pods.get(plan.to) ?? {};
  return attachments
    .filter(({ role }) => role !== 'infrastructure-locked')
    .flatMap(({ network, role, addresses }) => {
      const isVlan = network.endsWith(`_${VLAN_NETWORK.metadata.name}`);
      const senders: [string, boolean][] = [
        [plan.from, true],
        [plan.stranger, role === 'primary'],
        ...(isVlan ? [[HOST, true] as [string, boolean]] : []),
      ];
      return senders.flatMap(([from, expected]) =>
        addresses.map((address) => ({ from, to: plan.to, network, address, expected, hostname })),
      );
    });
};

const reach = async (sandbox: Sandbox, { hostname, ...trial }: Trial): Promise<Reached> => {
  const host = ipFamily(trial.address) === 6 ? `[${trial.address}]` : trial.address;
  // The first packets may find that a peer's address is still being resolved.
  const retry = trial.expected ? ['--retry', '5', '--retry-all-errors', '--retry-delay', '1'] : [];
  const argv = ['curl', '-sg', '--max-time', trial.expected ? '10' : '2', ...retry, `http://${host}:8080/hostname`];
  const run = trial.from === HOST ? sandbox.node(HOST_PORT.node, argv) : sandbox.exec(trial.from, argv);
  const answer = await run.then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
  return { ...trial, observed: answer === hostname };
};

const addHost = async (sandbox: Sandbox): Promise<void> => {
  const { node, name, addresses } = HOST_PORT;
  const add = ['--may-exist', 'add-port', GATEWAY_BRIDGE, name, `tag=${VLAN}`, '--', 'set', 'Interface', name];
  await sandbox.node(node, ['ovs-vsctl', ...add, 'type=internal']);
  await sandbox.node(node, ['ip', 'link', 'set', name, 'up']);
  for (const address of addresses) {
    const nodad = address.includes(':') ? ['nodad'] : [];
    await sandbox.node(node, ['ip', 'addr', 'add', address, 'dev', name, ...nodad]);
  }
};

const storage = (namespace: string): ManifestObject => ({
  apiVersion: UDN_API_VERSION,
  kind: 'UserDefinedNetwork',
  metadata: { name: 'storage', namespace },
  spec: { topology: 'Layer2', layer2: { role: 'Secondary', subnets: ['10.60.0.0/24', 'fd00:10:60::/64'] } },
});

const VLAN_NETWORK: ManifestObject = {
  apiVersion: UDN_API_VERSION,
  kind: 'ClusterUserDefinedNetwork',
  metadata: { name: `vlan-${VLAN}` },
  spec: {
    namespaceSelector: { matchExpressions: [{ key: PRIMARY_NETWORK_LABEL, operator: 'Exists' }] },
    network: {
      topology: 'Localnet',
      localnet: {
        role: 'Secondary',
        physicalNetworkName: 'physnet',
        subnets: ['10.61.0.0/24', 'fd00:10:61::/64'],
        vlan: { mode: 'Access', access: { id: VLAN } },
      },
    },
  },
};

const podOf = (namespace: string, name: string, nodeName: string): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace,
    annotations: { [POD_ANNOTATIONS.selection]: `storage,${VLAN_NETWORK.metadata.name}` },
  },
  spec: { nodeName, containers: [{ name: 'main', image: 'toolbox' }] },
});
