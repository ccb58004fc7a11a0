/** What a bundle has of nodes: what udnctl and the node's own tools print in the agent's pod. */
import { createHash } from 'node:crypto';
import { findAgentPod, type NodeTools, runInAgentPod, UDNCTL_PATH } from '../remote/node-tools.ts';
import type { Part, PartResult } from './collect.ts';

/** Reads only. The tools are those of the agent's image. */
const COMMANDS: readonly (readonly [file: string, command: readonly string[]])[] = [
  ...(['networks', 'pods', 'problems', 'status'] as const).map(
    (name) => [`${name}.json`, [UDNCTL_PATH, name, '--output=json']] as const,
  ),
  ['diff.txt', [UDNCTL_PATH, 'diff']],
  ['doctor.txt', [UDNCTL_PATH, 'doctor']],
  ['northbound.txt', ['ovsdb-client', 'dump', 'unix:/run/ovn/ovnnb_db.sock', 'OVN_Northbound']],
  ['southbound.txt', ['ovsdb-client', 'dump', 'unix:/run/ovn/ovnsb_db.sock', 'OVN_Southbound']],
  ['openvswitch.txt', ['ovsdb-client', 'dump', 'unix:/run/openvswitch/db.sock', 'Open_vSwitch']],
  ['br-int.txt', ['ovs-ofctl', '-O', 'OpenFlow15', 'dump-flows', 'br-int']],
  ['br-ex.txt', [UDNCTL_PATH, 'flows', '--common', '--output=json']],
  ['nftables.txt', ['nft', 'list', 'table', 'inet', 'ovn-udn']],
  ['addresses.txt', ['ip', '-details', 'address']],
  ['rules.txt', ['ip', 'rule']],
  ['routes.txt', ['ip', 'route', 'show', 'table', 'all']],
  ['routes6.txt', ['ip', '-6', 'route', 'show', 'table', 'all']],
];

export const nodeParts = (tools: NodeTools, nodes: readonly string[]): readonly Part[] =>
  nodes.flatMap((node) => {
    // One search for all commands of a node, made when the first is read.
    let found: ReturnType<typeof findAgentPod> | undefined;
    const agent = () => {
      found ??= findAgentPod(tools, node);
      return found;
    };
    return COMMANDS.map(([file, command]) => ({
      path: `nodes/${folderOf(node)}/${file}`,
      read: async () => await outputOf(tools, await agent(), command),
    }));
  });

const outputOf = async (
  tools: NodeTools,
  agent: Awaited<ReturnType<typeof findAgentPod>>,
  command: readonly string[],
): Promise<PartResult> => {
  const chunks: Uint8Array[] = [];
  const take = (chunk: Uint8Array): void => void chunks.push(chunk);
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const status = await runInAgentPod(tools, agent, command, { stdout: take, stderr: take }, patience);
  const text = Buffer.concat(chunks).toString();
  return status === 0 ? { text } : { text, note: `exit status ${status}` };
};

/** A node that hangs must not hold up the others for ever. */
const PATIENCE_MS = 60_000;

/** Names in the archive are short; those of nodes may have 253 characters. */
const folderOf = (node: string): string =>
  node.length <= 60 ? node : `${node.slice(0, 51)}-${createHash('sha256').update(node).digest('hex').slice(0, 8)}`;
