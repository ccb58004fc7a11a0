/** Against the embedded API server: what is read of it, and what is not. Commands on nodes are answered by the test. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PRIMARY_NETWORK_LABEL } from '../../api/names.ts';
import { DEFINITIONS } from '../../api/testing/definitions.ts';
import { createEmbeddedCluster } from '../../kube/embedded/cluster.ts';
import { KubeError } from '../../kube/errors.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, NODES, PODS, SECRETS } from '../../kube/resources.ts';
import { bundleOf } from './bundle.ts';

const server = createEmbeddedCluster();
const client = server.client('test');
afterAll(() => server.close());

const AGENT = { 'app.kubernetes.io/name': 'udn-agent', 'app.kubernetes.io/part-of': 'ovn-udn' };

beforeAll(async () => {
  for (const definition of DEFINITIONS) await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
  await server.settled();
  for (const name of ['node-1', 'node-2']) await client.create(NODES, { metadata: { name } });
  await client.create(NAMESPACES, { metadata: { name: 'red', labels: { [PRIMARY_NETWORK_LABEL]: '' } } });
  for (const name of ['plain', 'ovn-udn']) await client.create(NAMESPACES, { metadata: { name } });
  await client.create(SECRETS, { metadata: { namespace: 'red', name: 's' }, stringData: { key: 'hunter2' } });
  const env = [{ name: 'KEY', value: 'hunter2' }];
  for (const namespace of ['red', 'plain']) {
    await client.create(PODS, {
      metadata: { namespace, name: 'a' },
      spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'web', env }] },
    });
  }
  const agent = { namespace: 'ovn-udn', name: 'udn-agent-x' };
  await client.create(PODS, {
    metadata: { ...agent, labels: AGENT },
    spec: { nodeName: 'node-1', containers: [{ name: 'udn-agent', image: 'udn-agent' }] },
  });
  const containerStatuses = [
    { name: 'udn-agent', ready: true, restartCount: 1, state: { running: {} }, image: 'i', imageID: 'i' },
  ];
  const status = { phase: 'Running', containerStatuses };
  await client.patch(PODS, agent, { type: 'merge', body: { status } }, { subresource: 'status' });
});

const bundle = async () => {
  const { entries } = await bundleOf(
    {
      client,
      exec: {
        run: async ({ pod, command }, { stdout }) => {
          stdout(Buffer.from(`${pod}: ${command.join(' ')}`));
          return 0;
        },
      },
      readLog: async ({ pod, previous = false }) => {
        if (previous)
          throw new KubeError('ERR_KUBE_STATUS', 'previous terminated container not found', { status: 400 });
        return `log of ${pod}`;
      },
    },
    'b',
    { agentNamespace: 'ovn-udn' },
  );
  return new Map(
    entries.map((entry) => [entry.path, entry.kind === 'file' ? Buffer.from(entry.content).toString() : '']),
  );
};

it('has objects of the namespaces with networks, logs, and dumps of every node; no secret', async () => {
  const files = await bundle();
  expect([...files.keys()]).toEqual(
    expect.arrayContaining([
      ...['b/cluster/userdefinednetworks.yaml', 'b/cluster/nodes.yaml', 'b/namespaces/red/pods.yaml'],
      ...['b/namespaces/red/endpointslices.yaml', 'b/namespaces/ovn-udn/events.yaml', 'b/udnctl-version.txt'],
    ]),
  );
  expect([...files.keys()].filter((path) => path.startsWith('b/namespaces/plain/'))).toEqual([]);
  expect(files.get('b/namespaces/red/pods.yaml')).toContain('name: a');
  expect([...files.values()].join()).not.toContain('hunter2');
  expect(files.get('b/logs/udn-agent-x/udn-agent.log')).toBe('log of udn-agent-x');
  expect(files.get('b/nodes/node-1/diff.txt')).toBe('udn-agent-x: /opt/ovn-udn/bin/udnctl diff');
});

it('says in its index what is missing, and why', async () => {
  const index = (await bundle()).get('b/index.txt');
  expect(index).toContain(
    'MISSING  nodes/node-2/diff.txt  no pod of udn-agent is on node node-2; agents are on node-1\n',
  );
  expect(index).toContain(
    'MISSING  logs/udn-agent-x/udn-agent.previous.log  previous terminated container not found\n',
  );
});
