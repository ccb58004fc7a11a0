/** The ways of a packet to each endpoint that a load balancer may choose for it, and what that comes to. */
import type { ServiceStatus } from '../../api/agent-status.ts';
import type { Balancing } from './balancing.ts';
import type { TracePass } from './ofproto-trace.ts';
import { ownBlocks } from './own-blocks.ts';
import type { TraceResult } from './trace-result.ts';
import { type Scene, type SwitchTrace, traceSwitch, type Way, wayOf } from './way.ts';

export interface EndpointWay extends Way {
  /** `address:port` */
  readonly endpoint: string;
  /** Where it runs, as far as somebody has said so. */
  readonly node?: string | undefined;
}

export interface ServiceFinding {
  readonly result: 'answered' | 'refused' | 'not-answered' | 'not-programmed' | 'other-network';
  readonly message: string;
  /** To endpoints that were followed. */
  readonly endpoints: readonly EndpointWay[];
  /** Endpoints that were not. */
  readonly others: readonly string[];
  /** Of a packet that no load balancer sends to an endpoint. */
  readonly way: Way | undefined;
}

/** Follows the packet to each endpoint, up to some. */
export const serviceWays = async (scene: Scene, balancing: Balancing): Promise<ServiceFinding> => {
  if (balancing.kind !== 'balanced') return unbalanced(balancing, await wayOf(scene, await traceSwitch(scene)));
  const { endpoints, service } = balancing;
  const traces = endpoints.length === 0 ? new Map<string, SwitchTrace>() : await tracesByEndpoint(scene, endpoints);
  // ovn-trace ends where the packet leaves the network that it begins in.
  const withoutLogical = <Known extends Way>(way: Known): Known =>
    balancing.isAcross ? { ...way, logical: undefined } : way;
  if (traces.size === 0) return untaken(balancing, withoutLogical(await wayOf(scene, await traceSwitch(scene))));
  const ways = (await endpointWays(scene, traces, service)).map(withoutLogical);
  ways.sort((a, b) => endpoints.indexOf(a.endpoint) - endpoints.indexOf(b.endpoint));
  const others = endpoints.filter((endpoint) => !traces.has(endpoint));
  return { ...outcome(balancing, ways), endpoints: ways, others, way: undefined };
};

/**
 * ovn-trace takes the endpoint of its option at the first conntrack action, before its load balancers: without the option
 * it is asked once for what those would choose from.
 */
const endpointWays = async (
  scene: Scene,
  traces: ReadonlyMap<string, SwitchTrace>,
  service: ServiceStatus,
): Promise<EndpointWay[]> => {
  const ways: EndpointWay[] = [];
  let backends: readonly string[] | undefined;
  for (const [endpoint, found] of traces) {
    const common = { endpoint, node: nodeOf(service, endpoint) };
    const chosen = backends === undefined ? await wayOf(scene, found) : undefined;
    backends ??= logicalBackends(chosen?.logical);
    const way = backends.length === 1 && chosen !== undefined ? chosen : await wayOf(scene, found, endpoint);
    ways.push({ ...common, ...way, logical: way.logical && confirmed(way.logical, backends, endpoint) });
  }
  return ways;
};

/** That the first load balancer has, by its logical flow. */
const logicalBackends = (logical: Way['logical']): readonly string[] => {
  if (logical === undefined || logical.kind === 'failed') return [];
  const actions = ownBlocks(logical.blocks).flatMap(({ stages }) => stages.flatMap((stage) => stage.actions));
  const found = actions.map((action) => /^ct_lb(?:_mark)?\(backends=([^;)]*)/.exec(action)?.[1]);
  return found.find((text) => text !== undefined)?.split(',') ?? [];
};

const confirmed = (
  logical: NonNullable<Way['logical']>,
  backends: readonly string[],
  endpoint: string,
): NonNullable<Way['logical']> =>
  // Some versions of ovn-trace end where a gateway router asks conntrack for its own translations, before load balancers.
  logical.kind === 'failed' || logical.kind === 'unknown' || backends.includes(endpoint)
    ? logical
    : { ...logical, agrees: false, message: `no load balancer sends it to ${endpoint}` };

/** Each is some steps of Open vSwitch and a reading of the whole southbound database. */
const MAX_FOLLOWED = 8;
/** Groups have as many places or more, and each endpoint of a few has one (`group_setup_dp_hash_table` of Open vSwitch). */
const HASHES = 16;

/** One after the other hash, until each endpoint has been chosen. */
const tracesByEndpoint = async (
  scene: Scene,
  endpoints: readonly string[],
): Promise<ReadonlyMap<string, SwitchTrace>> => {
  const desired = Math.min(endpoints.length, MAX_FOLLOWED);
  const found = new Map<string, SwitchTrace>();
  for (let hash = 1; hash <= HASHES && found.size < desired; hash += 1) {
    const trace = await traceSwitch(scene, hash);
    const endpoint = chosenEndpoint(trace.passes);
    if (endpoint === undefined) return found;
    if (endpoints.includes(endpoint) && !found.has(endpoint)) found.set(endpoint, trace);
  }
  return found;
};

