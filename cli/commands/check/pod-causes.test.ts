import { expect, it } from 'vitest';
import { createEmbeddedCluster } from '../../../kube/embedded/cluster.ts';
import { NAMESPACES, PODS } from '../../../kube/resources.ts';
import { causesOfPods } from './pod-causes.ts';

const LABELS = { app: 'agent' };

const causes = async (...statuses: readonly (readonly [node: string, status: unknown])[]): Promise<string[]> => {
  const cluster = createEmbeddedCluster();
  const client = cluster.client();
  await client.create(NAMESPACES, { metadata: { name: 'ovn-udn' } });
  for (const [index, [nodeName, status]] of statuses.entries()) {
    const metadata = { namespace: 'ovn-udn', name: `agent-${index}`, labels: LABELS };
    const { name, namespace } = metadata;
    await client.create(PODS, { metadata, spec: { nodeName, containers: [{ name: 'udn-agent', image: 'agent' }] } });
    await client.patch(PODS, { name, namespace }, { type: 'merge', body: { status } }, { subresource: 'status' });
  }
  const found = await causesOfPods(client, 'ovn-udn', LABELS);
  cluster.close();
  return found;
};

const container = (state: unknown, more: object = {}) => ({
  containerStatuses: [{ name: 'udn-agent', image: 'registry.example/agent:1', ready: false, state, ...more }],
});
const waiting = (reason: string, message?: string) => container({ waiting: { reason, message } });

it('an image that is missing, once for all nodes that lack it', async () => {
  const status = waiting('ImagePullBackOff', 'Back-off pulling image');
  expect(await causes(['b', status], ['a', status])).toEqual([
    'image registry.example/agent:1 of udn-agent cannot be pulled: Back-off pulling image; load it on the node, or set another name in the overlay or the values (a and 1 more)',
  ]);
});

it('a program that ends, by the last line that it wrote', async () => {
  const terminated = {
    exitCode: 2,
    reason: 'Error',
    message: 'starting\nudn-agent: --mtu "x" is not a number\nTry: udn-agent --help\n',
  };
  const status = container({ waiting: { reason: 'CrashLoopBackOff' } }, { lastState: { terminated } });
  expect(await causes(['a', status])).toEqual([
    'udn-agent ended with exit status 2: udn-agent: --mtu "x" is not a number; kubectl logs --previous (a)',
  ]);
});

it('a container that the kernel ended', async () => {
  const terminated = { exitCode: 137, reason: 'OOMKilled', message: '{"msg":"ready"}' };
  expect(await causes(['a', container({ terminated })])).toEqual([
    'udn-agent ended with exit status 137: OOMKilled; kubectl logs --previous (a)',
  ]);
});

it('a pod that no node takes, and a container that cannot be made', async () => {
  const message = "0/2 nodes are available: 2 node(s) didn't have free ports for the requested pod ports.";
  const unplaced = { conditions: [{ type: 'PodScheduled', status: 'False', message }] };
  const unmade = waiting('CreateContainerConfigError', 'configmap "cluster-settings" not found');
  expect(await causes(['', unplaced], ['a', unmade])).toEqual([
    `no node takes the pod: ${message}`,
    'udn-agent does not start: CreateContainerConfigError: configmap "cluster-settings" not found (a)',
  ]);
});

it('no cause in a status that has none', async () => {
  const runs = container({ running: {} });
  expect(await causes(['a', runs], ['b', waiting('ContainerCreating')], ['c', {}])).toEqual([]);
});
