/** Everything that the agent programs on a node, as sorted lines that can be compared: what changes by itself is left out. */
import type { Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { isPassing } from './passing-flows.ts';

/** Section → lines. */
export type NodeDump = Readonly<Record<string, readonly string[]>>;

const NEIGHBOUR_STATES = / (REACHABLE|STALE|DELAY|PROBE|FAILED|INCOMPLETE|NOARP)\b/;

/** All in one program on the node: each that is started costs a second of a guest's time. */
const COMMANDS = {
  links: 'ip -o -d link show',
  addresses: 'ip -o addr show scope global',
  routes: 'ip -4 route show table all; ip -6 route show table all',
  rules: 'ip -4 rule show; ip -6 rule show',
  neighbours: 'ip -4 neigh show nud permanent; ip -6 neigh show nud permanent',
  flows: 'ovs-ofctl -O OpenFlow15 --no-stats --names dump-flows br-ex',
  groups: 'ovs-ofctl -O OpenFlow15 --names dump-groups br-ex',
  nft: 'nft list ruleset',
  // Not every kernel has all of them. `sysctl -a` would read some thousands of others.
  sysctls: `cd /proc/sys/net; grep -s . ${[
    'ipv4/conf/*/rp_filter',
    'ipv[46]/conf/*/forwarding',
    'ipv6/conf/*/force_forwarding',
    'ipv6/conf/*/accept_ra',
  ].join(' ')} || [ $? = 2 ]`,
} as const;

type Section = keyof typeof COMMANDS;

const SCRIPT = Object.entries(COMMANDS)
  .map(([section, command]) => `echo '=== ${section}'; ${command}`)
  .join('\n');

const readSections = async (sandbox: Pick<Sandbox, 'node'>, node: string): Promise<ReadonlyMap<string, string>> => {
  const { stdout } = await sandbox.node(node, ['sh', '-ec', SCRIPT]);
  const parts = stdout.split(/^=== /m).slice(1);
  return new Map(parts.map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n') + 1)]));
};

const missing = (section: string): never => {
  throw new Error(`the node's dump has no ${section}`);
};

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '');

export const dumpNode = async (sandbox: Pick<Sandbox, 'node'>, node: string): Promise<NodeDump> => {
  const sections = await readSections(sandbox, node);
  const lines = (section: Section): string[] => linesOf(sections.get(section) ?? missing(section));
  return {
    links: lines('links')
      .map(linkLine)
      .filter((line) => !POD_LINK.test(line))
      .sort(),
    addresses: lines('addresses').map(addressLine).sort(),
    routes: lines('routes')
      .filter((line) => !line.startsWith('multicast') && !/ proto kernel| expires /.test(line))
      .sort(),
    rules: lines('rules').sort(),
    neighbours: lines('neighbours')
      .filter((line) => !NEIGHBOUR_STATES.test(line))
      .sort(),
    flows: lines('flows')
      .map((line) => line.trim())
      .filter((line) => !isPassing(line))
      .sort(),
    groups: lines('groups')
      .filter((line) => line.includes('group_id'))
      .map(groupLine)
      .sort(),
    nft: nftTable(sections.get('nft') ?? missing('nft')),
    sysctls: lines('sysctls')
      .filter((line) => !POD_SYSCTL.test(line))
      .sort(),
  };
};

/** When nothing is on its way any more: two in a row are the same. */
export const settledDump = (sandbox: Pick<Sandbox, 'node'>, node: string, timeoutMs = 60_000): Promise<NodeDump> =>
  eventually(async () => {
    const [first, second] = [await dumpNode(sandbox, node), await dumpNode(sandbox, node)];
    const changes = dumpDifference(first, second);
    if (changes.length > 0) throw new Error(`it still changes: ${changes.join('; ')}`);
    return second;
  }, timeoutMs);

/** @throws Error with what is not as in `right` after `timeoutMs` */
export const untilAsBefore = (
  sandbox: Pick<Sandbox, 'node'>,
  node: string,
  right: NodeDump,
  timeoutMs = 60_000,
): Promise<void> =>
  eventually(async () => {
    const changes = dumpDifference(right, await dumpNode(sandbox, node));
    if (changes.length > 0) throw new Error(`${changes.length} differences:\n${changes.slice(0, 30).join('\n')}`);
  }, timeoutMs);

/** What somebody would have to do to make one of the other: `+` is only in `after`, `-` only in `before`. */
export const dumpDifference = (before: NodeDump, after: NodeDump): string[] =>
  Object.keys(before).flatMap((section) => {
    const [old, now] = [before[section] ?? [], after[section] ?? []];
    return [
      ...old.filter((line) => !now.includes(line)).map((line) => `${section}: - ${line}`),
      ...now.filter((line) => !old.includes(line)).map((line) => `${section}: + ${line}`),
      ...(old.join('\n') === now.join('\n') || new Set(old).symmetricDifference(new Set(now)).size > 0
        ? []
        : [`${section}: another order`]),
    ];
  });

/**
 * Without counters; none when there is no table of ours. Chains, sets and maps are listed in the order in which they were
 * made, and elements as they are hashed: both mean nothing.
 */
const nftTable = (ruleset: string): string[] => {
  const found = /^table inet ovn-udn \{\n(.*?)^\}$/ms.exec(ruleset)?.[1] ?? '';
  return found
    .split(/^\t\}$/m)
    .map((object) => object.trim().replaceAll(/counter packets \d+ bytes \d+/g, 'counter'))
    .map((object) => object.replaceAll(/elements = \{([^}]*)\}/g, (_, elements: string) => sortedElements(elements)))
    .filter((object) => object !== '')
    .sort()
    .flatMap((object) => object.split('\n').map((line) => line.trim()));
};

