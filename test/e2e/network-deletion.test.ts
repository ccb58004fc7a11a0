/** Nothing is left of networks that are deleted, and nobody else notices. Needs root and `make build`. */
import { beforeAll, describe, expect, it } from 'vitest';
import { networkCtMark } from '../../agent/model/registry/marks.ts';
import { RULE_PRIORITIES, vrfTable } from '../../agent/model/registry/routing.ts';
import { CommandError } from '../../datapath/exec/errors.ts';
import { parseNetworkId } from '../../net/ids.ts';
import { FAMILIES } from '../../net/ip.ts';
import type { ManifestObject } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { applyAndWait, deletePods, readPod, useCluster } from './support/cluster.ts';
import { note } from './support/faults/survive.ts';
import { layer2, layer3, namespace, pod } from './support/manifests.ts';
import { type NodeDump, settledDump, untilAsBefore } from './support/node-dump.ts';
import { nodeAddress, seenOverHttp } from './support/north-south.ts';
import { addressOfFamily } from './support/packets.ts';
import { ownRowsNaming, rowsNaming } from './support/rows.ts';
import { streamWhile } from './support/stream.ts';

const NODES = ['node-1', 'node-2'] as const;
const NODE = NODES[0];
const GONE_MS = 60_000;
const cluster = useCluster({ name: 'test-deletion' });
const before = new Map<string, NodeDump>();

beforeAll(async () => {
  await applyAndWait(cluster(), [
    namespace('stays'),
    layer3('stays', 'net', ['10.80.0.0/16/24', 'fd00:80::/48/64']),
    pod('stays', 'a', NODE),
    pod('stays', 'b', 'node-2'),
  ]);
  await untilSeenOutside('stays/a');
  for (const node of NODES) before.set(node, await settledDump(cluster(), node));
});

const onNode = async (...argv: string[]): Promise<string> => (await cluster().node(NODE, argv)).stdout;

const untilSeenOutside = async (from: string): Promise<void> => {
  for (const family of FAMILIES) {
    await eventually(async () => expect(await seenOverHttp(cluster(), from, family)).toBe(nodeAddress(NODE, family)));
  }
};

/** The networks, a namespace for each, and their pods on both nodes. */
const tenants = (count: number, name: string): { readonly networks: ManifestObject[]; readonly pods: string[] } => {
  const names = Array.from({ length: count }, (_, index) => `${name}${index}`);
  return {
    networks: names.flatMap((tenant, index) => [
      namespace(tenant),
      index % 2 === 0
        ? layer3(tenant, 'net', ['10.81.0.0/16/24', 'fd00:81::/48/64'])
        : layer2(tenant, 'net', ['10.82.0.0/16', 'fd00:82::/64']),
    ]),
    pods: names.flatMap((tenant) => [`${tenant}/a`, `${tenant}/b`]),
  };
};

const podsOf = (keys: readonly string[]): ManifestObject[] =>
  keys.map((key) => {
    const [tenant = '', name = ''] = key.split('/');
    return pod(tenant, name, name === 'a' ? NODES[0] : NODES[1]);
  });

/** Everything that a node has is as it was, no row names the networks, no connection has their marks. */
const untilNothingIsLeft = async (name: string, marks: readonly number[]): Promise<void> => {
  const start = performance.now();
  const told = (what: string): void =>
    note(`${name}: ${what} after ${((performance.now() - start) / 1000).toFixed(1)} s`);
  for (const node of NODES) {
    await untilAsBefore(cluster(), node, before.get(node) ?? {}, GONE_MS);
    told(`${node} is as it was`);
    await eventually(async () => expect(await ownRowsNaming(cluster(), node, name)).toEqual([]), GONE_MS);
    // The last ones are patch ports, with which ovn-controller takes its time.
    told(`no row of ${node} names it`);
  }
  await eventually(async () => expect((await marksSeen()).filter((mark) => marks.includes(mark))).toEqual([]), GONE_MS);
  told('no connection has its mark');
  await eventually(async () => expect(await connectionsOfGone()).toEqual([]), GONE_MS);
  told('no zone has a connection of its pods');
  await eventually(async () => expect(await doctor()).toMatchObject({ status: 0 }), GONE_MS);
};

/** Of connections through the gateway bridge. */
const marksSeen = async (): Promise<number[]> => {
  const output = await onNode('ovs-appctl', 'dpctl/dump-conntrack', 'zone=64000');
  return [...output.matchAll(/\bmark=(\d+)/g)].map(([, mark]) => Number(mark));
};

/** In all zones of the datapath, and in the kernel: nobody but networks that go has these addresses. */
const connectionsOfGone = async (): Promise<string[]> => {
  const dumps = [
    await onNode('ovs-appctl', 'dpctl/dump-conntrack'),
    await onNode('conntrack', '-L', '-f', 'ipv4'),
    await onNode('conntrack', '-L', '-f', 'ipv6'),
  ];
  return dumps.flatMap((dump) => dump.split('\n')).filter((line) => /=(10\.8[12]\.|fd00:8[12]:)/.test(line));
};

