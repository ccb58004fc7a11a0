import { expect, it } from 'vitest';
import { NODE_ANNOTATIONS } from '../../api/names.ts';
import { systemClock } from '../../base/clock.ts';
import { createEmbeddedCluster } from '../../kube/embedded/cluster.ts';
import { KubeError } from '../../kube/errors.ts';
import { NODES } from '../../kube/resources.ts';
import type { KubeClient } from '../../kube/types.ts';
import { cleanNodes } from './clean-nodes.ts';

const OURS = Object.fromEntries(Object.values(NODE_ANNOTATIONS).map((key) => [key, 'x']));
const condition = (type: string, reason: string) => ({ type, reason, status: 'True' });

const log = () => {
  const nodes: unknown[] = [];
  return { nodes, info: (fields: unknown) => void nodes.push((fields as { node: string }).node) };
};

const addNode = async (client: KubeClient, name: string, parts: { annotations: object; conditions: object[] }) => {
  await client.create(NODES, { metadata: { name, annotations: parts.annotations as Record<string, string> } });
  const body = { status: { conditions: parts.conditions } };
  await client.patch(NODES, { name }, { type: 'merge', body }, { subresource: 'status' });
};

const partsOf = async (client: KubeClient, name: string) => {
  const { metadata, status } = await client.get(NODES, { name });
  const { conditions } = status as { conditions: { type: string; reason: string }[] };
  return [metadata.annotations ?? {}, conditions.map(({ type, reason }) => `${type} ${reason}`)];
};

it('removes what is ours from every Node, and nothing else', async () => {
  const client = createEmbeddedCluster({ clock: systemClock }).client('test');
  const ready = condition('Ready', 'KubeletReady');
  await addNode(client, 'node-1', {
    annotations: { ...OURS, 'example.com/mine': 'kept', 'k8s.ovn.org/other': 'kept' },
    conditions: [
      ready,
      condition('NetworkUnavailable', 'AgentNotReporting'),
      condition('NetworkMTUTooLarge', 'Networks'),
    ],
  });
  await addNode(client, 'node-2', {
    annotations: {},
    conditions: [ready, condition('NetworkUnavailable', 'OVNUDNIsUp')],
  });
  await addNode(client, 'node-3', { annotations: {}, conditions: [condition('NetworkUnavailable', 'RouteCreated')] });
  const first = log();
  await cleanNodes({ client, log: first });
  expect(await partsOf(client, 'node-1')).toEqual([
    { 'example.com/mine': 'kept', 'k8s.ovn.org/other': 'kept' },
    ['Ready KubeletReady'],
  ]);
  expect(await partsOf(client, 'node-2')).toEqual([{}, ['Ready KubeletReady']]);
  expect(await partsOf(client, 'node-3')).toEqual([{}, ['NetworkUnavailable RouteCreated']]);
  expect(first.nodes).toEqual(['node-1', 'node-2']);
  const second = log();
  await cleanNodes({ client, log: second });
  expect(second.nodes).toEqual([]);
});

it('names the Nodes that it could not clean, and cleans the others; a deleted one is no failure', async () => {
  const client = createEmbeddedCluster({ clock: systemClock }).client('test');
  for (const name of ['node-1', 'node-2', 'node-3']) await addNode(client, name, { annotations: OURS, conditions: [] });
  const refusals: Readonly<Record<string, number>> = { 'node-1': 403, 'node-2': 404 };
  const patch: KubeClient['patch'] = async (resource, ref, ...rest) => {
    const code = refusals[ref.name];
    if (code !== undefined) throw new KubeError('ERR_KUBE_STATUS', `refused with ${code}`, { status: code });
    return client.patch(resource, ref, ...rest);
  };
  const flawed = { list: client.list.bind(client), patch };
  await expect(cleanNodes({ client: flawed, log: log() })).rejects.toThrow(
    'not everything could be removed: node-1: refused with 403',
  );
  expect(await partsOf(client, 'node-3').catch(() => 'no status')).not.toHaveProperty('0.k8s.ovn.org/node-subnets');
});