const sortedElements = (text: string): string =>
  text
    .split(',')
    .map((element) => element.trim())
    .sort()
    .join('\n');

/** Of a group of type `all` every bucket is used: their order means nothing, ovs-ofctl(8). */
const groupLine = (line: string): string => {
  const [group = '', ...buckets] = line.trim().split(',bucket=');
  return [group, ...buckets.sort()].join(',bucket=');
};

/** Named by container: another one when the pod has a new sandbox. */
const POD_LINK = /^[0-9a-f]{13}(_1|[0-9a-f]{2}) /;
const POD_SYSCTL = /\/[0-9a-f]{13}(_1|[0-9a-f]{2})\//;
/** OVS and OVN make them, with an address by chance. */
const OF_OVS = ['br-int', 'ovs-netdev', 'ovs-system'];

/** Without the index, which is another one when a link was recreated, and what follows the state of a peer. */
const linkLine = (line: string): string => {
  const [, name = '', flags = '', rest = ''] = /^\d+: ([^:]+): <([^>]*)>(.*)$/.exec(line) ?? [];
  const master = / master (\S+)/.exec(rest)?.[1];
  const mtu = / mtu (\d+)/.exec(rest)?.[1];
  const table = / vrf table (\d+)/.exec(rest)?.[1];
  // The kernel gives a VRF an address by chance.
  const mac = OF_OVS.includes(name) || table !== undefined ? undefined : / link\/ether (\S+)/.exec(rest)?.[1];
  const isUp = flags.split(',').includes('UP');
  return [name.replace(/@.*$/, ''), isUp ? 'up' : 'down', `mtu ${mtu}`, mac, master && `master ${master}`, table]
    .filter((part) => part !== undefined)
    .join(' ');
};

const addressLine = (line: string): string => {
  const [, link, family, address] = /^\d+: (\S+)\s+(inet6?) (\S+)/.exec(line) ?? [];
  const deprecated = / deprecated/.test(line) ? ' deprecated' : '';
  return `${link} ${family} ${address}${deprecated}`;
};
