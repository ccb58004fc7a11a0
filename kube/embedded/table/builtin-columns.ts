/** The columns of the built-in kinds (k8s.io/kubernetes pkg/printers/internalversion). */
import { age } from '../../age.ts';
import { type JsonRecord, recordOr } from '../../is-record.ts';
import type { Column } from '../definitions/types.ts';
import { AGE, at, field, joined, listAt, NAME, pairs, text } from './cells.ts';

export const NAME_AND_AGE: readonly Column[] = [NAME, AGE];

export const NAMESPACE_COLUMNS: readonly Column[] = [NAME, field('Status', 'status.phase'), AGE];

export const NODE_COLUMNS: readonly Column[] = [
  NAME,
  { name: 'Status', type: 'string', value: (node) => nodeStatus(node) },
  { name: 'Roles', type: 'string', value: (node) => nodeRoles(node) },
  AGE,
  field('Version', 'status.nodeInfo.kubeletVersion'),
  { name: 'Internal-IP', type: 'string', priority: 1, value: (node) => nodeAddress(node, 'InternalIP') },
  { name: 'External-IP', type: 'string', priority: 1, value: (node) => nodeAddress(node, 'ExternalIP') },
  field('OS-Image', 'status.nodeInfo.osImage', 1),
  field('Kernel-Version', 'status.nodeInfo.kernelVersion', 1),
  field('Container-Runtime', 'status.nodeInfo.containerRuntimeVersion', 1),
];

export const SERVICE_COLUMNS: readonly Column[] = [
  NAME,
  field('Type', 'spec.type'),
  field('Cluster-IP', 'spec.clusterIP'),
  { name: 'External-IP', type: 'string', value: (service) => externalIps(service) },
  { name: 'Port(s)', type: 'string', value: (service) => servicePorts(service) },
  AGE,
  { name: 'Selector', type: 'string', priority: 1, value: (service) => pairs(at(service, 'spec.selector')) },
];

export const ENDPOINTS_COLUMNS: readonly Column[] = [
  NAME,
  { name: 'Endpoints', type: 'string', value: (endpoints) => endpointAddresses(endpoints) },
  AGE,
];

export const ENDPOINT_SLICE_COLUMNS: readonly Column[] = [
  NAME,
  field('AddressType', 'addressType'),
  {
    name: 'Ports',
    type: 'string',
    value: (slice) => unsetOr(listAt(slice, 'ports').map(({ port }) => port ?? '*')),
  },
  {
    name: 'Endpoints',
    type: 'string',
    value: (slice) => unsetOr(listAt(slice, 'endpoints').flatMap(({ addresses }) => addresses ?? [])),
  },
  AGE,
];

export const CONFIG_MAP_COLUMNS: readonly Column[] = [NAME, dataCount(['data', 'binaryData']), AGE];

export const SECRET_COLUMNS: readonly Column[] = [NAME, field('Type', 'type'), dataCount(['data']), AGE];

export const SERVICE_ACCOUNT_COLUMNS: readonly Column[] = [
  NAME,
  { name: 'Secrets', type: 'string', value: (account) => String(listAt(account, 'secrets').length) },
  AGE,
];

export const EVENT_COLUMNS: readonly Column[] = [
  { name: 'Last Seen', type: 'string', value: (event, now) => age(lastSeen(event), now) },
  field('Type', 'type'),
  field('Reason', 'reason'),
  { name: 'Object', type: 'string', value: (event) => involved(event) },
  field('Subobject', 'involvedObject.fieldPath', 1),
  { name: 'Source', type: 'string', priority: 1, value: (event) => eventSource(event) },
  { name: 'Message', type: 'string', value: (event) => String(event['message'] ?? '').trim() },
  { name: 'First Seen', type: 'string', priority: 1, value: (event, now) => age(firstSeen(event), now) },
  { name: 'Count', type: 'string', priority: 1, value: (event) => String(event['count'] ?? 1) },
  { ...NAME, priority: 1 },
];

export const NETWORK_POLICY_COLUMNS: readonly Column[] = [
  NAME,
  { name: 'Pod-Selector', type: 'string', value: (policy) => pairs(at(policy, 'spec.podSelector.matchLabels')) },
  AGE,
];

export const LEASE_COLUMNS: readonly Column[] = [NAME, field('Holder', 'spec.holderIdentity'), AGE];

export const CRD_COLUMNS: readonly Column[] = [
  NAME,
  { name: 'Created At', type: 'date', value: (crd) => at(crd, 'metadata.creationTimestamp') },
];

