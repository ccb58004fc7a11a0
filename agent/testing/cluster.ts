/**
 * A small cluster as facts, for tests of features: what is not said has a default that makes the row complete.
 * Over 300 lines: one class, whose methods are what a test can say.
 */
import { DEFAULT_ALLOWED_SERVICES, parseAllowedServices } from '../../api/allowed-services.ts';
import { attachmentsOf, parseNetworkSelections } from '../../api/annotations/network-selection.ts';
import type { OpenPort } from '../../api/annotations/open-default-ports.ts';
import type { PodNetworkEntry } from '../../api/annotations/pod-networks.ts';
import { type ClusterConfig, type ClusterSetting, parseClusterConfig } from '../../api/cluster-config.ts';
import { parseForeignConf } from '../../api/foreign-conf.ts';
import { defaultNetwork, type Network, type Topology } from '../../api/network.ts';
import type { ServicePort, ServiceProtocol, TrafficPolicy } from '../../api/service.ts';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { parseCidr, parseInterfaceAddress } from '../../net/cidr.ts';
import { parseDatapathKey, parseNetworkId, parseNodeId, parsePortKey } from '../../net/ids.ts';
import { type Family, parseIp } from '../../net/ip.ts';
import { macFromIp, parseMac } from '../../net/mac.ts';
import { NetworkUsage } from '../cni/attachments/network-usage.ts';
import { createEngine, type Engine } from '../desired/engine.ts';
import { FEATURES } from '../features/index.ts';
import { HostPortClaims } from '../inputs/host-port-claims.ts';
import { ServiceIndex } from '../inputs/service-index.ts';
import { FactStore } from '../model/fact-store.ts';
import { type EndpointFact, LOCAL, nodeSubnetsId, type PodFact, type SliceFact } from '../model/facts.ts';
import type { LocalSettings } from '../model/view.ts';
import { type RenderDocument, renderDocument } from '../render/document.ts';
import { MemorySinks } from '../render/memory-sinks.ts';

export interface NodeInput {
  readonly id?: number;
  readonly transit?: readonly string[];
  readonly subnets?: Readonly<Record<string, readonly string[]>>;
  readonly encapIps?: readonly string[];
  readonly withoutChassis?: boolean;
  readonly zone?: string;
}

export interface NetworkInput {
  readonly id: number;
  readonly topology: Topology;
  readonly subnets: readonly string[];
  readonly namespace: string;
  readonly nad: string;
  readonly tunnelKeys?: readonly number[];
  /** Primary where nothing is said. */
  readonly role?: 'secondary';
  /** Its NAD was written by hand. */
  readonly handmade?: boolean;
  /** Of a localnet; absent: untagged, of `physnet`. */
  readonly physical?: Network['physical'];
}

export interface GatewayInput {
  readonly mode?: 'shared' | 'local';
  readonly bridge?: string;
  readonly mac?: string;
  readonly addresses: readonly string[];
  readonly hostAddresses?: readonly string[];
  readonly nextHops?: readonly string[];
  readonly vlanId?: number;
  /** Null: a bridge without one. */
  readonly uplink?: string | null;
}

export interface PodInput {
  readonly node: string;
  /** NAD key → addresses with prefix length, and the key of the port on layer 2. */
  readonly networks: Readonly<
    Record<string, { ips: readonly string[]; tunnelId?: number; role?: PodNetworkEntry['role'] }>
  >;
  readonly uid?: string;
  readonly finished?: boolean;
  readonly hostNetwork?: boolean;
  readonly openPorts?: readonly OpenPort[];
  readonly unreadableOpenPorts?: string;
  readonly barred?: string;
  readonly leaving?: boolean;
  /** Its annotation `k8s.v1.cni.cncf.io/networks`. */
  readonly selects?: string;
  readonly unreadableSelection?: string;
  readonly ignored?: PodFact['ignored'];
  readonly bandwidth?: PodFact['bandwidth'];
  readonly unreadableBandwidth?: string;
  readonly hostPorts?: PodFact['hostPorts'];
  readonly refusedHostPorts?: PodFact['refusedHostPorts'];
  readonly createdAt?: string;
}

export interface ServiceInput {
  readonly ips: readonly string[];
  /** `NAME:PROTOCOL/NUMBER`, or `PROTOCOL/NUMBER`, with `@NUMBER` for a node port: `http:TCP/80@30080`. */
  readonly ports: readonly string[];
  readonly affinitySeconds?: number;
  readonly externalIps?: readonly string[];
  readonly loadBalancerIps?: readonly string[];
  readonly badIps?: readonly string[];
  readonly externalTrafficPolicy?: TrafficPolicy;
  readonly internalTrafficPolicy?: TrafficPolicy;
  readonly healthCheckNodePort?: number;
  readonly createdAt?: string;
}