/** That the first group has chosen: load balancers are groups, with a bucket for each endpoint. */
const chosenEndpoint = (passes: readonly TracePass[]): string | undefined =>
  passes
    .flatMap(({ bridges }) => bridges.flatMap(({ steps }) => steps))
    .filter(({ actions }) => actions.some(({ text }) => text.startsWith('group:')))
    .flatMap(({ actions }) => actions.flatMap(({ text }) => /^ct\(.*nat\(dst=(\S+?)\)/.exec(text)?.[1] ?? []))[0];

const nodeOf = ({ slices }: ServiceStatus, endpoint: string): string | undefined => {
  const ip = /^\[?(.*?)\]?:[0-9]+$/.exec(endpoint)?.[1];
  return slices
    .flatMap(({ ready, terminating }) => [...ready, ...terminating])
    .find((one) => one.ip === ip && one.node !== undefined)?.node;
};

/** The packet gets there, as far as this node knows. */
const ARRIVED: readonly TraceResult['kind'][] = ['delivered', 'tunnel', 'leaves', 'host', 'port'];

const arrives = ({ result }: Way): boolean => ARRIVED.includes(result.kind);

/** `commit_lb_aff` is no action that lets a packet go on. */
const isLearnt = ({ result }: Way): boolean =>
  result.kind === 'dropped' && /: stage l[rs]_in_lb_aff_learn of /.test(result.message);

type Balanced = Extract<Balancing, { kind: 'balanced' }>;

const outcome = (
  { what, service, balancer, endpoints, byClient }: Balanced,
  ways: readonly EndpointWay[],
): Pick<ServiceFinding, 'result' | 'message'> => {
  const reached = ways.filter(arrives).length;
  const name = `Service ${service.namespace}/${service.name}`;
  const how = byClient ? ', by the addresses of the client' : '';
  const followed = ways.length < endpoints.length ? ` ${ways.length} of its` : '';
  const many = `${endpoints.length} endpoint${endpoints.length === 1 ? '' : 's'}`;
  const by = `load balancer ${balancer} sends ${what} to${followed} ${many}${how}`;
  if (ways.every(isLearnt)) {
    const lost = 'but for the first packet, which OVN drops while it learns its client (sessionAffinity)';
    return { result: 'answered', message: `answered by ${name}, ${lost}: ${by}` };
  }
  if (reached === ways.length) return { result: 'answered', message: `answered by ${name}: ${by}` };
  if (reached > 0) {
    return { result: 'answered', message: `answered by ${name}, but only by ${reached} of ${ways.length}: ${by}` };
  }
  return { result: 'not-answered', message: `not answered by ${name}, none is reachable: ${by}` };
};

const alone = (result: ServiceFinding['result'], message: string, way: Way): ServiceFinding => ({
  result,
  message,
  endpoints: [],
  others: [],
  way,
});

/** Its load balancer is in the northbound database, and no packet came to an endpoint. */
const untaken = ({ what, service, balancer, endpoints, isAcross }: Balanced, way: Way): ServiceFinding => {
  const name = `Service ${service.namespace}/${service.name}`;
  if (way.result.kind === 'dropped')
    return {
      ...alone('not-answered', `not answered by ${name}: dropped before load balancer ${balancer}`, way),
      others: endpoints,
    };
  if (isAcross && !isRefused(way)) {
    const message = `not answered on this node: ${what} of ${name}: ${way.result.message}`;
    return { ...alone('not-answered', message, way), others: endpoints };
  }
  if (endpoints.length > 0) {
    const message = `not answered by ${name}: load balancer ${balancer} is in the northbound database, but no flow sends ${what} to its endpoints: udnctl explain service ${service.namespace}/${service.name}`;
    return { ...alone('not-answered', message, way), others: endpoints };
  }
  if (way.result.kind !== 'controller')
    return alone(
      'not-answered',
      `not answered by ${name}: load balancer ${balancer} has no endpoints for ${what}`,
      way,
    );
  const how = what.endsWith('/tcp') ? 'a TCP reset' : what.endsWith('/sctp') ? 'an SCTP abort' : 'an ICMP error';
  return alone(
    'refused',
    `refused with ${how}: load balancer ${balancer} of ${name} has no endpoints for ${what}`,
    way,
  );
};

/** By the load balancer, and not that somebody waits for the MAC of a next hop. */
const isRefused = ({ result }: Way): boolean => result.kind === 'controller' && !result.message.startsWith('waits ');

const unbalanced = ({ kind, what, why }: Extract<Balancing, { why: string }>, way: Way): ServiceFinding => {
  if (kind === 'absent') return alone('not-programmed', `not programmed here: ${why}`, way);
  if (kind === 'no-port') return alone('not-answered', `not answered: ${why}`, way);
  return isStopped(way)
    ? alone('not-answered', `not answered: ${what}: ${why}`, way)
    : alone('other-network', `${what}: ${why}; the packet continues there`, way);
};

/** What waits for the next hop leaves OVN, and the gateway bridge lets no ClusterIP out. */
const isStopped = ({ result }: Way): boolean => result.kind === 'dropped' || result.kind === 'controller';
