/** `udn-agent cleanup` where networks have VRFs, and the node's own stack forwards. In full it is in cleanup.test.ts. */
import { expect, it } from 'vitest';
import type { Sandbox } from '../../../sandbox/index.ts';
import { dumpNode } from './node-dump.ts';
import { ownedRows } from './owned-rows.ts';

const NODE = 'node-1';
/** Of the kernel's own, and the one that it makes with the first VRF and never deletes (vrf.c, `vrf_add_fib_rules`). */
const RULES_OF_THE_KERNEL =
  /^(0:\s+from all lookup local|1000:\s+from all lookup \[l3mdev-table\]|3276[67]:\s+from all lookup (main|default))$/;

/** Call it where tests are declared, last: it takes the node away. Networks are those of north-south.ts. */
export const vrfCleanup = (cluster: () => Sandbox): void => {
  it('udn-agent cleanup leaves no VRF, route, rule, flow or chain of ours', async () => {
    const ours = async (): Promise<string[]> => {
      const {
        links = [],
        routes = [],
        rules = [],
        flows = [],
        nft = [],
        neighbours = [],
      } = await dumpNode(cluster(), NODE);
      return [
        ...links.filter((line) => /^(ovn-k8s-mp|mp\d+-udn-vrf|shop )| 1000\d\d$/.test(line)),
        ...routes.filter((line) => / proto 85\b| table 1000\d\d\b/.test(line)),
        ...rules.filter((line) => !RULES_OF_THE_KERNEL.test(line.trim())),
        ...flows.filter((line) => /cookie=0xdeff105\b/.test(line)),
        ...neighbours.filter((line) => /\b169\.254\.0\.|\bfd69:/.test(line)),
        ...nft,
        ...(await ownedRows(cluster(), NODE)),
      ];
    };
    const before = await ours();
    for (const part of [/ master /, / 1000\d\d$/, / proto 85/, /^2000:/, /cookie=/, /^chain /]) {
      expect(before.filter((line) => part.test(line))).not.toEqual([]);
    }
    // An agent that is stopped like this repairs nothing; its socket still accepts, so another one is named.
    await cluster().kill(NODE, 'agent', 'SIGSTOP');
    await cluster().node(NODE, ['udn-agent', 'cleanup', '--status-socket', '/run/ovn-udn/none.sock']);
    expect(await ours()).toEqual([]);
  });
};
