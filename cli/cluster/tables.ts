/** The tables of `udnctl networks`, `udnctl pods` and `udnctl services`, narrow and wide. */
import { withPort } from '../../agent/model/services/endpoints.ts';
import { age } from '../../kube/age.ts';
import type { Output } from '../output/format.ts';
import { named } from '../why/finding.ts';
import type { NetworkItem } from './network-rows.ts';
import type { PodAttachmentItem, PodItem } from './pod-rows.ts';
import type { ClusterIpItem } from './service-endpoints.ts';
import type { ServiceItem } from './service-rows.ts';
import type { Snapshot } from './snapshot.ts';

export interface TableOptions {
  readonly isWide: boolean;
}

type Column<Row> = readonly [head: string, cell: (row: Row) => string, isWide?: 'wide'];

const tableOf = <Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  empty: string,
  { isWide }: TableOptions,
) => {
  const shown = columns.filter(([, , wide]) => isWide || wide === undefined);
  return { head: shown.map(([head]) => head), rows: rows.map((row) => shown.map(([, cell]) => cell(row))), empty };
};

/** What could not be read is data, too: a list that lacks something says so. */
const dataOf = (items: readonly unknown[], { unread, unusable }: Snapshot): unknown => ({
  items,
  ...(unread.length > 0 && { unread: unread.map(({ what, why }) => ({ what, why })) }),
  ...(unusable.length > 0 && { unusable }),
});

export const networksOutput = (items: readonly NetworkItem[], snapshot: Snapshot, options: TableOptions): Output => {
  const columns: readonly Column<NetworkItem>[] = [
    ['NETWORK', ({ name }) => name],
    ['OBJECT', ({ object }) => object],
    ['TOPOLOGY', ({ topology }) => topology],
    ['ROLE', ({ role }) => role],
    ['SUBNETS', ({ subnets }) => subnets.join('\n')],
    ['ID', ({ id }) => (id === undefined ? '' : String(id))],
    ['VRF', ({ vrf = '' }) => vrf, 'wide'],
    ['NAMESPACES', ({ namespaces }) => namespaces.join('\n'), 'wide'],
    ['STATE', ({ state, cause }) => (cause === undefined ? state : `${state}: ${cause}`)],
    ['PODS', ({ pods }) => (pods === undefined ? '?' : String(pods))],
    ['NODES', ({ nodes }) => (nodes === undefined ? '' : `${nodes.ready}/${nodes.total}`), 'wide'],
    ['AGE', ({ created }) => age(created, snapshot.now)],
    ['WHY', ({ message = '' }) => message, 'wide'],
  ];
  return { data: dataOf(items, snapshot), tables: [tableOf(columns, items, emptyText('networks', snapshot), options)] };
};

interface PodRow {
  readonly pod: PodItem;
  readonly attachment: PodAttachmentItem | undefined;
  readonly isFirst: boolean;
}

export const podsOutput = (items: readonly PodItem[], snapshot: Snapshot, options: TableOptions): Output => {
  const columns: readonly Column<PodRow>[] = [
    ['POD', ({ pod, isFirst }) => (isFirst ? `${pod.namespace}/${pod.name}` : '')],
    ['NETWORK', ({ attachment }) => attachment?.network ?? ''],
    ['ADDRESSES', ({ attachment }) => attachment?.addresses.join('\n') ?? ''],
    ['MAC', ({ attachment }) => attachment?.mac ?? ''],
    ['GATEWAY', ({ attachment }) => attachment?.gateways.join('\n') ?? ''],
    ['INTERFACE', ({ attachment }) => attachment?.interface ?? '', 'wide'],
    ['ROLE', ({ attachment }) => attachment?.role ?? '', 'wide'],
    ['NODE', ({ pod, isFirst }) => (isFirst ? (pod.node ?? '') : '')],
    ['STATE', ({ pod, isFirst }) => (isFirst ? stateText(pod) : '')],
    ['AGE', ({ pod, isFirst }) => (isFirst ? age(pod.created, snapshot.now) : ''), 'wide'],
    ['WHY', ({ pod, isFirst }) => (isFirst ? (pod.message ?? '') : ''), 'wide'],
  ];
  const rows = items.flatMap((pod) => rowsOf(pod, options));
  return { data: dataOf(items, snapshot), tables: [tableOf(columns, rows, emptyText('pods', snapshot), options)] };
};

const stateText = ({ state, cause }: PodItem): string => (cause === undefined ? state : `${state}: ${cause}`);

/** The default network of a pod that has another one is for probes and little else: only a wide table has it. */
const rowsOf = (pod: PodItem, { isWide }: TableOptions): readonly PodRow[] => {
  const own = pod.attachments.filter(({ nad }) => nad !== 'default');
  const shown = isWide || own.length === 0 ? pod.attachments : own;
  if (shown.length === 0) return [{ pod, attachment: undefined, isFirst: true }];
  return shown.map((attachment, index) => ({ pod, attachment, isFirst: index === 0 }));
};

export const servicesOutput = (items: readonly ServiceItem[], snapshot: Snapshot, options: TableOptions): Output => {
  const columns: readonly Column<ServiceItem>[] = [
    ['NAMESPACE', ({ namespace }) => namespace],
    ['NAME', ({ name }) => name],
    ['NETWORK', networkText],
    ['TYPE', ({ type = '' }) => type],
    ['CLUSTER-IPS', ({ isHeadless, clusterIps }) => (isHeadless ? 'None' : clusterIps.map(({ ip }) => ip).join('\n'))],
    ['PORTS', ({ ports }) => ports.map(({ port, protocol }) => `${port}/${protocol}`).join('\n')],
    ['ENDPOINTS', (item) => item.clusterIps.map((one) => endpointsText(one, item)).join('\n')],
    ['SENDS TO', ({ clusterIps }) => clusterIps.flatMap(sendsTo).join('\n'), 'wide'],
    ['AGE', ({ created }) => age(created, snapshot.now), 'wide'],
    ['NOTE', ({ notes, notProgrammed }) => [...notes, ...gapsText(notProgrammed)].join('\n')],
  ];
  return { data: dataOf(items, snapshot), tables: [tableOf(columns, items, emptyText('services', snapshot), options)] };
};

const networkText = ({ network, state }: ServiceItem): string => {
  if (network !== undefined) return network;
  return state === 'waiting' ? '-' : state === 'unknown' ? '?' : '';
};

/** Beside its ClusterIP. */
const endpointsText = ({ ready, terminating = 0 }: ClusterIpItem, { state }: ServiceItem): string => {
  if (ready === undefined) return state === 'waiting' ? '-' : state === 'unknown' ? '?' : '';
  if (ready + terminating === 0) return 'none: connections are rejected';
  return terminating === 0 ? `${ready} ready` : `${ready} ready, ${terminating} terminating`;
};

const sendsTo = ({ ip, ports = [] }: ClusterIpItem): string[] =>
  ports.map(({ port, protocol, backends }) => `${withPort(ip, port)}/${protocol} → ${named(backends) || 'refused'}`);

const gapsText = (notProgrammed: readonly string[]): string[] =>
  notProgrammed.length === 0 ? [] : [`not programmed yet: ${notProgrammed.join(', ')}`];

const emptyText = (what: string, { namespace }: Snapshot): string =>
  namespace === undefined ? `no ${what}` : `no ${what} in namespace ${namespace}; -A shows all`;
