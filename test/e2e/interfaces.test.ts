/**
 * What is said of a pod's interfaces: by its network-status, how fast they may be, by annotations of its own, and what they are on, by a
 * NAD that is edited. Needs root and `make build`.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { parseAttachedNetworks } from '../../api/annotations/attached-networks.ts';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { PODS } from '../../kube/resources.ts';
import { FAMILIES, type Family, type Ip, ipFamily } from '../../net/ip.ts';
import type { ManifestObject } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { PROTOCOLS } from '../oracles/reachability/types.ts';
import { agentMetrics } from './support/cluster/agent-metrics.ts';
import { applyAndWait, deletePods, readPod, useCluster } from './support/cluster/cluster.ts';
import { layer3, nad, namespace, pod, secondaryLayer2, secondaryLayer3 } from './support/cluster/manifests.ts';
import { eventsOf } from './support/faults/events.ts';
import { arrivals, describePacket } from './support/packets/packets.ts';
import { type Transfer, throughput } from './support/packets/throughput.ts';
import { ownRowsNaming } from './support/state/rows.ts';

const cluster = useCluster({ name: 'test-interfaces', ipFamily: 'dual' });

const on = (inNamespace: string, name: string, node: string, networks: string): ManifestObject =>
  pod(inNamespace, name, node, { [POD_ANNOTATIONS.selection]: networks });

beforeAll(async () => {
  await applyAndWait(cluster(), [
    namespace('red'),
    layer3('red', 'net', ['10.80.0.0/16/24', 'fd00:80::/48/64']),
    secondaryLayer2('red', 'flat', ['10.90.0.0/24', 'fd00:90::/64']),
    secondaryLayer3('red', 'wide', ['10.91.0.0/16/24', 'fd00:91::/48/64']),
    secondaryLayer2('red', 'bare', []),
    on('red', 'a', 'node-1', 'flat,wide,bare'),
    on('red', 'b', 'node-2', 'flat'),
    on('red', 'c', 'node-1', 'flat'),
  ]);
});

/** @throws Error when it has none */
const addressOn = async (key: string, network: string, family: Family): Promise<Ip> => {
  const { attachments } = await readPod(cluster(), key);
  const found = attachments.find((one) => one.network === network)?.addresses.find((ip) => ipFamily(ip) === family);
  if (found === undefined) throw new Error(`${key} has no IPv${family} address on ${network}`);
  return found;
};

const macOf = async (key: string, device: string): Promise<string> =>
  (await cluster().exec(key, ['cat', `/sys/class/net/${device}/address`])).stdout.trim();

describe('network-status', () => {
  const statusOf = async (key: string): Promise<string | undefined> =>
    (await (await cluster().objects()).get('pod', key)).metadata.annotations?.[POD_ANNOTATIONS.networkStatus];
  const overwrite = async (key: string, text: string | null): Promise<void> => {
    const [namespace = '', name = ''] = key.split('/');
    const body = { metadata: { annotations: { [POD_ANNOTATIONS.networkStatus]: text } } };
    await (await cluster().client()).patch(PODS, { namespace, name }, { type: 'merge', body });
  };

  it('has the interfaces of the pod, with the addresses and MACs that they have in there', async () => {
    const text = await eventually(async () => (await statusOf('red/a')) ?? Promise.reject(new Error('not yet')));
    const networks = parseAttachedNetworks(text, 'red/a');
    expect(networks.map(({ name, interface: device }) => `${name} ${device}`)).toEqual([
      ...['ovn-kubernetes eth0', 'red/net ovn-udn1', 'red/flat net1', 'red/wide net2', 'red/bare net3'],
    ]);
    expect(networks.flatMap((one) => (one.default ? [one.interface] : []))).toEqual(['ovn-udn1']);
    for (const { interface: device = '', mac, ips = [], mtu } of networks) {
      expect(mac).toBe(await macOf('red/a', device));
      const { stdout } = await cluster().exec('red/a', ['ip', '-o', 'addr', 'show', 'dev', device, 'scope', 'global']);
      expect(ips.toSorted()).toEqual((stdout.match(/(?<=inet6? )[^/]+/g) ?? []).toSorted());
      const link = await cluster().exec('red/a', ['cat', `/sys/class/net/${device}/mtu`]);
      expect(mtu).toBe(Number(link.stdout));
    }
  });

  it('is put right when somebody changes it, and after a start of the agent where it is wrong, and nowhere else', async () => {
    const before = await eventually(async () => (await statusOf('red/c')) ?? Promise.reject(new Error('not yet')));
    await overwrite('red/c', '[]');
    await eventually(async () => expect(await statusOf('red/c')).toBe(before));
    await cluster().kill('node-1', 'agent', 'SIGSTOP');
    await overwrite('red/c', null);
    await cluster().kill('node-1', 'agent', 'SIGKILL');
    await eventually(async () => expect(await statusOf('red/c')).toBe(before), 60_000);
    const metrics = await agentMetrics(cluster(), 'node-1');
    expect(metrics).toContain('udn_agent_network_status_writes_total{result="written"} 1\n');
    expect(metrics).toContain('udn_agent_network_status_unwritten 0\n');
  });

  it('of a pod is never that of the pod before it that had its name', async () => {
    await applyAndWait(cluster(), [on('red', 'again', 'node-1', 'flat,bare')]);
    await eventually(async () => expect(await statusOf('red/again')).toContain('net2'));
    await deletePods(cluster(), 'red/again');
    await applyAndWait(cluster(), [on('red', 'again', 'node-1', 'wide@store')]);
    const own = await addressOn('red/again', 'red_wide', 4);
    await eventually(async () => expect(await statusOf('red/again')).toContain(own));
    expect(await statusOf('red/again')).not.toMatch(/net[12]/);
    await deletePods(cluster(), 'red/again');
  });
});

