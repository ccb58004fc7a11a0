/** Namespaces, pods and policies on four networks as plain objects, and the index that follows them: for tests of policies. */
import { adminPolicyKey } from '../../api/admin-network-policy.ts';
import type { RankedKind } from '../../api/admin-policy/types.ts';
import type { Labels } from '../../api/label-selector.ts';
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import { defaultNetwork, type Network } from '../../api/network.ts';
import { parseCidr, parseInterfaceAddress } from '../../net/cidr.ts';
import { parseNetworkId } from '../../net/ids.ts';
import { parseIp } from '../../net/ip.ts';
import { projectAdminPolicy } from '../inputs/policies/admin/admin-projection.ts';
import { PolicyIndex } from '../inputs/policies/policy-index.ts';
import { projectPolicy } from '../inputs/policies/policy-projection.ts';
import type { NamedPort, PolicyNamespace, PolicyPod } from '../inputs/policies/types.ts';
import { FactStore } from '../model/fact-store.ts';
import { nodeSubnetsId } from '../model/facts.ts';
import type { PolicyProtocol } from '../model/policies/facts.ts';
import { TestCluster } from './cluster.ts';

export interface WorldPod extends Partial<Pick<PolicyPod, 'isLocal' | 'finished' | 'labels' | 'node' | 'isHost'>> {
  /** By NAD key. */
  readonly ips?: Readonly<Record<string, readonly string[]>> | undefined;
  /** `http:tcp:80` */
  readonly ports?: readonly string[] | undefined;
}

/** Namespaces without a network here are on the default one. `own` overlaps `shared`. */
export const WORLD_NETWORKS = {
  t1: { name: 'cluster_udn_shared', subnets: ['10.0.0.0/16', 'fd00::/64'] },
  t2: { name: 'cluster_udn_shared', subnets: ['10.0.0.0/16', 'fd00::/64'] },
  t3: { name: 't3_own', subnets: ['10.0.0.0/16'] },
} as const;
export const DEFAULT_SUBNET = '10.128.0.0/14';
/** Nodes with host-network pods: the addresses that a packet from one has, or is sent to, on the default network. */
export const WORLD_HOSTS = {
  h1: ['10.128.2.2', '192.0.2.11'],
  h2: ['10.128.4.2', '192.0.2.12', '2001:db8::12'],
} as const;

const CLUSTER = new TestCluster('node1');

export class PolicyWorld {
  readonly facts = new FactStore();
  readonly index = new PolicyIndex({ facts: this.facts, settings: CLUSTER.settings });

  constructor() {
    const { settings } = CLUSTER;
    this.facts.set('network', DEFAULT_NETWORK_NAME, {
      ...defaultNetwork(settings.cluster),
      subnets: [{ cidr: parseCidr(DEFAULT_SUBNET), hostPrefix: 23 }],
      id: parseNetworkId(0),
      tunnelKeys: [],
    });
    for (const [node, [management, ...addresses]] of Object.entries(WORLD_HOSTS)) {
      const subnet = parseCidr(`${management.slice(0, management.lastIndexOf('.'))}.0/23`);
      this.facts.set('nodeSubnets', nodeSubnetsId(node, DEFAULT_NETWORK_NAME), [subnet]);
      const lengths = addresses.map((ip) => parseInterfaceAddress(`${ip}/${ip.includes(':') ? 64 : 24}`));
      this.facts.set('hostAddresses', node, lengths);
    }
  }

  /** @param labels undefined: it is gone; the fact about its network stays, as that is another input's */
  namespace(name: string, labels: Labels | undefined, log?: PolicyNamespace['log']): this {
    if (labels !== undefined) this.facts.set('namespace', name, { name, wantsPrimaryNetwork: name in WORLD_NETWORKS });
    this.index.changeNamespace(name, labels && { name, labels, problems: [], ...(log && { log }) });
    return this;
  }

  /** The NAD of a namespace's primary network comes, or goes, with its network. */
  network(namespace: keyof typeof WORLD_NETWORKS, isThere = true): this {
    const { name, subnets } = WORLD_NETWORKS[namespace];
    const nad = `${namespace}/net`;
    const network: Network = {
      ...defaultNetwork(CLUSTER.settings.cluster),
      ...{ name, role: 'primary', topology: 'layer2', subnets: subnets.map((cidr) => ({ cidr: parseCidr(cidr) })) },
    };
    this.facts.set('primaryNad', namespace, isThere ? { nad, network: name } : undefined);
    this.facts.set('nad', nad, isThere ? name : undefined);
    const isUsed = Object.keys(WORLD_NETWORKS).some((other) => this.facts.get('nad', `${other}/net`) === name);
    this.facts.set('network', name, isUsed ? { ...network, id: parseNetworkId(2), tunnelKeys: [] } : undefined);
    return this;
  }

  pod(key: string, input: WorldPod | undefined): this {
    this.index.changePod(key, input && worldPod(key, input));
    return this;
  }

  policy(key: string, spec: unknown, annotations: Readonly<Record<string, string>> = {}): this {
    const { namespace, name } = parts(key);
    const metadata = { namespace, name, uid: `uid-${name}`, annotations };
    this.index.changePolicy(key, spec === undefined ? undefined : projectPolicy({ metadata, ...{ spec } }));
    return this;
  }

  adminPolicy(kind: RankedKind, name: string, spec: unknown): this {
    const metadata = name.includes('/') ? parts(name) : { name };
    const projection = spec === undefined ? undefined : projectAdminPolicy(kind, { metadata, spec });
    this.index.changeAdminPolicy(adminPolicyKey({ kind, name }), projection);
    return this;
  }

  /** @param ips of its status */
  node(name: string, node: { readonly labels: Labels; readonly ips: readonly string[] } | undefined): this {
    this.index.changeNode(name, node && { labels: node.labels, ips: node.ips.map(parseIp) });
    return this;
  }
}

export const worldPod = (key: string, { ips = {}, ports = [], ...rest }: WorldPod): PolicyPod => ({
  ...{ ...parts(key), labels: {}, finished: false, ...rest },
  // Of a host-network pod never.
  isLocal: rest.isHost !== true && rest.isLocal !== false,
  addresses: new Map(Object.entries(ips).map(([nad, texts]) => [nad, texts.map(parseIp)])),
  ports: ports.map((text): NamedPort => {
    const [name = '', protocol, port] = text.split(':');
    return { name, protocol: protocol as PolicyProtocol, port: Number(port) };
  }),
});

const parts = (key: string): { namespace: string; name: string } => {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
};
