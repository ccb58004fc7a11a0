/** Everything that the agent programs on a node, as sorted lines that can be compared: what changes by itself is left out. */
import type { Sandbox } from '../../../sandbox/index.ts';

/** Section → lines. */
export type NodeDump = Readonly<Record<string, readonly string[]>>;

const NEIGHBOUR_STATES = / (REACHABLE|STALE|DELAY|PROBE|FAILED|INCOMPLETE|NOARP)\b/;

export const dumpNode = async (sandbox: Pick<Sandbox, 'node'>, node: string): Promise<NodeDump> => {
  const lines = async (...argv: string[]): Promise<string[]> => {
    const { stdout } = await sandbox.node(node, argv);
    return stdout
      .split('\n')
      .map((line) => line.trimEnd())
      .filter((line) => line !== '');
  };
  const ip = async (...args: string[]): Promise<string[]> =>
    (await Promise.all(['-4', '-6'].map((family) => lines('ip', family, ...args)))).flat();
  const [links, addresses, routes, rules, neighbours, flows, groups, nft, sysctls] = await Promise.all([
    lines('ip', '-o', '-d', 'link', 'show'),
    lines('ip', '-o', 'addr', 'show', 'scope', 'global'),
    ip('route', 'show', 'table', 'all'),
    ip('rule', 'show'),
    ip('neigh', 'show', 'nud', 'permanent'),
    lines('ovs-ofctl', '-O', 'OpenFlow15', '--no-stats', '--no-names', 'dump-flows', 'br-ex'),
    lines('ovs-ofctl', '-O', 'OpenFlow15', '--no-names', 'dump-groups', 'br-ex'),
    nftTable(sandbox, node),
    lines('sh', '-c', 'sysctl -a 2>/dev/null | grep -E "\\.(rp_filter|forwarding|force_forwarding|accept_ra) ="'),
  ]);
  return {
    links: links.map(linkLine).sort(),
    addresses: addresses.map(addressLine).sort(),
    routes: routes.filter((line) => !line.startsWith('multicast') && !/ proto kernel| expires /.test(line)).sort(),
    rules: rules.sort(),
    neighbours: neighbours.filter((line) => !NEIGHBOUR_STATES.test(line)).sort(),
    flows: flows.map((line) => line.trim()).sort(),
    groups: groups.filter((line) => line.includes('group_id')).sort(),
    nft,
    sysctls: sysctls.sort(),
  };
};

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

/** Without counters; none when there is no table of ours. */
const nftTable = async (sandbox: Pick<Sandbox, 'node'>, node: string): Promise<string[]> => {
  const { stdout } = await sandbox.node(node, ['nft', 'list', 'ruleset']);
  const found = /^table inet ovn-udn \{\n(.*?)^\}$/ms.exec(stdout)?.[1] ?? '';
  return found
    .split('\n')
    .map((line) => line.trim().replaceAll(/counter packets \d+ bytes \d+/g, 'counter'))
    .filter((line) => line !== '');
};

/** Without the index, which is another one when a link was made anew, and what follows the state of a peer. */
const linkLine = (line: string): string => {
  const [, name = '', flags = '', rest = ''] = /^\d+: ([^:]+): <([^>]*)>(.*)$/.exec(line) ?? [];
  const master = / master (\S+)/.exec(rest)?.[1];
  const mac = / link\/ether (\S+)/.exec(rest)?.[1];
  const mtu = / mtu (\d+)/.exec(rest)?.[1];
  const table = / vrf table (\d+)/.exec(rest)?.[1];
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
