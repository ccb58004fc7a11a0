/** What the agent keeps of an EndpointSlice. */
import {
  type Endpoint,
  type EndpointSlice,
  isReady,
  isServing,
  isTerminating,
  parseEndpointSlice,
} from '../../api/endpoint-slice.ts';
import {
  SERVICE_LABELS,
  SLICE_ANNOTATIONS,
  SLICE_CONTROLLER,
  SLICE_LABELS,
  SLICE_MIRROR_CONTROLLER,
} from '../../api/names.ts';
import { SERVICE_PROTOCOLS } from '../../api/service.ts';
import { messageOf } from '../../base/error-message.ts';
import { type Family, type Ip, ipFamily, parseIp } from '../../net/ip.ts';
import type { EndpointFact, SliceFact, SlicePort } from '../model/facts.ts';
import type { Problem } from './problem.ts';

export interface SliceProjection {
  /** `namespace/name` of its Service. */
  readonly service: string;
  readonly fact: SliceFact;
  readonly problems: readonly Problem[];
}

/** How the slices of a Service are found. */
export const SLICE_INDEXES = { service: ({ service }: SliceProjection): readonly string[] => [service] };

/** Undefined for those of no Service, of one that somebody else programs, and with names instead of addresses. @throws ApiError */
export const projectSlice = (object: unknown): SliceProjection | undefined => {
  const slice = parseEndpointSlice(object);
  const { namespace, name, labels, annotations } = slice.metadata;
  const madeFor = purposeOf(slice);
  const isForNetwork = madeFor === 'primary' || (madeFor === 'any' && SLICE_LABELS.mirroredService in labels);
  const service = labels[isForNetwork ? SLICE_LABELS.mirroredService : SLICE_LABELS.service];
  if (service === undefined || service === '' || slice.addressType === 'FQDN') return undefined;
  if (SERVICE_LABELS.headless in labels || SERVICE_LABELS.proxyName in labels) return undefined;
  const family = slice.addressType === 'IPv4' ? 4 : 6;
  const problems: string[] = [];
  const facts = (endpoints: readonly Endpoint[]): EndpointFact[] =>
    endpoints.flatMap((endpoint) => endpointFact(endpoint, firstAddress(endpoint, family, problems)));
  return {
    service: `${namespace}/${service}`,
    fact: {
      name,
      madeFor,
      ...(isForNetwork && { network: networkOf(annotations, problems) }),
      family,
      ports: portsOf(slice, problems),
      ready: facts(slice.endpoints.filter(isReady)),
      terminating: facts(slice.endpoints.filter((one) => !isReady(one) && isServing(one) && isTerminating(one))),
    },
    problems: shortened(problems).map((message) => ({
      object: `EndpointSlice/${namespace}/${name}`,
      message,
      severity: 'warning',
      cause: 'object-unreadable',
    })),
  };
};

export const badSlice = (key: string, reason: Error): Problem => ({
  object: `EndpointSlice/${key}`,
  message: reason.message,
  cause: 'object-unreadable',
});

const purposeOf = ({ metadata }: EndpointSlice): SliceFact['madeFor'] => {
  const by = metadata.labels[SLICE_LABELS.managedBy];
  if (by === SLICE_MIRROR_CONTROLLER) return 'primary';
  return by === SLICE_CONTROLLER ? 'default' : 'any';
};

/** Without one a slice counts on no network: none has this name. */
const networkOf = (annotations: Readonly<Record<string, string>>, problems: string[]): string => {
  const network = annotations[SLICE_ANNOTATIONS.network] ?? '';
  if (network === '') problems.push(`has no annotation ${SLICE_ANNOTATIONS.network}, so it belongs to no network`);
  return network;
};

const endpointFact = ({ nodeName, hints }: Endpoint, ip: Ip | undefined): EndpointFact[] => {
  if (ip === undefined) return [];
  const forZones = hints?.forZones?.map(({ name }) => name) ?? [];
  const forNodes = hints?.forNodes?.map(({ name }) => name) ?? [];
  return [
    {
      ip,
      ...(nodeName && { node: nodeName }),
      ...(forZones.length > 0 && { forZones }),
      ...(forNodes.length > 0 && { forNodes }),
    },
  ];
};

/** All addresses of an endpoint are the same to its clients: the first is used, as kube-proxy does it. */
const firstAddress = ({ addresses: [text] }: Endpoint, family: Family, problems: string[]): Ip | undefined => {
  if (text === undefined) return undefined;
  try {
    const ip = parseIp(text);
    if (ipFamily(ip) === family) return ip;
    problems.push(`"${text}" is not an IPv${family} address`);
  } catch (error) {
    problems.push(messageOf(error));
  }
  return undefined;
};

/** One without a number stands for all ports of its endpoints: there is nothing to forward to. */
const portsOf = ({ ports }: EndpointSlice, problems: string[]): SlicePort[] =>
  ports.flatMap(({ name, protocol: given, port }) => {
    const protocol = SERVICE_PROTOCOLS.find((known) => known === (given ?? 'TCP'));
    if (protocol !== undefined && port != null && port > 0 && port <= 65_535)
      return [{ name: name ?? '', protocol, port }];
    if (port != null) problems.push(`port ${port}/${given} is not a port to forward to`);
    return [];
  });

/** There may be a thousand endpoints, and all of them wrong. */
const shortened = (problems: readonly string[]): readonly string[] =>
  problems.length <= MAX_REPORTED
    ? problems
    : [...problems.slice(0, MAX_REPORTED), `and ${problems.length - MAX_REPORTED} more like these`];

const MAX_REPORTED = 3;
