/** `udnctl usage`: addresses in use and free, from the API server alone. */
import type { KubeClient } from '../../kube/types.ts';
import { PROGRAMS_NAMESPACE, withClient } from '../cluster/cluster-command.ts';
import { readCluster } from '../cluster/read-cluster.ts';
import type { ServerOptions } from '../cluster/server-options.ts';
import { type NetworkUsage, type SubnetUsage, usageOf } from '../cluster/usage.ts';
import { CliError } from '../errors.ts';
import type { Output } from '../output/format.ts';
import { unreadText } from '../why/finding.ts';

export interface UsageOutput extends Output {
  /** What could not be read, a line each. */
  readonly notes: readonly string[];
}

/** @param network by its name, `NAMESPACE/NAME` of its UDN, or the name of its CUDN; undefined: all */
export const showUsage = (network: string | undefined, options: ServerOptions): Promise<UsageOutput> =>
  withClient(options, ({ client }) => clusterUsage(client, network, Date.now()));

/** @throws CliError when there is no such network */
export const clusterUsage = async (
  client: Pick<KubeClient, 'get' | 'list'>,
  network: string | undefined,
  now: number,
): Promise<UsageOutput> => {
  const snapshot = await readCluster(client, { programs: PROGRAMS_NAMESPACE, now });
  const all = usageOf(snapshot);
  const shown = network === undefined ? all : all.filter(({ network: name }) => namesOf(network).includes(name));
  if (network !== undefined && shown.length === 0) throw new CliError(`there is no network "${network}"`);
  // Without them the numbers would be wrong, and not only incomplete.
  const needed = snapshot.unread.filter(({ resource }) => NEEDED.includes(resource));
  return {
    ...usageOutput(shown, network !== undefined),
    notes: needed.map((one) => `not counted: ${unreadText(one)}`),
  };
};

const NEEDED: readonly string[] = ['network-attachment-definitions', 'nodes', 'pods', 'ipamclaims'];

const namesOf = (asked: string): readonly string[] => [asked, asked.replace('/', '_'), `cluster_udn_${asked}`];

export const usageOutput = (items: readonly NetworkUsage[], isDetailed: boolean): Output => ({
  data: items.map(({ subnets, nodes, ...item }) => ({
    ...item,
    subnets: subnets.map(plain),
    nodes: nodes.map(({ node, ...usage }) => ({ node, ...plain(usage) })),
  })),
  tables: [
    {
      head: ['NETWORK', 'TOPOLOGY', 'SUBNET', 'USED', 'FREE', 'NODES', 'NODES LEFT'],
      rows: items.flatMap(subnetRows),
      empty: 'no networks',
    },
    {
      head: ['NAMESPACE', 'NETWORK', 'PODS', 'IPV4', 'IPV6'],
      rows: items.flatMap(({ network, namespaces }) =>
        namespaces.map(({ namespace, pods, ipv4, ipv6 }) => [namespace, network, ...[pods, ipv4, ipv6].map(String)]),
      ),
      empty: 'no pods',
    },
    ...(isDetailed && items.some(({ nodes }) => nodes.length > 0)
      ? [{ head: ['NODE', 'SUBNET', 'USED', 'FREE'], rows: items.flatMap(nodeRows) }]
      : []),
  ],
});

const subnetRows = ({ network, topology, subnets }: NetworkUsage): readonly (readonly string[])[] =>
  subnets.map(({ subnet, used, free, nodes }, index) => [
    ...(index === 0 ? [network, topology] : ['', '']),
    ...[subnet, String(used), countText(free)],
    ...(nodes === undefined ? ['', ''] : [String(nodes.used), countText(nodes.free)]),
  ]);

const nodeRows = ({ nodes }: NetworkUsage): readonly (readonly string[])[] =>
  nodes.map(({ node, subnet, used, free }) => [node, subnet, String(used), countText(free)]);

/** Beyond what anybody counts, the power of two below it. */
export const countText = (count: bigint): string =>
  count < 10_000_000n ? String(count) : `>=2^${count.toString(2).length - 1}`;

/** JSON has no integers of that size: text, in all cases. */
const plain = ({ subnet, used, free, nodes }: SubnetUsage) => ({
  ...{ subnet, used, free: String(free) },
  ...(nodes !== undefined && { nodes: { used: nodes.used, free: String(nodes.free) } }),
});
