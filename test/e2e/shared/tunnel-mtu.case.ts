/** A link that tunnels leave by and that takes smaller packets than pods send: whoever looks finds which networks that concerns. */
import { expect, it } from 'vitest';
import { checkNetworks } from '../../../cli/commands/check/networks.ts';
import type { Sandbox } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { applyAndWait } from '../support/cluster/cluster.ts';
import { layer3, namespace, pod } from '../support/cluster/manifests.ts';
import { udnctl } from '../support/cluster/udnctl.ts';

const NODE = 'node-1';

export const smallTunnels = (cluster: () => Sandbox): void => {
  it('is told for each network of the node, until packets fit again', async () => {
    const subnets = ['10.71.0.0/16/24', 'fd00:71::/48/64'];
    await applyAndWait(cluster(), [namespace('red'), layer3('red', 'net', subnets), pod('red', 'red-a', NODE)]);
    const request = (...argv: readonly string[]) => cluster().node(NODE, ['ovs-vsctl', ...argv]);
    const tooLarge = async (): Promise<readonly string[]> => {
      const { stdout } = await udnctl(cluster(), NODE, 'problems', '--all');
      return stdout.split('\n').filter((line) => line.includes(`tunnels of ${NODE} carry at most 1342 bytes`));
    };
    expect(await tooLarge()).toEqual([]);
    try {
      await request('set', 'Interface', 'br-ex', 'mtu_request=1400');
      await eventually(async () =>
        expect(await tooLarge()).toEqual(
          expect.arrayContaining([expect.stringContaining('Network/red_net'), expect.stringContaining(`Node/${NODE}`)]),
        ),
      );
      const client = await cluster().client();
      await eventually(async () => {
        const [finding] = await checkNetworks(client);
        for (const network of ['default', 'red_net'])
          expect(finding?.message).toContain(`node ${NODE}: network ${network}: its MTU is 1400, but tunnels`);
      });
    } finally {
      await request('set', 'Interface', 'br-ex', 'mtu_request=1500');
      await eventually(async () => expect(await tooLarge()).toEqual([]));
      await request('clear', 'Interface', 'br-ex', 'mtu_request');
    }
  });
};