/** An address, or one with where it runs and whom it is meant for. */
export type EndpointInput = string | (Omit<EndpointFact, 'ip'> & { readonly ip: string });

export interface SliceInput extends Partial<Pick<SliceFact, 'madeFor' | 'network'>> {
  readonly name?: string;
  readonly family?: Family;
  /** As those of the Service, with the endpoints' numbers. */
  readonly ports: readonly string[];
  readonly ready?: readonly EndpointInput[];
  readonly terminating?: readonly EndpointInput[];
}

/** How long a network that is rendered on demand stays. */
export const GRACE_MS = 60_000;
/** The cluster as `localNode` sees it, and what its agent would want. */
export class TestCluster {
  readonly facts = new FactStore();
  readonly sinks = new MemorySinks();
  readonly #services = new ServiceIndex(this.facts);
  readonly #hostPorts = new HostPortClaims(this.facts);
  readonly settings: LocalSettings;
  /** How long ago something was used. */
  readonly clock = createFakeClock();
  readonly engine: Engine;
  /** Owners that each flush rendered. */
  readonly flushes: (readonly string[])[] = [];

  constructor(
    localNode: string,
    settings: Partial<Record<ClusterSetting, string>> = {},
    local: Partial<LocalSettings> = {},
  ) {
    const cluster: ClusterConfig = parseClusterConfig(settings);
    this.settings = {
      node: localNode,
      cluster,
      encapIps: [parseIp('172.30.0.2')],
      southboundRemote: 'unix:/run/ovn/ovnsb_db.sock',
      networkRendering: 'always',
      allowedDefaultServices: parseAllowedServices(DEFAULT_ALLOWED_SERVICES),
      ...local,
    };
    this.facts.set('kubeletCgroup', LOCAL, { path: 'kubelet.slice/kubelet.service', level: 2 });
    this.facts.set('network', 'default', { ...defaultNetwork(cluster), id: parseNetworkId(0), tunnelKeys: [] });
    this.engine = createEngine({
      features: FEATURES,
      facts: this.facts,
      settings: this.settings,
      sinks: { ...this.sinks, usage: new NetworkUsage({ facts: this.facts, clock: this.clock, graceMs: GRACE_MS }) },
      schedule: () => undefined,
      onFlush: (owners) => this.flushes.push(owners),
    });
    this.engine.start();
  }

  node(name: string, input: NodeInput = {}): this {
    this.facts.set('node', name, {
      name,
      id: input.id === undefined ? undefined : parseNodeId(input.id),
      chassisId: input.withoutChassis === true ? undefined : `chassis-${name}`,
      encapIps: (input.encapIps ?? []).map(parseIp),
      transitAddresses: (input.transit ?? []).map(parseInterfaceAddress),
      gatewayMtuSupport: true,
      ...(input.zone !== undefined && { zone: input.zone }),
    });
    for (const [network, subnets] of Object.entries(input.subnets ?? {})) this.subnets(name, network, subnets);
    return this;
  }

  /** Of `br-ex`, with the outside behind `eth0`, when nothing else is said. */
  gateway(node: string, input: GatewayInput): this {
    const bridge = input.bridge ?? 'br-ex';
    this.facts.set('gateway', node, {
      mode: input.mode ?? 'shared',
      bridge,
      interfaceId: `${bridge}_${node}`,
      mac: parseMac(input.mac ?? '02:00:00:00:00:01'),
      addresses: input.addresses.map(parseInterfaceAddress),
      nextHops: (input.nextHops ?? []).map(parseIp),
      nodePortEnable: true,
      vlanId: input.vlanId ?? 0,
      uplink: input.uplink === undefined ? 'eth0' : (input.uplink ?? undefined),
    });
    this.facts.set('hostAddresses', node, (input.hostAddresses ?? input.addresses).map(parseInterfaceAddress));
    return this;
  }

  subnets(node: string, network: string, subnets: readonly string[]): this {
    this.facts.set('nodeSubnets', nodeSubnetsId(node, network), subnets.map(parseCidr));
    return this;
  }

  namespace(name: string, wantsPrimaryNetwork = false): this {
    this.facts.set('namespace', name, { name, wantsPrimaryNetwork });
    return this;
  }

  network(name: string, input: NetworkInput): this {
    const network: Network = {
      name,
      topology: input.topology,
      ...(input.topology === 'localnet' && { physical: input.physical ?? { name: 'physnet' } }),
      role: input.role ?? 'primary',
      subnets: input.subnets.map((cidr) => ({ cidr: parseCidr(cidr) })),
      joinSubnets: input.role === 'secondary' ? [] : this.settings.cluster.udnJoinSubnets,
      transitSubnets: this.settings.cluster.transitSubnets,
      mtu: 1400,
      excludedSubnets: [],
      reservedSubnets: [],
      infrastructureSubnets: [],
      defaultGatewayIps: [],
    };
    const nad = `${input.namespace}/${input.nad}`;
    this.facts.set('network', name, {
      ...network,
      id: parseNetworkId(input.id),
      tunnelKeys: (input.tunnelKeys ?? []).map(parseDatapathKey),
    });
    this.facts.set('nad', nad, name);
    if (input.handmade) this.facts.set('handmadeNad', nad, true);
    if (input.role !== 'secondary') this.facts.set('primaryNad', input.namespace, { nad, network: name });
    return this;
  }

