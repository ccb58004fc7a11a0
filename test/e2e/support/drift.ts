/** What somebody may do to what is ours on a node, one kind of object after the other, and what must become of it. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { ManifestObject, Sandbox } from '../../../sandbox/index.ts';
import { applyAndWait } from './cluster.ts';
import { layer2, layer3, namespace, pod } from './manifests.ts';
import { type NodeDump, settledDump, untilAsBefore } from './node-dump.ts';

export interface Damage {
  readonly what: string;
  /** A shell command on the node, written by us: it has no input. */
  readonly command: string;
  /** Only the slow timer finds it: there is no event. */
  readonly slow?: boolean;
}

const NODE = 'node-1';
const METRICS_ADDRESS = '127.0.0.1:19409';

/** For the cluster. */
export const DRIFT_SETTINGS = { UDN_METRICS_ADDRESS: METRICS_ADDRESS };
const REPAIR_MS = 40_000;
const LONGEST_REPAIR_MS = 120_000;

export const DRIFT_MANIFESTS = [
  namespace('red'),
  layer3('red', 'net', ['10.72.0.0/16/24', 'fd00:72::/48/64']),
  namespace('green'),
  layer2('green', 'net', ['10.73.0.0/16', 'fd00:73::/64']),
  pod('red', 'a', NODE),
  pod('green', 'a', NODE),
];

/** Of every kernel. */
export const DAMAGES: readonly Damage[] = [
  {
    what: 'a flow is deleted',
    command: 'ovs-ofctl --strict del-flows br-ex "table=0,priority=50,ip,dl_dst=$(cat /sys/class/net/br-ex/address)"',
  },
  { what: 'all flows are deleted', command: 'ovs-ofctl del-flows br-ex' },
  {
    what: 'a flow of ours is added that nobody wants',
    command: 'ovs-ofctl add-flow br-ex "cookie=0xdeff105,table=0,priority=900,ip,nw_dst=192.0.2.77,actions=drop"',
  },
  { what: 'a group is deleted', command: 'ovs-ofctl -O OpenFlow15 del-groups br-ex', slow: true },
  { what: 'an address of the management port is deleted', command: 'ip -4 addr flush dev ovn-k8s-mp0' },
  { what: 'the management port is set down', command: 'ip link set ovn-k8s-mp0 down' },
  { what: 'the management port is deleted', command: 'ovs-vsctl del-port br-int ovn-k8s-mp0' },
  { what: 'a route is deleted', command: 'ip -4 route flush table main proto 85' },
  { what: 'an IPv6 route is deleted', command: 'ip -6 route flush table main proto 85' },
  { what: 'a neighbour is deleted', command: 'ip -4 neigh flush dev br-ex nud permanent' },
  {
    what: 'the masquerade address of the bridge is deleted',
    command: 'ip addr del "$(ip -o -4 addr show dev br-ex | grep -o "169\\.254[^ ]*")" dev br-ex',
  },
  { what: 'a chain loses its rules', command: 'nft flush chain inet ovn-udn udn-isolation' },
  { what: 'the table is deleted', command: 'nft delete table inet ovn-udn' },
  { what: 'an element is deleted', command: 'nft flush set inet ovn-udn udn-pod-default-ips-v4' },
  { what: 'a gateway router is deleted', command: 'ovn-nbctl lr-del GR_red_net_node-1' },
  { what: 'a NAT is deleted', command: 'ovn-nbctl lr-nat-del GR_red_net_node-1' },
  {
    what: 'the bridge mapping is changed',
    command: 'ovs-vsctl set Open_vSwitch . external_ids:ovn-bridge-mappings=other:br-ex',
  },
  { what: 'a sysctl is changed', command: 'sysctl -qw net.ipv4.conf.ovn-k8s-mp0.forwarding=0', slow: true },
];

/** Call it where tests are declared. */
export const drift = (
  cluster: () => Sandbox,
  damages: readonly Damage[],
  manifests: readonly ManifestObject[] = DRIFT_MANIFESTS,
): void => {
  let right: NodeDump = {};

  beforeAll(async () => {
    await applyAndWait(cluster(), manifests);
    right = await settledDump(cluster(), NODE, await repairMs(cluster()));
    expect(right['flows']?.length).toBeGreaterThan(20);
  });

  describe('what somebody does to the node is undone', () => {
    it.each(damages)('$what', async ({ command, slow = false }) => {
      const slowdown = await cluster().slowdown();
      const counted = await repairs(cluster());
      const start = performance.now();
      await cluster().node(NODE, ['sh', '-c', command]);
      await untilAsBefore(cluster(), NODE, right, await repairMs(cluster()));
      const seconds = (performance.now() - start) / 1000;
      if (!slow) expect(seconds).toBeLessThan(10 * slowdown);
      expect(await repairs(cluster())).toBeGreaterThan(counted);
    });
  });
};

/** Less than the time of a test, so that it is told what is not as before. */
const repairMs = async (sandbox: Sandbox): Promise<number> =>
  Math.min(REPAIR_MS * (await sandbox.slowdown()), LONGEST_REPAIR_MS);

/** How often the agent found something that somebody had changed. */
const repairs = async (sandbox: Sandbox): Promise<number> => {
  const { stdout } = await sandbox.node(NODE, ['curl', '-sf', `http://${METRICS_ADDRESS}/metrics`]);
  return [...stdout.matchAll(/^udn_agent_drift_repairs_total\{[^}]*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
};
