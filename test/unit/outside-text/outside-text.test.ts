/**
 * What comes from outside as text, is damaged in every way and read: each reader gives a value or refuses with its own kind
 * of error, and soon. Bytes of netlink, OpenFlow's dumps, nft's listing, traces and the wire of OVSDB have such tests beside
 * their readers.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { restoreSysctls } from '../../../agent/cleanup/sysctl-ledger.ts';
import { classifyCgroup } from '../../../agent/node/cgroups/classify.ts';
import { cgroupRoot } from '../../../agent/node/cgroups/root.ts';
import { parseNodeIdAnnotation } from '../../../api/annotations/ids.ts';
import { parseL3GatewayConfig } from '../../../api/annotations/l3-gateway-config.ts';
import { parseDefaultNetworkSelection, parseNetworkSelections } from '../../../api/annotations/network-selection.ts';
import { parseTransitAddresses } from '../../../api/annotations/node-addresses.ts';
import { parseHostCidrs } from '../../../api/annotations/node-lists.ts';
import { parseNodeSubnets } from '../../../api/annotations/node-subnets.ts';
import { parseOpenDefaultPorts } from '../../../api/annotations/open-default-ports.ts';
import { parsePodNetworks } from '../../../api/annotations/pod-networks.ts';
import { parseTunnelKeys } from '../../../api/annotations/tunnel-keys.ts';
import { ApiError } from '../../../api/errors.ts';
import { readNode } from '../../../cli/doctor/read-node.ts';
import { CliError } from '../../../cli/errors.ts';
import { parseDatapathPorts } from '../../../cli/trace/port-names.ts';
import { createConntrack } from '../../../datapath/conntrack/conntrack.ts';
import { CommandError } from '../../../datapath/exec/errors.ts';
import { FakeCommandRunner } from '../../../datapath/exec/fake.ts';
import { FakeKernel } from '../../../datapath/netlink/fake/fake-kernel.ts';
import { fakeNetlink } from '../../../datapath/netlink/fake/fake-netlink.ts';
import { NftProgram } from '../../../datapath/nftables/nft-program.ts';
import { OutsideChanges } from '../../../datapath/nftables/outside-changes.ts';

interface Reader {
  readonly name: string;
  /** As it comes. */
  readonly text: string;
  readonly read: (text: string) => unknown;
  /** What it may refuse with; nothing when it reads whatever comes. */
  readonly refusal?: new (
    ...args: never[]
  ) => Error;
}

const ANNOTATIONS: readonly Reader[] = (
  [
    ['node id', '7', parseNodeIdAnnotation],
    ['host CIDRs', '["172.18.0.2/16","fd12::2/64"]', parseHostCidrs],
    ['node subnets', '{"default":["10.244.0.0/24","fd00::/64"],"red_net":"10.1.0.0/24"}', parseNodeSubnets],
    ['transit addresses', '{"ipv4":"100.88.0.2/16","ipv6":"fd97::2/64"}', parseTransitAddresses],
    ['tunnel keys', '[16711685,16715779]', parseTunnelKeys],
    [
      'gateway',
      '{"default":{"mode":"shared","bridge-id":"br-ex","interface-id":"br-ex_n1","mac-address":"02:00:ac:14:00:0b",' +
        '"ip-addresses":["172.18.0.2/16"],"next-hops":["172.18.0.1"],"node-port-enable":"true","vlan-id":"0"}}',
      parseL3GatewayConfig,
    ],
    [
      'pod networks',
      '{"default":{"ip_addresses":["10.244.0.5/24"],"mac_address":"0a:58:0a:f4:00:05","gateway_ips":["10.244.0.1"],' +
        '"routes":[{"dest":"10.96.0.0/16","nextHop":"10.244.0.1"}],"role":"primary"}}',
      parsePodNetworks,
    ],
    ['networks', 'blue/net@eth7, green/other', parseNetworkSelections],
    ['networks as JSON', '[{"name":"a","namespace":"b","ips":["10.0.0.5/24"]}]', parseNetworkSelections],
    [
      'primary network',
      '[{"name":"default","namespace":"ovn-kubernetes","mac":"0a:58:0a:f4:00:05"}]',
      parseDefaultNetworkSelection,
    ],
    ['open ports', '- protocol: tcp\n  port: 80\n- protocol: icmp\n', parseOpenDefaultPorts],
  ] as const
).map(([name, text, parse]) => ({
  name: `annotation: ${name}`,
  text,
  read: (changed) => parse(changed, 'red/a'),
  refusal: ApiError,
}));

const MONITOR = [
  'add element inet ovn-udn names { "ovn-k8s-mp7" }',
  '# new generation 4 by process 470 (nft)',
  'delete rule inet ovn-udn c handle 5',
  '# ERROR: We lost some netlink events!',
];

