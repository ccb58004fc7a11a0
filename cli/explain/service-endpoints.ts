/** Where what comes to a Service is sent, which slice each endpoint is of, and which endpoints are left out. Pure. */
import type { BalancerStatus, ServiceStatus } from '../../api/agent-status.ts';
import { type Check, missing, ok } from './check.ts';

type Slice = ServiceStatus['slices'][number];

export const sliceChecks = (service: ServiceStatus): Check[] => {
  const { slices, network } = service;
  const counting = slices.filter(({ counts }) => counts);
  const own = new Set(slices.flatMap(({ madeFor, ready }) => (madeFor === 'default' ? ready.map(({ ip }) => ip) : [])));
  const isMirrored = counting.some(({ madeFor }) => madeFor === 'primary');
  const without =
    network === undefined || network === 'default' || isMirrored || own.size === 0
      ? []
      : [
          missing(
            'mirrors',
            `Kubernetes has ${own.size} endpoints ready on the default network, but no slice has their addresses on network ${network}`,
            'the cluster manager writes it: is it running, do the pods have addresses there?',
          ),
        ];
  return [...slices.map((slice) => ok(`slice ${slice.name}`, sliceText(slice))), ...without];
};

/** Of all nodes: that this one sends to none may be what a traffic policy asks for. */
export const endpointChecks = ({ namespace, name, slices }: ServiceStatus): Check[] => {
  if (slices.some(({ ready, terminating }) => ready.length + terminating.length > 0)) return [];
  const found =
    slices.length === 0
      ? 'it has no EndpointSlice: connections are rejected'
      : 'no endpoint is ready: connections are rejected';
  return [
    missing(
      'endpoints',
      found,
      `are the pods that its selector matches ready? kubectl -n ${namespace} describe service ${name}`,
    ),
  ];
};

const sliceText = ({ madeFor, network, family, counts, ports, ready, terminating }: Slice): string => {
  const origin = {
    default: "Kubernetes' own, with addresses on the default network",
    primary: `the mirror for network ${network ?? 'unknown'}`,
    any: 'by hand',
  }[madeFor];
  const names = ports.map(
    ({ name, port, protocol }) => `${name === '' ? '' : `${name} `}${port}/${protocol.toLowerCase()}`,
  );
  const ends = terminating.length === 0 ? '' : `, ${terminating.length} terminating`;
  return `${counts ? '' : 'ignored: '}${origin}; IPv${family}, ${names.join(', ') || 'no ports'}; ${ready.length} ready${ends}`;
};

/** What the end of a load balancer's name says where a Service has several of a protocol: ` node_switch_n1`. */
export const scopeOf = ({ name, protocol }: BalancerStatus): string => {
  const marker = `_${protocol.toUpperCase()}_`;
  const scope = name.slice(name.lastIndexOf(marker) + marker.length);
  return scope === 'cluster' ? '' : ` ${scope}`;
};

/** As the agent wants them. */
export const vipChecks = (service: ServiceStatus): Check[] =>
  service.loadBalancers.flatMap((balancer) =>
    Object.entries(balancer.vips).map(([vip, endpoints]) =>
      ok(
        `${vip}/${balancer.protocol}${scopeOf(balancer)}`,
        endpoints === ''
          ? 'no endpoints: connections are rejected'
          : shortened(endpoints.split(',').map((one) => placed(one, service))),
      ),
    ),
  );

const SHOWN = 8;

const shortened = (texts: readonly string[]): string =>
  texts.length <= SHOWN ? texts.join(', ') : `${texts.slice(0, SHOWN).join(', ')} and ${texts.length - SHOWN} more`;

/** `10.76.1.4:8080 on node-1 (web-abc)` */
const placed = (endpoint: string, { slices }: ServiceStatus): string => {
  for (const slice of slices) {
    const found = targetsOf(slice).find(({ text }) => slice.counts && text === endpoint);
    if (found === undefined) continue;
    return `${endpoint}${found.node === undefined ? '' : ` on ${found.node}`} (${slice.name})`;
  }
  return endpoint;
};

interface Target {
  /** `address:port` */
  readonly text: string;
  readonly ip: string;
  readonly node: string | undefined;
  readonly port: Slice['ports'][number];
  readonly isEnding: boolean;
}

const targetsOf = ({ family, ports, ready, terminating }: Slice): Target[] => {
  const at = (endpoints: Slice['ready'], isEnding: boolean): Target[] =>
    endpoints.flatMap(({ ip, node }) =>
      ports.map((port) => ({
        ...{ ip, node, port, isEnding },
        text: family === 6 ? `[${ip}]:${port.port}` : `${ip}:${port.port}`,
      })),
    );
  return [...at(ready, false), ...at(terminating, true)];
};

/** Of slices that count; those of others are none of the network's. */
export const leftOutChecks = (service: ServiceStatus): Check[] => {
  const used = new Set(
    service.loadBalancers.flatMap(({ vips }) => Object.values(vips).flatMap((endpoints) => endpoints.split(','))),
  );
  const unused = service.slices
    .filter(({ counts }) => counts)
    .flatMap((slice) => targetsOf(slice).filter(({ text }) => !used.has(text)));
  const byReason = Map.groupBy(unused, (target) => reasonOf(target, service));
  return [...byReason].map(([reason, targets]) =>
    ok('left out', `${shortened([...new Set(targets.map(({ text }) => text))])}: ${reason}`),
  );
};

const reasonOf = ({ ip, port, isEnding }: Target, { network, ports, refused, clusterIps }: ServiceStatus): string => {
  const family = ip.includes(':') ? 6 : 4;
  if (refused.includes(ip)) return `not an endpoint address of network ${network}`;
  const isAsked = ports.some(({ name, protocol }) => name === port.name && protocol === port.protocol);
  if (!isAsked) return `the Service has no port "${port.name}" of ${port.protocol}`;
  if (!clusterIps.some((one) => one.includes(':') === (family === 6))) return `the Service has no IPv${family} address`;
  return isEnding ? 'terminating, and others are ready' : 'not for this node, by a traffic policy or topology hints';
};
