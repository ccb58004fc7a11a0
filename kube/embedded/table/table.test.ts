import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../base/testing/fake-clock.ts';
import { age, humanDuration } from '../../age.ts';
import { ENDPOINT_SLICES, EVENTS, NODES, PODS, SERVICES } from '../../resources.ts';
import type { ObjectInput, ResourceType } from '../../types.ts';
import { createEmbeddedCluster } from '../cluster.ts';
import { evaluateJsonPath } from './json-path.ts';

describe('ages', () => {
  const second = 1000;
  const minute = 60 * second;
  const hour = 60 * minute;
  const day = 24 * hour;
  it.each([
    [-5, '0s'],
    [0, '0s'],
    [119 * second, '119s'],
    [2 * minute, '2m'],
    [9 * minute + 59 * second, '9m59s'],
    [10 * minute + 59 * second, '10m'],
    [179 * minute, '179m'],
    [3 * hour, '3h'],
    [7 * hour + 59 * minute, '7h59m'],
    [47 * hour, '47h'],
    [2 * day, '2d'],
    [7 * day + 23 * hour, '7d23h'],
    [100 * day, '100d'],
    [730 * day, '2y'],
    [1000 * day, '2y270d'],
    [4000 * day, '10y'],
  ])('of %i ms are %s', (milliseconds, text) => expect(humanDuration(milliseconds)).toBe(text));

  it('of nothing are unknown', () => expect([age(undefined, 0), age('soon', 0)]).toEqual(['<unknown>', '<unknown>']));
});

describe('JSONPath', () => {
  const object = {
    spec: { topology: 'Layer2', subnets: ['10.0.0.0/16', 'fd00::/64'], 'dotted.name': 1, 'a b': 2 },
    status: {
      conditions: [
        { type: 'Ready', status: 'True', n: 1 },
        { type: 'Synced', status: 'False', n: 2 },
      ],
    },
  };
  it.each([
    ['.spec.topology', ['Layer2']],
    ['{.spec.topology}', ['Layer2']],
    ['spec.topology', ['Layer2']],
    ['.spec.subnets', [['10.0.0.0/16', 'fd00::/64']]],
    ['.spec.subnets[0]', ['10.0.0.0/16']],
    ['.spec.subnets[-1]', ['fd00::/64']],
    ['.spec.subnets[*]', ['10.0.0.0/16', 'fd00::/64']],
    ['.spec.dotted\\.name', [1]],
    [".spec['a b']", [2]],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type=='Synced')].status", ['False']],
    ['.status.conditions[?(@.type!="Ready")].type', ['Synced']],
    ['.status.conditions[?(@.n==2)].type', ['Synced']],
    ['.status.conditions[*].type', ['Ready', 'Synced']],
    ['.status..type', ['Ready', 'Synced']],
    ['..topology', ['Layer2']],
    ['.none.at.all', []],
    ['.spec[', []],
  ])('%s', (path, desired) => expect(evaluateJsonPath(path, object)).toEqual(desired));
});

