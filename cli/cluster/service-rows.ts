/** The Services of a cluster: on which network each is, and what its ClusterIPs send to, as the API has it. Pure. */
import type { ExternalClaims } from '../../agent/inputs/external-claims.ts';
import { DEFAULT_ALLOWED_SERVICES, parseAllowedServices } from '../../api/allowed-services.ts';
import { ApiError, describeFinding } from '../../api/errors.ts';
import { SERVICE_LABELS } from '../../api/names.ts';
import type { Service, ServicePort } from '../../api/service.ts';
import type { Scene } from '../why/allocations.ts';
import { type Cause, unreadOf, unreadText } from '../why/finding.ts';
import { claimsOf, externalNotes } from './service-claims.ts';
import { type ClusterIpItem, serviceEndpoints } from './service-endpoints.ts';
import { type ServiceNetwork, serviceNetwork } from './service-network.ts';
import type { ServiceState } from './service-state.ts';

export interface ServiceItem {
  readonly namespace: string;
  readonly name: string;
  /**
   * `served`: its ClusterIPs are answered or refused wherever its network is; `waiting`: for its network, or a ClusterIP;
   * `dns`: nothing is programmed for it; `foreign`: nothing is programmed by us; `unknown`: something may not be read;
   * `unreadable`: it cannot be parsed.
   */
  readonly state: 'served' | 'waiting' | 'dns' | 'foreign' | 'unknown' | 'unreadable';
  /** Absent while its namespace waits for it, and where it is not known. */
  readonly network?: string;
  /** Why the network is waited for. */
  readonly cause?: Cause;
  readonly type?: Service['type'];
  readonly isHeadless: boolean;
  readonly clusterIps: readonly ClusterIpItem[];
  readonly ports: readonly ServicePort[];
  /** What it asks for and nobody does yet. */
  readonly notProgrammed: readonly string[];
  /** What else is to be known about it, a message without a full stop each. */
  readonly notes: readonly string[];
  readonly created: string;
}

/** Sorted by namespace and name. */
export const serviceItems = (scene: Scene): readonly ServiceItem[] => {
  const claims = claimsOf(scene.services);
  return [...Map.groupBy(scene.services, ({ namespace }) => namespace)]
    .flatMap(([namespace, states]) => {
      const network = serviceNetwork(namespace, scene);
      return states.map((state) => ({ key: state.key, item: itemOf(state, network, { scene, claims }) }));
    })
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ item }) => item);
};

interface Context {
  readonly scene: Scene;
  readonly claims: ExternalClaims;
}

type Found = Pick<ServiceItem, 'state' | 'notes'> &
  Partial<Pick<ServiceItem, 'network' | 'cause' | 'clusterIps' | 'notProgrammed'>>;

const itemOf = (state: ServiceState, network: ServiceNetwork, context: Context): ServiceItem => {
  const { namespace, name, created, service, isHeadless } = state;
  if (service instanceof ApiError) {
    const notes = [`cannot be read: ${describeFinding(service)}`];
    const nothing = { isHeadless, clusterIps: [], ports: [], notProgrammed: [] };
    return { namespace, name, state: 'unreadable', ...nothing, notes, created };
  }
  const { type, ports } = service;
  const {
    clusterIps = service.clusterIps.map((ip) => ({ ip })),
    notProgrammed = [],
    notes,
    ...found
  } = unserved(state, service) ?? served(state, service, network, context);
  return { namespace, name, ...found, type, isHeadless, clusterIps, ports, notProgrammed, notes, created };
};

/** One that nothing is to be programmed for. */
const unserved = ({ isHeadless, externalName }: ServiceState, { type, metadata }: Service): Found | undefined => {
  const proxy = metadata.labels[SERVICE_LABELS.proxyName];
  if (proxy !== undefined) return { state: 'foreign', notes: [`programmed by ${proxy}, not by ovn-udn`] };
  if (type === 'ExternalName') return { state: 'dns', notes: [`ExternalName ${externalName}: resolved by DNS only`] };
  return isHeadless ? { state: 'dns', notes: ['headless: resolved by DNS only'] } : undefined;
};

const served = (state: ServiceState, service: Service, found: ServiceNetwork, { scene, claims }: Context): Found => {
  const { notProgrammed } = state;
  if (found.network === undefined) {
    const { state: doubt, cause, found: reason } = found.why;
    if (doubt === 'unknown') return { state: 'unknown', notProgrammed, notes: [`unknown network: ${reason}`] };
    const notes = [`waits for its network: ${reason}`];
    return { state: 'waiting', ...(cause !== undefined && { cause }), notProgrammed, notes };
  }
  const { network } = found;
  const common = { network: network.name, notProgrammed };
  if (service.clusterIps.length === 0) return { ...common, state: 'waiting', notes: ['has no ClusterIP yet'] };
  const hidden = unreadOf(scene, 'endpointslices');
  if (hidden !== undefined) return { ...common, state: 'unknown', notes: [`endpoints unknown: ${unreadText(hidden)}`] };
  const endpoints = serviceEndpoints(service, network, scene.slicesOf(state.key));
  const forAll = network.role === 'default' && ALLOWED.includes(state.key) ? [FOR_ALL] : [];
  const notes = [...forAll, ...externalNotes(state, service, network, claims), ...endpoints.notes];
  return { ...common, state: 'served', ...endpoints, notes };
};

/** Which ones agents take is a setting of theirs, which the API does not show. */
const ALLOWED = parseAllowedServices(DEFAULT_ALLOWED_SERVICES);
const FOR_ALL = 'reachable from pods of all networks, unless --udn-allowed-default-services excludes it';
