/** What stays of a cluster whatever is upgraded: what was allocated, who has it, and where OVN and Open vSwitch have it. */
import { z } from 'zod';
import type { KubeObject } from '../../../../kube/types.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';

const PREFIX = 'k8s.ovn.org/';
/** Of Nodes: ids, subnets, addresses, and all else that agents and the cluster manager have written. */
const KINDS = ['nodes', 'pods', 'userdefinednetworks', 'network-attachment-definitions', 'services'] as const;

/** One line each, sorted. @param namespaces whose objects count; of Nodes all */
export const identities = async (
  sandbox: Sandbox,
  { nodes, namespaces }: { readonly nodes: readonly string[]; readonly namespaces: readonly string[] },
): Promise<readonly string[]> => {
  const objects = await sandbox.objects();
  const lines = await Promise.all([
    ...KINDS.map(async (kind) =>
      (await objects.list(kind))
        .filter(({ metadata }) => metadata.namespace === undefined || namespaces.includes(metadata.namespace))
        .flatMap((object) => linesOf(kind, object)),
    ),
    ...nodes.map((node) => rowsOf(sandbox, node)),
  ]);
  return lines.flat().sort();
};

const linesOf = (kind: string, { metadata, spec, status }: KubeObject): string[] => {
  const name = `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.startsWith(PREFIX));
  const { clusterIPs } = serviceSchema.parse(spec ?? {});
  const { podIPs, containerStatuses } = podSchema.parse(status ?? {});
  return [
    `${name} uid ${metadata.uid}`,
    ...annotations.map(([key, value]) => `${name} ${key} ${value}`),
    ...clusterIPs.map((address) => `${name} ${address}`),
    ...podIPs.map(({ ip }) => `${name} ${ip}`),
    ...containerStatuses.map(({ name: container, restartCount }) => `${name} ${container} restarts ${restartCount}`),
  ];
};

const serviceSchema = z.object({ clusterIPs: z.array(z.string()).default([]) });
const podSchema = z.object({
  podIPs: z.array(z.object({ ip: z.string() })).default([]),
  containerStatuses: z.array(z.object({ name: z.string(), restartCount: z.int() })).default([]),
});

/** Ports of pods keep their rows, and their numbers in Open vSwitch; datapaths keep their tunnel keys. */
const ROWS = `
ovn-nbctl --no-leader-only --bare --columns=_uuid,name,addresses find Logical_Switch_Port type='""' | paste -sd ' \\n' | sed 's/^/port /'
ovn-sbctl --no-leader-only --format=csv --data=bare --no-headings --columns=tunnel_key,external_ids list Datapath_Binding | sed 's/logical-switch=[^ ]*//; s/logical-router=[^ ]*//; s/^/datapath /'
ovs-vsctl --format=csv --data=bare --no-headings --columns=name,ofport,mac_in_use find Interface external_ids:iface-id!='""' | sed 's/^/interface /'
`;

const rowsOf = async (sandbox: Sandbox, node: string): Promise<string[]> => {
  const { stdout, stderr } = await sandbox.node(node, ['sh', '-c', ROWS]);
  const lines = stdout.split('\n').filter((line) => line.trim() !== '');
  // A pipeline ends well when its last program does: none of a kind would equal none.
  for (const kind of ['port', 'datapath', 'interface']) {
    if (!lines.some((line) => line.startsWith(`${kind} `))) throw new Error(`${node} has no ${kind}: ${stderr}`);
  }
  return lines.map((line) => `${node} ${line}`);
};