describe('the table of', () => {
  const tableOf = async (
    resource: ResourceType,
    object: ObjectInput,
    path: string,
  ): Promise<Record<string, unknown>> => {
    const clock = createFakeClock();
    const { transport, client } = createEmbeddedCluster({ clock });
    const { status, ...rest } = object;
    await client().create(resource, rest);
    const ref = { namespace: object.metadata.namespace, name: object.metadata.name ?? '' };
    if (status !== undefined)
      await client().patch(resource, ref, { type: 'merge', body: { status } }, { subresource: 'status' });
    await clock.advance(300_000);
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
    const { body } = await transport.send({ method: 'GET', path, headers: { accept } });
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    const { columnDefinitions, rows } = JSON.parse(Buffer.concat(chunks).toString());
    const names = columnDefinitions.map(({ name }: { name: string }) => name);
    return Object.fromEntries(rows[0].cells.map((cell: unknown, i: number) => [names[i], cell]));
  };
  const metadata = { namespace: 'default', name: 'a' };
  const containers = [
    { name: 'a', image: 'a:1' },
    { name: 'b', image: 'b:1' },
  ];
  const pods = '/api/v1/namespaces/default/pods';

  it('a running pod', async () => {
    const status = {
      phase: 'Running',
      podIP: '10.0.0.1',
      containerStatuses: [
        { ready: true, restartCount: 2 },
        { ready: false, restartCount: 1, state: { waiting: { reason: 'CrashLoopBackOff' } } },
      ],
    };
    expect(await tableOf(PODS, { metadata, spec: { containers, nodeName: 'n1' }, status }, pods)).toEqual({
      Name: 'a',
      Ready: '1/2',
      Status: 'CrashLoopBackOff',
      Restarts: '3',
      Age: '5m',
      IP: '10.0.0.1',
      Node: 'n1',
      'Nominated Node': '<none>',
      'Readiness Gates': '<none>',
    });
  });

  it('a node', async () => {
    const labels = { 'node-role.kubernetes.io/worker': '', 'node-role.kubernetes.io/control-plane': '' };
    const status = {
      conditions: [{ type: 'Ready', status: 'True' }],
      addresses: [{ type: 'InternalIP', address: '192.0.2.1' }],
      nodeInfo: { kubeletVersion: 'v1' },
    };
    const node = { metadata: { name: 'n1', labels }, spec: { unschedulable: true }, status };
    expect(await tableOf(NODES, node, '/api/v1/nodes')).toMatchObject({
      Status: 'Ready,SchedulingDisabled',
      Roles: 'control-plane,worker',
      Version: 'v1',
      'Internal-IP': '192.0.2.1',
      'External-IP': '<none>',
    });
  });

  it('a service', async () => {
    const ports = [
      { name: 'a', port: 80, nodePort: 30080 },
      { name: 'b', port: 53, protocol: 'UDP', nodePort: 30053 },
    ];
    const service = { metadata, spec: { type: 'LoadBalancer', ports, selector: { app: 'a' }, clusterIP: '10.96.7.7' } };
    expect(
      await tableOf(SERVICES, service, '/api/v1/namespaces/default/services?labelSelector=!component'),
    ).toMatchObject({
      Type: 'LoadBalancer',
      'Cluster-IP': '10.96.7.7',
      'External-IP': '<pending>',
      'Port(s)': '80:30080/TCP,53:30053/UDP',
      Selector: 'app=a',
    });
  });

  it('an endpoint slice', async () => {
    const endpoints = [1, 2, 3, 4].map((i) => ({ addresses: [`10.0.0.${i}`] }));
    const slice = { metadata, addressType: 'IPv4', endpoints, ports: [{ port: 80 }] };
    const path = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
    expect(await tableOf(ENDPOINT_SLICES, slice, path)).toMatchObject({
      AddressType: 'IPv4',
      Ports: '80',
      Endpoints: '10.0.0.1,10.0.0.2,10.0.0.3 + 1 more...',
    });
  });

  it('an event, in both groups', async () => {
    const event = {
      metadata,
      involvedObject: { kind: 'Pod', name: 'web' },
      type: 'Warning',
      reason: 'Failed',
      message: 'no address\n',
      count: 3,
      lastTimestamp: '2026-01-01T00:04:00Z',
      source: { component: 'agent', host: 'n1' },
    };
    const desired = {
      'Last Seen': '60s',
      Type: 'Warning',
      Reason: 'Failed',
      Object: 'pod/web',
      Message: 'no address',
      Count: '3',
      Source: 'agent, n1',
    };
    expect(await tableOf(EVENTS, event, '/api/v1/namespaces/default/events')).toMatchObject(desired);
    expect(await tableOf(EVENTS, event, '/apis/events.k8s.io/v1/namespaces/default/events')).toMatchObject(desired);
  });
});
