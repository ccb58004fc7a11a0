/** One port on the default network's switch, by OVN's and Open vSwitch's own tools, until ovn-controller says that it is there. */
import type { WholeNode } from './whole-node.ts';

/** @returns milliseconds */
export const onePort = async ({ node, quiet }: WholeNode, round: number): Promise<number> => {
  const [port, link] = [`bench-port-${round}`, `bench${round}`];
  const number = (round % 200) + 10;
  const addresses = `0a:58:0a:80:01:${number.toString(16).padStart(2, '0')} 10.128.1.${number}`;
  const start = performance.now();
  await node.run(['ovn-nbctl', 'lsp-add', 'node-1', port, '--', 'lsp-set-addresses', port, addresses]);
  await node.run([
    ...['ovs-vsctl', 'add-port', 'br-int', link],
    ...['--', 'set', 'Interface', link, 'type=internal', `external_ids:iface-id=${port}`],
  ]);
  await node.run(['ovs-vsctl', '--timeout=30', 'wait-until', 'Interface', link, 'external_ids:ovn-installed=true']);
  const milliseconds = performance.now() - start;
  await node.run(['ovs-vsctl', 'del-port', 'br-int', link]);
  await node.run(['ovn-nbctl', 'lsp-del', port]);
  await quiet();
  return milliseconds;
};
