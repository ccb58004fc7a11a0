/**
 * Ports of the node that lead to pods of it (`spec.containers[].ports[].hostPort`), on each pod's primary network. They take the paths of
 * node ports: load balancers, the gateway bridge, nftables (docs/adr/0129-carry-host-ports-by-the-paths-of-node-ports.md).
 */
import { ipFamily } from '../../../../net/ip.ts';
import { type PodFact, podKey } from '../../../model/facts.ts';
import { type Diagnostic, EMPTY_FRAGMENT, type FeatureOver, type Fragment } from '../../../model/fragment.ts';
import type { PortClaim } from '../../../model/node-ports.ts';
import type { View } from '../../../model/view.ts';
import { onBridge } from '../../shared/bridge/flow.ts';
import { merge } from '../../shared/ovn/merge.ts';
import { errorFlows, nodePortFlows } from '../bridge/flows.ts';
import { serviceSite } from '../bridge/site.ts';
import { hasGateway } from '../local-node.ts';
import { loadBalancer } from '../ovn/load-balancer.ts';
import { balancersOf } from './balancers.ts';
import { hostPortElements } from './elements.ts';
import { type HostPorts, hostPortsOf } from './open.ts';

export const hostPorts: FeatureOver<'pod'> = {
  name: 'host-ports',
  over: 'pod',
  render: ({ pod: key }, view) => {
    const pod = view.pod(key);
    const found = pod && hostPortsOf(pod, view);
    if (pod === undefined || found === undefined) return EMPTY_FRAGMENT;
    const isLocalMode = view.gatewayMode(view.node) === 'local';
    const site = { cluster: view.cluster, isLocalMode, hasRouter: hasGateway(found.network.name, view) };
    const { network, open } = found;
    const balancers = balancersOf(open, site).map((config) =>
      loadBalancer({ owner: ownerOf(pod), network, node: view.node, cluster: view.cluster }, config),
    );
    return {
      northbound: merge(...balancers),
      nftables: { items: hostPortElements(found, key, site) },
      nodePorts: { items: claimsOf(found, key) },
      diagnostics: found.refusals.map((message) => diagnosticOf(key, message)),
      ...(isLocalMode ? {} : bridgeFlows(found, view)),
      ...loopbackSetting(found, view),
    };
  },
};

const ownerOf = (pod: PodFact) => ({ kind: 'Pod' as const, key: podKey(pod), affinitySeconds: undefined });

const diagnosticOf = (key: string, message: string): Diagnostic => ({
  object: `Pod/${key}`,
  severity: 'warning',
  cause: 'host-port-refused',
  message,
  event: 'HostPortNotOpen',
});

/** In shared gateway mode. At other links, what comes is the host's. */
const bridgeFlows = ({ network, open }: HostPorts, view: View): Fragment => {
  const site = serviceSite(network.name, view);
  if (site === undefined) return {};
  const flows = open.flatMap((one) => {
    const nodePortIps = one.addresses.filter((ip) => site.nodePortIps.includes(ip));
    if (nodePortIps.length === 0) return [];
    const port = { name: '', protocol: one.protocol, port: one.port, nodePort: one.port, ...NO_ENDPOINTS };
    const here = { ...site, nodePortIps };
    return [...nodePortFlows(here, { clusterIps: nodePortIps }, port), ...errorFlows(here, [port])];
  });
  const different = new Map(flows.map((flow) => [JSON.stringify([flow.table, flow.priority, flow.match]), flow]));
  return { openflow: { items: onBridge(site.bridge, [...different.values()]) } };
};

/** None of them is the node itself. */
const NO_ENDPOINTS = { externalIps: [], hostEndpoints: [], soleEndpoints: [] } as const;

/**
 * What processes send from `127.0.0.1` leaves by the bridge, and what they are answered comes in there
 * (Documentation/networking/ip-sysctl.rst, `route_localnet`). From elsewhere nothing comes to such an address: `hostPortLoopback`.
 */
const loopbackSetting = ({ open }: HostPorts, view: View): Fragment => {
  const bridge = view.gateway(view.node)?.bridge;
  if (bridge === undefined || !open.some(({ loopbacks }) => loopbacks.length > 0)) return {};
  return { host: { items: [{ kind: 'sysctl', sysctl: { key: `ipv4/conf/${bridge}/route_localnet`, value: '1' } }] } };
};

/** So that a process that listens there is reported: it gets nothing any more. */
const claimsOf = ({ open }: HostPorts, key: string): PortClaim[] =>
  open.flatMap(({ protocol, port, addresses, loopbacks }): PortClaim[] => {
    if (protocol === 'SCTP') return [];
    return [...addresses, ...loopbacks].map((ip) => ({
      kind: 'claim',
      object: `Pod/${key}`,
      ...{ protocol, port, ip, families: [ipFamily(ip)] },
    }));
  });
