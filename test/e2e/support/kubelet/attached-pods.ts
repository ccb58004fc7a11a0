/** A pod of a real kubelet, which is on two VLANs and on a bridge of another plugin beside its own network: by the one ADD of containerd. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POD_ANNOTATIONS } from '../../../../api/names.ts';
import { FAMILIES, type Ip, parseIp } from '../../../../net/ip.ts';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { applyAndWait, deletePods } from '../cluster/cluster.ts';
import { clusterLocalnet, nad, plainNamespace, pod } from '../cluster/manifests.ts';
import { makeVlanHost, removeVlanHost } from '../networks/vlan-hosts.ts';

/** What agents have to run. */
export const ATTACHED_PLUGINS = ['bridge', 'host-local'] as const;

const VLANS = [100, 200] as const;
const hostsOf = (vlan: number): readonly Ip[] => [parseIp(`10.${vlan}.0.250`), parseIp(`fd00:${vlan}::fa`)];

const LAN: ManifestObject = { ...plainNamespace('lan'), metadata: { name: 'lan', labels: { team: 'lan' } } };
const LOCALNETS = VLANS.map((vlan) => {
  const subnets = [`10.${vlan}.0.0/24`, `fd00:${vlan}::/64`];
  return clusterLocalnet(`v${vlan}`, 'lan', { physicalNetworkName: 'physnet', subnets }, vlan);
});
const BRIDGE = nad('lan', 'bridge', {
  ...{ cniVersion: '1.0.0', name: 'lan', type: 'bridge', bridge: 'lan0', isGateway: true },
  ipam: { type: 'host-local', ranges: [[{ subnet: '10.95.0.0/24' }], [{ subnet: 'fd00:95::/64' }]] },
});
/** Where the plugin puts it on the node. */
const BRIDGE_ADDRESSES: readonly Ip[] = [parseIp('10.95.0.1'), parseIp('fd00:95::1')];

/** @param other has the hosts of the VLANs */
export const attachedPods = (cluster: () => Sandbox, [node, other]: readonly [string, string]): void => {
  describe('a pod with more networks', () => {
    beforeAll(async () => {
      for (const vlan of VLANS) {
        await makeVlanHost(cluster(), { node: other, bridge: 'br-ex', vlan, addresses: hostsOf(vlan) });
      }
      const selection = { [POD_ANNOTATIONS.selection]: 'v100,v200,bridge' };
      await applyAndWait(cluster(), [LAN, ...LOCALNETS, BRIDGE, pod('lan', 'attached', node, selection)]);
    });

    afterAll(async () => {
      await deletePods(cluster(), 'lan/attached');
      await (await cluster().objects()).delete([...LOCALNETS, LAN], { timeoutSeconds: 60 });
      for (const vlan of VLANS) await removeVlanHost(cluster(), { node: other, vlan });
      // The plugin leaves its bridge.
      await cluster().node(node, ['ip', 'link', 'del', 'lan0']);
    });

    it.each([
      ['net1', 'the hosts of VLAN 100', hostsOf(100)],
      ['net2', 'the hosts of VLAN 200', hostsOf(200)],
      ['net3', 'the node by the bridge of another plugin', BRIDGE_ADDRESSES],
    ] as const)('reaches by %s %s, by both families', async (device, _, addresses) => {
      expect(addresses).toHaveLength(FAMILIES.length);
      for (const address of addresses)
        await eventually(() => cluster().exec('lan/attached', ['ping', '-c', '1', '-W', '1', '-I', device, address]));
    });

    it('reaches nothing of a VLAN by the other one', async () => {
      const ping = `ping -c 1 -W 1 -I net1 ${hostsOf(200)[0]} > /dev/null && echo yes || echo no`;
      expect((await cluster().exec('lan/attached', ['sh', '-c', ping])).stdout.trim()).toBe('no');
    });
  });
};
