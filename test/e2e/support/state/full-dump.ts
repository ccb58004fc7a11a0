/**
 * Everything that a node has which an agent could have touched, ours or not, as sorted lines: to be compared before the first
 * agent and after the last. What counts, ages or is made up by chance is left out, each with its reason.
 */
import type { Sandbox } from '../../../../sandbox/index.ts';
import type { NodeDump } from './node-dump.ts';
import { readDatabase } from './node-state.ts';
import { describeTables, sortedLines } from './rows.ts';

type Runner = Pick<Sandbox, 'node'>;

export const fullDump = async (sandbox: Runner, node: string): Promise<NodeDump> => {
  const lines = async (script: string): Promise<string[]> =>
    sortedLines((await sandbox.node(node, ['sh', '-ec', script])).stdout);
  const entries = Object.entries(SECTIONS).map(async ([name, { script, clean = same }]) => {
    const found = await lines(script);
    return [
      name,
      found
        .map(clean)
        .filter((line) => line !== '')
        .toSorted(),
    ] as const;
  });
  // With their `_uuid`: what was there may not have been recreated.
  const databases = DATABASES.map(async (name) => {
    const rows = describeTables(await readDatabase(sandbox, node, name));
    return [
      name,
      rows
        .map(withoutDaemonsOwn)
        .filter((row) => row !== '')
        .toSorted(),
    ] as const;
  });
  return Object.fromEntries(await Promise.all([...entries, ...databases]));
};

const DATABASES = ['OVN_Northbound', 'OVN_Southbound', 'Open_vSwitch'] as const;

/**
 * ovn-controller remembers the zones of its ports on its bridge and sets the prefixes of its flow tables, northd says where in its
 * source a flow comes from: neither is undone before they start again.
 */
const withoutDaemonsOwn = (row: string): string =>
  row.startsWith('Flow_Table ')
    ? ''
    : withoutNorthdsIds(row)
        .replaceAll(/"ct-zone-[^"]*":"\d+",?/g, '')
        .replaceAll(/"ovn-(nb-cfg(-ts)?|startup-ts)":"\d+",?/g, '')
        .replaceAll(/"flow_tables":\{[^}]*\}/g, '')
        .replaceAll(/"source":"northd\.c:\d+",?/g, '');

/** northd makes logical flows again when it makes a group of their datapaths again, of the same ones, too. */
const withoutNorthdsIds = (row: string): string =>
  /^Logical_(Flow|DP_Group) /.test(row) ? row.replaceAll(/"(_uuid|logical_dp_group)":"[^"]*",?/g, '') : row;

interface Section {
  readonly script: string;
  readonly clean?: (line: string) => string;
}

const same = (line: string): string => line;

const both = (command: string): string => [4, 6].map((family) => command.replace(/^ip /, `ip -${family} `)).join('; ');

const SECTIONS: Readonly<Record<string, Section>> = {
  links: {
    script: 'ip -o -d link show',
    // Indexes of links that were made meanwhile, queues that a driver sets up when it likes, and states of the peer.
    clean: (line) => line.replace(/^\d+: /, '').replaceAll(/ (if\d+|state \S+|qdisc \S+|qlen \d+|numtxqueues.*)/g, ''),
  },
  addresses: { script: 'ip -o addr show', clean: (line) => line.replace(/^\d+: /, '').replace(/\\.*/, '') },
  routes: { script: both('ip route show table all'), clean: (line) => line.replace(/ expires \S+/, '') },
  // The kernel makes the rule with the first VRF of a network namespace, once (drivers/net/vrf.c, vrf_add_fib_rules): who deletes it
  // would leave later VRFs without it.
  rules: { script: both('ip rule show'), clean: (line) => (line.includes('[l3mdev-table]') ? '' : line) },
  vrfs: { script: 'ip vrf show' },
  // Those that nobody wrote come and go.
  neighbours: { script: `${both('ip neigh show nud permanent')}; ${both('ip neigh show proxy')}` },
  sysctls: { script: 'sysctl -a 2>/dev/null', clean: (line) => (COUNTING.test(line) ? '' : line) },
  nft: { script: 'nft list ruleset' },
  flows: { script: onBridges('dump-flows --no-stats', 'grep -vx br-int'), clean: withoutCookie },
  // Without a database ovn-controller keeps what it has installed for no network in particular.
  integration: {
    script: 'ovs-ofctl -O OpenFlow15 --no-stats dump-flows br-int',
    clean: (line) => (OF_NETWORKS.test(line) ? withoutCookie(line) : ''),
  },
  groups: { script: onBridges('dump-groups') },
  meters: { script: onBridges('dump-meters') },
  ports: {
    script: onBridges('dump-ports-desc'),
    clean: (line) => (/^\d*\(?\w*\)?: addr|config/.test(line) ? line : ''),
  },
  datapath: { script: 'ovs-appctl dpctl/dump-conntrack', clean: (line) => (/zone=|mark=/.test(line) ? line : '') },
  conntrack: {
    script: 'conntrack -L -f ipv4 2>/dev/null; conntrack -L -f ipv6 2>/dev/null',
    clean: (line) => (/zone=|mark=[1-9]|=(10|169\.254)\.|=fd(69|00:(10|6\d)):/.test(line) ? line : ''),
  },
  // Those of pods are the kubelet's.
  cgroups: {
    script: 'find /sys/fs/cgroup -type d',
    clean: (line) => (/\/kubepods|\/containerd\.service/.test(line) ? '' : line),
  },
  files: { script: 'find /etc/cni /opt/cni /etc/openvswitch /run/ovn-udn /var/lib/cni -print 2>/dev/null || true' },
};

function onBridges(command: string, filter = 'cat'): string {
  return `for bridge in $(ovs-vsctl list-br | ${filter}); do ovs-ofctl -O OpenFlow15 ${command} $bridge; done`;
}

function withoutCookie(line: string): string {
  return line.replace(/cookie=0x[0-9a-f]+, /, '');
}

/** Flows that name a MAC of OVN's making, or an address of pods, routers or masquerading. */
const OF_NETWORKS = /metadata=0x|0a:58:|=10\.\d|=100\.\d|=169\.254\.|=fd/;

/** What the kernel counts or makes up, and what is not of a network namespace. */
const COUNTING = /^(?!net\.)|^net\.netfilter\.nf_conntrack_count|_random_|stable_secret/;
