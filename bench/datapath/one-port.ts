/** One port, by OVN's and Open vSwitch's own tools. */
import type { WholeNode } from './whole-node.ts';

/** On the default network's switch, until ovn-controller says that it is there. @returns milliseconds */
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

/** As the agent has one made for each network, until ovs-vswitchd has made it. @returns milliseconds */
export const oneOvsPort = async ({ node }: Pick<WholeNode, 'node'>, round: number): Promise<number> => {
  const link = `bench${round}`;
  const start = performance.now();
  await node.run([
    ...['ovs-vsctl', 'add-port', 'br-int', link],
    ...['--', 'set', 'Interface', link, 'type=internal', 'mtu_request=1400', `external_ids:iface-id=${link}`],
  ]);
  const milliseconds = performance.now() - start;
  await node.run(['ovs-vsctl', 'del-port', 'br-int', link]);
  return milliseconds;
};