  /** The bridge of this node that a physical network is mapped to. */
  mapped(physicalNetwork: string, bridge: string | undefined): this {
    this.facts.set('physicalBridge', physicalNetwork, bridge);
    return this;
  }

  /** A NAD of another plugin, by its `spec.config`. */
  foreignNad(key: string, config: object = { type: 'macvlan' }): this {
    const [namespace = '', name = ''] = key.split('/');
    const conf = parseForeignConf(JSON.stringify({ cniVersion: '1.0.0', ...config }), { namespace, name });
    this.facts.set('foreignNad', key, { conf });
    return this;
  }

  pod(key: string, input: PodInput): this {
    const [namespace = '', name = ''] = key.split('/');
    const networks = new Map(
      Object.entries(input.networks).map(([nad, { ips, tunnelId, role }]): [string, PodNetworkEntry] => {
        const ipAddresses = ips.map(parseInterfaceAddress);
        const first = ips[0]?.split('/')[0];
        return [
          nad,
          {
            ipAddresses,
            mac: first === undefined ? parseMac('0a:58:00:00:00:01') : macFromIp(parseIp(first)),
            gatewayIps: [],
            routes: [],
            tunnelId: tunnelId === undefined ? undefined : parsePortKey(tunnelId),
            role,
          },
        ];
      }),
    );
    const { node, uid = `uid-${name}`, finished = false, hostNetwork = false, networks: _, selects, ...rest } = input;
    const { createdAt = '2026-01-01T00:00:00Z', ...fields } = rest;
    const fact: PodFact = {
      ...{ namespace, name, uid, runtimeUid: uid, node, hostNetwork, finished, networks },
      ...(selects !== undefined && { selected: attachmentsOf(parseNetworkSelections(selects, key)) }),
      ...fields,
    };
    this.facts.set('pod', key, fact);
    this.#hostPorts.set(key, fact, createdAt);
    return this;
  }

  withoutPod(key: string): this {
    this.facts.set('pod', key, undefined);
    this.#hostPorts.set(key, undefined, '');
    return this;
  }

  /** @param key `namespace/name` */
  service(key: string, { ips, ports, externalIps = [], loadBalancerIps = [], ...rest }: ServiceInput): this {
    const [namespace = '', name = ''] = key.split('/');
    this.#services.change(key, {
      namespace,
      name,
      affinitySeconds: undefined,
      externalTrafficPolicy: 'Cluster',
      internalTrafficPolicy: 'Cluster',
      healthCheckNodePort: undefined,
      createdAt: '2026-01-01T00:00:00Z',
      ...rest,
      clusterIps: ips.map(parseIp),
      ports: ports.map(portOf),
      externalIps: externalIps.map(parseIp),
      loadBalancerIps: loadBalancerIps.map(parseIp),
    });
    return this;
  }

  withoutService(key: string): this {
    this.#services.change(key, undefined);
    return this;
  }

  /** All slices of a Service. @param key its `namespace/name` */
  slices(key: string, ...inputs: readonly SliceInput[]): this {
    const slices = inputs.map(
      ({ ready = [], terminating = [], ports, ...rest }, index): SliceFact => ({
        name: `slice-${index}`,
        madeFor: 'any',
        family: 4,
        ...rest,
        ports: ports.map(portOf),
        ready: ready.map(endpointOf),
        terminating: terminating.map(endpointOf),
      }),
    );
    this.facts.set('serviceSlices', key, slices.length === 0 ? undefined : slices);
    return this;
  }

  render(): RenderDocument {
    this.engine.flush();
    return renderDocument(this.sinks, this.engine.diagnostics);
  }
}

const portOf = (text: string): ServicePort => {
  const [, name = '', protocol, port, nodePort] =
    /^(?:([^:]+):)?(TCP|UDP|SCTP)\/([0-9]+)(?:@([0-9]+))?$/.exec(text) ?? [];
  const found = { name, protocol: protocol as ServiceProtocol, port: Number(port) };
  return nodePort === undefined ? found : { ...found, nodePort: Number(nodePort) };
};

const endpointOf = (input: EndpointInput): EndpointFact =>
  typeof input === 'string' ? { ip: parseIp(input) } : { ...input, ip: parseIp(input.ip) };