export const DEPLOYMENT_COLUMNS: readonly Column[] = [
  NAME,
  {
    name: 'Ready',
    type: 'string',
    value: (own) => `${Number(at(own, 'status.readyReplicas') ?? 0)}/${Number(at(own, 'spec.replicas') ?? 1)}`,
  },
  count('Up-to-date', 'status.updatedReplicas'),
  count('Available', 'status.availableReplicas'),
  AGE,
];

export const DAEMON_SET_COLUMNS: readonly Column[] = [
  NAME,
  count('Desired', 'status.desiredNumberScheduled'),
  count('Current', 'status.currentNumberScheduled'),
  count('Ready', 'status.numberReady'),
  count('Up-to-date', 'status.updatedNumberScheduled'),
  count('Available', 'status.numberAvailable'),
  { name: 'Node Selector', type: 'string', value: (own) => pairs(at(own, 'spec.template.spec.nodeSelector')) },
  AGE,
];

function count(name: string, path: string): Column {
  return { name, type: 'integer', value: (object) => Number(at(object, path) ?? 0) };
}

function dataCount(fields: readonly string[]): Column {
  const size = (object: JsonRecord): number =>
    fields.reduce((sum, name) => sum + Object.keys(recordOr(object[name])).length, 0);
  return { name: 'Data', type: 'string', value: (object) => String(size(object)) };
}

const nodeStatus = (node: JsonRecord): string => {
  const ready = listAt(node, 'status.conditions').find(({ type }) => type === 'Ready');
  const word = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady';
  return at(node, 'spec.unschedulable') === true ? `${word},SchedulingDisabled` : word;
};

const ROLE = 'node-role.kubernetes.io/';

const nodeRoles = (node: JsonRecord): string =>
  joined(
    Object.keys(recordOr(at(node, 'metadata.labels')))
      .filter((label) => label.startsWith(ROLE))
      .map((label) => label.slice(ROLE.length))
      .sort(),
  );

const nodeAddress = (node: JsonRecord, type: string): string =>
  text(listAt(node, 'status.addresses').find((address) => address['type'] === type)?.['address']);

const externalIps = (service: JsonRecord): string => {
  const given = at(service, 'spec.externalIPs');
  const ips = [
    ...listAt(service, 'status.loadBalancer.ingress').map(({ ip, hostname }) => ip ?? hostname),
    ...(Array.isArray(given) ? given : []),
  ];
  if (at(service, 'spec.type') === 'ExternalName') return text(at(service, 'spec.externalName'));
  if (ips.length > 0) return ips.join(',');
  return at(service, 'spec.type') === 'LoadBalancer' ? '<pending>' : '<none>';
};

const servicePorts = (service: JsonRecord): string =>
  joined(
    listAt(service, 'spec.ports').map(({ port, nodePort, protocol }) =>
      nodePort === undefined ? `${port}/${protocol}` : `${port}:${nodePort}/${protocol}`,
    ),
  );

const endpointAddresses = (endpoints: JsonRecord): string =>
  joined(
    listAt(endpoints, 'subsets').flatMap((subset) =>
      listAt(subset, 'addresses').flatMap(({ ip }) => {
        const ports = listAt(subset, 'ports');
        return ports.length === 0 ? [String(ip)] : ports.map(({ port }) => `${ip}:${port}`);
      }),
    ),
  );

const unsetOr = (values: readonly unknown[]): string => (values.length === 0 ? '<unset>' : shortened(values));

/** Three and how many more. */
const shortened = (values: readonly unknown[]): string =>
  values.length <= 3 ? values.join(',') : `${values.slice(0, 3).join(',')} + ${values.length - 3} more...`;

const lastSeen = (event: JsonRecord): unknown =>
  at(event, 'series.lastObservedTime') ?? event['lastTimestamp'] ?? firstSeen(event);

const firstSeen = (event: JsonRecord): unknown =>
  event['firstTimestamp'] ?? event['eventTime'] ?? at(event, 'metadata.creationTimestamp');

const involved = (event: JsonRecord): string => {
  const { kind, name } = recordOr(event['involvedObject']);
  return `${String(kind ?? '').toLowerCase()}/${String(name ?? '')}`;
};

const eventSource = (event: JsonRecord): string => {
  const { component, host } = recordOr(event['source']);
  const from = component ?? event['reportingComponent'] ?? '';
  return host === undefined ? String(from) : `${from}, ${host}`;
};
