/** What an installation leaves on a node as long as it is there. */
import type { Sandbox } from '../../../../sandbox/index.ts';

/** Not the plugin's file, which the sandbox has put there, nor folders that a pod's volumes created and left empty. */
const TRACES = `
ls /sys/class/net | sed 's/^/link /'
ip -brief address | sed 's/^/address /'
for family in -4 -6; do ip $family route show table all; ip $family rule; done | sed 's/ expires [0-9a-z]*//; s/^/route /'
ls /run/netns | sed 's/^/namespace /'
find /run/openvswitch /run/ovn /run/ovn-udn /var/lib/openvswitch /var/lib/ovn /etc/cni/net.d -mindepth 1 2>/dev/null | sed 's/^/file /'
nft -s list ruleset
`;

/** One line each, sorted. Link-local addresses of IPv6 come and go with the kernel's own routes. */
export const nodeTraces = async (sandbox: Sandbox, node: string): Promise<readonly string[]> => {
  const { stdout } = await sandbox.node(node, ['sh', '-c', TRACES]);
  return stdout
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .sort();
};