const TOOLS: readonly Reader[] = [
  {
    name: '/proc/self/mountinfo',
    text: '41 31 0:38 / /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw\n42 31 0:39 / /sys rw - sysfs s rw',
    read: (text) => cgroupRoot(text),
  },
  {
    name: 'names of cgroups',
    text: 'kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod992d3b9e_3f85_42e2_9558_9d4273d4236f.slice',
    read: (text) => classifyCgroup(text.split('/')),
  },
  {
    name: 'what nft monitor says',
    text: MONITOR.join('\n'),
    read: (text) => {
      const changes = new OutsideChanges(() => undefined);
      const end = changes.own();
      for (const line of text.split('\n')) changes.line(line);
      end(4);
    },
  },
  {
    name: 'ovs-appctl dpif/show',
    text: [
      'system@ovs-system: hit:10 missed:3',
      '  br-ex:',
      '    br-ex 65534/1: (internal)',
      '    patch-br-ex_n1-to-br-int 2/none: (patch: peer=patch-br-int-to-br-ex_n1)',
      '    ovn-n2-0 3/4: (geneve: csum=true, key=flow, remote_ip=172.18.0.3)',
    ].join('\n'),
    read: parseDatapathPorts,
    refusal: CliError,
  },
];

const damaged = (text: string): fc.Arbitrary<string> => {
  const words = fc.constantFrom(
    'constructor',
    '__proto__',
    'null',
    '[]',
    '{',
    '"',
    '\\',
    '\0',
    '\n',
    ' - ',
    '1e999',
    '-1',
  );
  const put = fc.oneof(words, fc.string({ unit: 'binary', maxLength: 3 }));
  const edit = fc.tuple(fc.nat(text.length), fc.nat(12), put);
  const edited = fc.array(edit, { minLength: 1, maxLength: 5 }).map((edits) => {
    let result = text;
    for (const [at, taken, added] of edits) result = result.slice(0, at) + added + result.slice(at + taken);
    return result;
  });
  return fc.oneof({ weight: 4, arbitrary: edited }, fc.string({ unit: 'binary' }), fc.json());
};

it.each([...ANNOTATIONS, ...TOOLS])('$name', ({ text, read, refusal }) => {
  read(text);
  fc.assert(
    fc.property(damaged(text), (changed) => {
      try {
        read(changed);
      } catch (error) {
        if (refusal === undefined) throw error;
        expect(error).toBeInstanceOf(refusal);
      }
    }),
    { numRuns: 1500 },
  );
});

const output = (stdout: string, stderr = '', exitCode = 0) => ({ stdout, stderr, exitCode });

it('what nft answers to a script, and why it refuses one', async () => {
  const answer = 'add rule inet ovn-udn c handle 5 ip daddr @s accept\n# new generation 5 by process 470 (nft)\n';
  await fc.assert(
    fc.asyncProperty(damaged(answer), async (changed) => {
      const program = new NftProgram({ runner: new FakeCommandRunner({ nft: () => output(changed) }) });
      const { rules, generation } = await program.run('');
      expect(rules.every((rule) => changed.includes(rule))).toBe(true);
      expect(generation === undefined || Number.isFinite(generation)).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

const DAEMONS: Readonly<Record<string, string>> = { status: 'Status: active\n', 'connection-status': 'connected\n' };

it('what conntrack and its datapath say', async () => {
  const dump = 'udp,orig=(src=10.0.0.5,dst=10.0.0.6,sport=1,dport=53),reply=(src=10.0.0.6),zone=64000,mark=4\n';
  const nothing = 'conntrack v1.4.8 (conntrack-tools): 0 flow entries have been deleted.\n';
  await fc.assert(
    fc.asyncProperty(damaged(dump), damaged(nothing), async (connections, refusal) => {
      const runner = new FakeCommandRunner({
        'ovs-appctl': ({ args }) => output(DAEMONS[args.at(-1) ?? ''] ?? connections),
        conntrack: () => output('', refusal, 1),
      });
      const netns = new FakeKernel().netns();
      const [nothingThere, controlSocket] = [() => Promise.resolve([]), () => Promise.resolve('/run/some.ctl')];
      const databases = { openvswitch: nothingThere, northbound: nothingThere, southbound: nothingThere };
      const { state, blind } = await readNode({ ...databases, controlSocket, netns, runner });
      expect(blind).toEqual([]);
      expect(state.conntrackMarks.flat().every((mark) => Number.isFinite(mark))).toBe(true);
      try {
        expect(await createConntrack(runner, nothingThere).flushAddress('169.254.0.12')).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(CommandError);
      }
    }),
    { numRuns: 1000 },
  );
});

it('the settings that somebody may have cut off or changed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
  const path = join(folder, 'sysctls.jsonl');
  const lines = '{"key":"ipv4/ip_forward","value":"0"}\n{"key":"ipv4/conf/br-ex/rp_filter","value":"1"}\n';
  await fc.assert(
    fc.asyncProperty(damaged(lines), async (changed) => {
      writeFileSync(path, changed);
      const netlink = fakeNetlink();
      const asked: unknown[] = [];
      const apply: typeof netlink.apply = ({ ops }) => {
        asked.push(...ops);
        return Promise.resolve([]);
      };
      await restoreSysctls({ apply }, path, AbortSignal.timeout(10_000));
      expect(asked.every((op) => typeof op === 'object')).toBe(true);
    }),
    { numRuns: 200 },
  );
  rmSync(folder, { recursive: true });
});