const doctor = async (
  ...flags: string[]
): Promise<{ readonly stdout: string; readonly status: number | undefined }> => {
  try {
    return { stdout: await onNode('udnctl', 'doctor', ...flags), status: 0 };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { stdout: error.stdout, status: error.exitCode };
  }
};

const markOf = async (tenant: string): Promise<number> => {
  const networks: { name: string; id: number }[] = JSON.parse(await onNode('udnctl', 'networks', '-o', 'json'));
  const found = networks.find(({ name }) => name.startsWith(`${tenant}_`));
  if (found === undefined) throw new Error(`there is no network of ${tenant}`);
  return networkCtMark(parseNetworkId(found.id));
};

const streamDuring = async (work: () => Promise<void>): Promise<string> => {
  const to = addressOfFamily(await readPod(cluster(), 'stays/b'), 4);
  return await streamWhile(cluster(), { from: 'stays/a', to }, work);
};

describe('of networks that are deleted', () => {
  it('nothing is left on any node, not even connections; others go on', async () => {
    const { networks, pods } = tenants(2, 'gone');
    const marks: number[] = [];
    const stream = await streamDuring(async () => {
      await applyAndWait(cluster(), [...networks, ...podsOf(pods)]);
      for (const tenant of ['gone0', 'gone1']) {
        await untilSeenOutside(`${tenant}/a`);
        marks.push(await markOf(tenant));
      }
      expect(await marksSeen()).toEqual(expect.arrayContaining(marks));
      expect((await connectionsOfGone()).length).toBeGreaterThan(0);
      expect(await rowsNaming(cluster(), NODE, 'gone0')).not.toEqual([]);
      await deletePods(cluster(), ...pods);
      await (await cluster().objects()).delete(networks);
      await untilNothingIsLeft('gone', marks);
    });
    expect(stream).toBe('whole');
  });

  it('twenty that come and go at the same time leave nothing, and keep nobody waiting', async () => {
    const { networks, pods } = tenants(20, 'many');
    const late = tenants(1, 'newcomer');
    const stream = await streamDuring(async () => {
      await applyAndWait(cluster(), [...networks, ...podsOf(pods.slice(0, 8))]);
      await deletePods(cluster(), ...pods.slice(0, 8));
      await (await cluster().objects()).delete(networks);
      // Nobody waits for it: another one comes meanwhile.
      const start = performance.now();
      await applyAndWait(cluster(), [...late.networks, ...podsOf(late.pods)]);
      await untilSeenOutside('newcomer0/a');
      const seconds = (performance.now() - start) / 1000;
      note(`another network works after ${seconds.toFixed(1)} s`);
      expect(seconds).toBeLessThan(15);
      await deletePods(cluster(), ...late.pods);
      await (await cluster().objects()).delete(late.networks);
      for (const name of ['many', 'newcomer']) await untilNothingIsLeft(name, []);
    });
    expect(stream).toBe('whole');
  });
});

describe('udnctl doctor', () => {
  const id = parseNetworkId(777);
  /** A packet of its own through the connection tracker. */
  const FIELDS = 'dl_type=0x0800,nw_proto=17,nw_src=192.0.2.1,nw_dst=192.0.2.2,nw_ttl=64,udp_src=7,udp_dst=8';
  const COMMIT = `ct(commit,zone=64000,exec(set_field:${networkCtMark(id)}->ct_mark))`;
  const PLANTED = [
    `ip rule add priority ${RULE_PRIORITIES.network} fwmark 0x777 lookup ${vrfTable(id)} protocol 85`,
    `ip route add blackhole 192.0.2.0/24 table ${vrfTable(id)} proto 85`,
    'ip link add stale0 type veth peer name stale1',
    `ip link set stale0 group 7693422 alias ovn-udn:${'f'.repeat(64)}:eth0:nobody`,
    `packet=$(ovs-ofctl compose-packet --bare "${FIELDS}")
     ovs-ofctl -O OpenFlow15 packet-out br-ex "in_port=LOCAL packet=$packet actions=${COMMIT}"`,
  ];

  it('lists what is planted, removes it when it is to, and then finds nothing', async () => {
    await eventually(async () => expect(await doctor()).toMatchObject({ status: 0 }), GONE_MS);
    for (const command of PLANTED) await onNode('sh', '-ec', command);
    const dry = await doctor();
    expect(dry.status).toBe(1);
    expect(dry.stdout).toContain('left: link stale0');
    expect(dry.stdout).toContain(`connections with ct mark 0x${networkCtMark(id).toString(16)} in zone 64000`);
    expect(await marksSeen()).toContain(networkCtMark(id));
    expect(await onNode('ip', '-o', 'link', 'show', 'stale0')).toContain('stale0');
    expect(await doctor('--fix')).toMatchObject({ status: 0 });
    expect(await doctor()).toEqual({ stdout: 'nothing is left of networks and pods that are gone\n', status: 0 });
    await untilNothingIsLeft('stale', [networkCtMark(id)]);
  });
});
