/**
 * More networks on a node than ovs-vswitchd could give one packet to: it makes 4096 steps for a packet (`MAX_RESUBMITS`), and
 * each gateway router takes some 60. Needs root and `make build`.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES } from '../../net/ip.ts';
import type { Sandbox } from '../../sandbox/index.ts';
import { stateFolder } from '../../sandbox/supervisor/state-folder.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { useCluster } from './support/cluster/cluster.ts';
import { layer2, namespace, pod } from './support/cluster/manifests.ts';
import { nodeAddress, outside, seenOverHttp } from './support/networks/north-south.ts';
import { runAt, sendFrames } from './support/packets/capture.ts';
import { ALL_NODES, arp, BROADCAST, multicastMac, neighbourAdvertisement } from './support/packets/frames.ts';

const SANDBOX = 'test-many-networks';
const NODE = 'node-1';
const COUNT = 102;
const NAMES = Array.from({ length: COUNT }, (_, index) => `n${String(index + 1).padStart(3, '0')}`);
/** The first, one that would be beyond the limit, and the last. */
const WITH_PODS = ['n001', 'n060', `n${COUNT}`];
const WAIT = { timeoutSeconds: 60 };

const cluster = useCluster({
  name: SANDBOX,
  nodes: 1,
  settings: { UDN_NETWORK_RENDERING: 'always' },
});

beforeAll(async () => {
  const objects = await cluster().objects();
  const networks = NAMES.map((name) => layer2(name, 'net', ['10.70.0.0/16', 'fd00:70::/64']));
  await objects.apply([...NAMES.map((name) => namespace(name)), ...networks]);
  await Promise.all(
    NAMES.map((name) => objects.wait('UserDefinedNetwork', `${name}/net`, 'condition=NetworkCreated', WAIT)),
  );
  await objects.apply(WITH_PODS.map((name) => pod(name, 'a', NODE)));
  await Promise.all(WITH_PODS.map((name) => objects.wait('pod', `${name}/a`, 'ready', WAIT)));
  await eventually(async () => {
    const { stdout } = await cluster().node(NODE, ['ovs-vsctl', 'list-ports', 'br-ex']);
    expect(stdout.match(/_net_node-1-to-br-int/g)).toHaveLength(COUNT);
  }, 60_000);
});

const allReachOutside = (sandbox: Sandbox, withinMs: number): Promise<unknown> =>
  Promise.all(
    WITH_PODS.flatMap((name) =>
      FAMILIES.map((family) =>
        eventually(async () => {
          expect(await seenOverHttp(sandbox, `${name}/a`, family)).toBe(nodeAddress(NODE, family));
        }, withinMs),
      ),
    ),
  );

const isNowAt = (sandbox: Sandbox, mac: string): Promise<unknown> =>
  sandbox.outside(['ip', 'link', 'set', 'eth0', 'address', mac]);

/** Of the host outside: which routers know it at this MAC address. */
const routersThatKnow = async (sandbox: Sandbox, mac: string): Promise<string[]> => {
  const argv = ['ovn-sbctl', '--bare', '--columns=logical_port', 'find', 'MAC_Binding', `mac="${mac}"`];
  const { stdout } = await sandbox.node(NODE, [...argv, `ip="${outside(4)}"`]);
  return stdout.split('\n').filter((line) => line !== '');
};

const numberOf = async (sandbox: Sandbox, port: string): Promise<string> =>
  (await sandbox.node(NODE, ['ovs-vsctl', 'get', 'Interface', port, 'ofport'])).stdout.trim();

/** How often a packet goes into OVN, which has a patch port for each network. ovs-vswitchd(8), ofproto/trace. */
const timesIntoOvn = async (sandbox: Sandbox, packet: string): Promise<number> => {
  const { stdout } = await sandbox.node(NODE, ['ovs-appctl', 'ofproto/trace', 'br-ex', packet]);
  expect(stdout).toContain('Datapath actions: ');
  return stdout.split('bridge("br-int")').length - 1;
};

describe(`on a node with ${COUNT} networks`, () => {
  it('the first, one in the middle and the last reach the outside', async () => {
    await allReachOutside(cluster(), 20_000);
  });

  it('they follow a host outside that announces another MAC address', async () => {
    const { stdout } = await cluster().outside(['cat', '/sys/class/net/eth0/address']);
    const before = stdout.trim();
    expect(await routersThatKnow(cluster(), before)).not.toEqual([]);
    const mac = '02:00:ac:14:99:01';
    await isNowAt(cluster(), mac);
    await sendFrames(cluster(), 'outside', [
      {
        device: 'eth0',
        frame: arp({ from: mac, to: BROADCAST }, { op: 'request', tell: outside(4), about: outside(4) }),
      },
      {
        device: 'eth0',
        frame: neighbourAdvertisement({ from: mac, to: multicastMac(ALL_NODES) }, outside(6), ALL_NODES, outside(6)),
      },
    ]);
    await allReachOutside(cluster(), 5_000);
    const routers = WITH_PODS.map((name) => `rtoe-GR_${name}_net_${NODE}`);
    expect(await routersThatKnow(cluster(), mac)).toEqual(expect.arrayContaining([...routers, `rtoe-GR_${NODE}`]));
    expect(await routersThatKnow(cluster(), before)).toEqual([]);
  });

  it('they follow one that does not announce it, when the node finds out', async () => {
    await isNowAt(cluster(), '02:00:ac:14:99:02');
    for (const family of FAMILIES) {
      await eventually(() => runAt(cluster(), NODE, ['ping', '-c1', '-W1', outside(family)]), 30_000);
    }
    await allReachOutside(cluster(), 5_000);
  });

  it('what a network asks reaches no other, and what is answered only those that it concerns', async () => {
    const { stdout } = await cluster().node(NODE, ['cat', '/sys/class/net/br-ex/address']);
    const mac = stdout.trim();
    const asked = `arp_op=1,arp_spa=${nodeAddress(NODE, 4)},arp_sha=${mac}`;
    for (const name of WITH_PODS) {
      const from = `in_port=${await numberOf(cluster(), `patch-br-ex_${name}_net_${NODE}-to-br-int`)},arp,dl_src=${mac},dl_dst=${BROADCAST}`;
      expect(await timesIntoOvn(cluster(), `${from},${asked},arp_tpa=172.20.0.200`)).toBe(0);
      // Its answer goes back where the question came from.
      expect(await timesIntoOvn(cluster(), `${from},${asked},arp_tpa=${outside(4)}`)).toBe(1);
    }
    const uplink = await numberOf(cluster(), 'eth0');
    const answer = `in_port=${uplink},arp,dl_dst=${mac},arp_op=2,arp_spa=172.20.0.200,arp_sha=02:00:ac:14:99:77`;
    expect(await timesIntoOvn(cluster(), answer)).toBe(1);
    const announced = `in_port=${uplink},arp,dl_dst=${BROADCAST},arp_op=1,arp_spa=172.20.0.200,arp_sha=02:00:ac:14:99:77`;
    expect(await timesIntoOvn(cluster(), announced)).toBe(1);
  });

  it('no packet was too much for ovs-vswitchd', async () => {
    const log = await readFile(join(stateFolder(SANDBOX).logs, `${NODE}.ovs-vswitchd.log`), 'utf8');
    expect(log).toContain('ovs-vswitchd');
    expect(log.split('\n').filter((line) => line.includes('resubmit actions'))).toEqual([]);
  });
});