describe('bandwidth', () => {
  const LIMITED = {
    'kubernetes.io/ingress-bandwidth': '10M',
    'kubernetes.io/egress-bandwidth': '20M',
    [POD_ANNOTATIONS.selection]: '[{"name":"flat","bandwidth":{"ingressRate":20000000,"egressRate":10000000}}]',
  };

  it.each(FAMILIES)('of IPv%d is limited in each direction, by each interface, and nobody else is', async (family) => {
    await applyAndWait(cluster(), [pod('red', 'limited', 'node-1', LIMITED)]);
    const between = async (from: string, to: string, network: string): Promise<number> => {
      const transfer: Transfer = { from, to, address: await addressOn(to, network, family) };
      await eventually(() => cluster().exec(from, ['ping', '-c', '1', '-W', '1', transfer.address]));
      return throughput(cluster(), transfer);
    };
    const limits = [
      [await between('red/b', 'red/limited', 'red_net'), 10],
      [await between('red/limited', 'red/b', 'red_net'), 20],
      [await between('red/b', 'red/limited', 'red_flat'), 20],
      [await between('red/limited', 'red/b', 'red_flat'), 10],
    ] as const;
    for (const [measured, limit] of limits) {
      expect(measured).toBeLessThan(limit * 1.2);
      // A connection that loses packets does not use all that it may.
      expect(measured).toBeGreaterThan(limit / 4);
    }
    expect(await between('red/a', 'red/b', 'red_net')).toBeGreaterThan(40);
    expect(await between('red/b', 'red/a', 'red_flat')).toBeGreaterThan(40);
    await deletePods(cluster(), 'red/limited');
    await eventually(async () => expect(await ownRowsNaming(cluster(), 'node-1', 'red_limited')).toEqual([]));
  });

  it('of a text that is no quantity ends ADD, by a message that names the annotation', async () => {
    const objects = await cluster().objects();
    await objects.apply([pod('red', 'fast', 'node-1', { 'kubernetes.io/egress-bandwidth': 'fast' })]);
    const message = 'annotation kubernetes.io/egress-bandwidth of Pod red/fast: "fast" is not a quantity, as 10M is';
    await eventually(async () => {
      expect((await eventsOf(cluster(), 'red', 'fast')).map((event) => event.message).join('\n')).toContain(message);
    });
    await deletePods(cluster(), 'red/fast');
  });
});

describe('a NAD that is written by hand and edited under its pods', () => {
  const conf = (subnets: string, mtu = 1400) => ({
    ...{ cniVersion: '1.0.0', type: 'ovn-k8s-cni-overlay', name: 'wire', netAttachDefName: 'red/wire' },
    ...{ topology: 'layer2', role: 'secondary', subnets, mtu },
  });
  const mtuOf = async (key: string): Promise<number> =>
    Number((await cluster().exec(key, ['cat', '/sys/class/net/net1/mtu'])).stdout);
  const reaches = async (from: string, to: string): Promise<void> => {
    const addresses = await Promise.all(FAMILIES.map((family) => addressOn(to, 'wire', family)));
    const packets = addresses.flatMap((address) =>
      PROTOCOLS.map((protocol) => ({ from, to, address, protocol, device: 'net1' })),
    );
    await eventually(async () => expect(await arrivals(cluster(), packets)).toEqual(packets.map(describePacket)));
  };

  it('keeps its subnets, for new pods, too, until the last of them is gone', async () => {
    const objects = await cluster().objects();
    await applyAndWait(cluster(), [
      nad('red', 'wire', conf('10.92.0.0/24,fd00:92::/64')),
      on('red', 'wired', 'node-1', 'wire'),
      on('red', 'other', 'node-2', 'wire'),
    ]);
    await reaches('red/wired', 'red/other');
    await objects.apply([nad('red', 'wire', conf('10.93.0.0/24,fd00:93::/64'))]);
    await eventually(async () =>
      expect(await eventsOf(cluster(), 'red', 'wire')).toContainEqual(
        expect.objectContaining({
          ...{ type: 'Warning', reason: 'NetworkEditIgnored' },
          message: expect.stringContaining('pods are on network wire, so the edit of subnets has no effect'),
        }),
      ),
    );
    // An agent that remembers nothing goes by what the cluster manager has written on the NAD.
    await cluster().kill('node-1', 'agent');
    await applyAndWait(cluster(), [on('red', 'late', 'node-1', 'wire')]);
    for (const to of ['red/other', 'red/late']) await reaches('red/wired', to);
    expect(await addressOn('red/late', 'wire', 4)).toMatch(/^10\.92\./);
    await deletePods(cluster(), 'red/wired', 'red/other', 'red/late');
    await applyAndWait(cluster(), [on('red', 'wired', 'node-1', 'wire')]);
    expect(await addressOn('red/wired', 'wire', 4)).toMatch(/^10\.93\./);
    // That pods can run on with.
    await objects.apply([nad('red', 'wire', conf('10.93.0.0/24,fd00:93::/64', 1300))]);
    await eventually(async () =>
      expect((await eventsOf(cluster(), 'red', 'wire')).map(({ reason }) => reason)).toContain('NetworkEdited'),
    );
    await applyAndWait(cluster(), [on('red', 'other', 'node-2', 'wire')]);
    await reaches('red/wired', 'red/other');
    expect([await mtuOf('red/wired'), await mtuOf('red/other')]).toEqual([1400, 1300]);
    await deletePods(cluster(), 'red/wired', 'red/other');
    await objects.delete([nad('red', 'wire', '')]);
  });
});
