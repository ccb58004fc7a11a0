import { expect } from 'vitest';
import {
  CONFIG_MAPS,
  DAEMON_SETS,
  DEPLOYMENTS,
  ENDPOINT_SLICES,
  ENDPOINTS,
  EVENTS,
  LEASES,
  NAMESPACES,
  NETWORK_POLICIES,
  PODS,
  SECRETS,
  SERVICES,
} from '../../../kube/resources.ts';
import { at, type Harness, pod, refusal, withServiceAccount } from './harness.ts';

export const builtinCases = ({ test }: Harness): void => {
  test('a namespace carries its name as a label', async ({ client, namespace }) => {
    const { metadata, status } = await client.get(NAMESPACES, { name: namespace });
    expect(metadata.labels).toMatchObject({ 'kubernetes.io/metadata.name': namespace });
    expect(status).toMatchObject({ phase: 'Active' });
  });

  test('a pod gets defaults', async (context) => {
    const { client, namespace } = context;
    await withServiceAccount(context);
    const created = await client.create(PODS, pod(namespace, 'a'));
    expect(created).toMatchObject({
      spec: { restartPolicy: 'Always', dnsPolicy: 'ClusterFirst', terminationGracePeriodSeconds: 30 },
      status: { phase: 'Pending', qosClass: 'BestEffort' },
    });
    expect(at(created, 'spec', 'containers', 0)).toMatchObject({ imagePullPolicy: 'IfNotPresent', resources: {} });
  });

  test('a pod needs containers with names and images', async (context) => {
    const { client, namespace } = context;
    await withServiceAccount(context);
    const wrong = async (containers: unknown) => {
      const error = await refusal(client.create(PODS, pod(namespace, 'a', { containers })));
      expect(error.status).toBe(422);
      return error.causes.map(({ field }) => field);
    };
    expect(await wrong([])).toContain('spec.containers');
    expect(await wrong([{ image: 'example.org/a:1' }])).toContain('spec.containers[0].name');
    expect(await wrong([{ name: 'a' }])).toContain('spec.containers[0].image');
    const twin = { name: 'a', image: 'example.org/a:1' };
    expect(await wrong([twin, twin])).toContain('spec.containers[1].name');
  });

  test('the spec of a pod stays', async (context) => {
    const { client, namespace } = context;
    await withServiceAccount(context);
    await client.create(PODS, pod(namespace, 'a'));
    const patch = { type: 'merge', body: { spec: { hostname: 'other' } } } as const;
    expect(await refusal(client.patch(PODS, { namespace, name: 'a' }, patch))).toMatchObject({ status: 422 });
  });

  test('a pod is bound once', async (context) => {
    const { client, namespace } = context;
    await withServiceAccount(context);
    await client.create(PODS, pod(namespace, 'a'));
    const bind = (name: string) => {
      const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'a' }, target: { kind: 'Node', name } };
      return client.request({ method: 'POST', path: `/api/v1/namespaces/${namespace}/pods/a/binding`, body });
    };
    await bind('n1');
    const bound = await client.get(PODS, { namespace, name: 'a' });
    expect(at(bound, 'spec', 'nodeName')).toBe('n1');
    expect(at(bound, 'status', 'conditions')).toContainEqual(
      expect.objectContaining({ type: 'PodScheduled', status: 'True' }),
    );
    expect(await refusal(bind('n2'))).toMatchObject({ status: 409 });
  });

  test('a service gets an address and defaults', async ({ client, namespace }) => {
    const spec = { ports: [{ port: 80 }], selector: { app: 'a' } };
    const created = await client.create(SERVICES, { metadata: { namespace, name: 'a' }, spec });
    expect(created['spec']).toMatchObject({
      type: 'ClusterIP',
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
      ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
    });
    const ip = at(created, 'spec', 'clusterIP');
    expect(ip).toMatch(/^[0-9a-f.:]+$/);
    expect(at(created, 'spec', 'clusterIPs', 0)).toBe(ip);
    expect(at(created, 'spec', 'ipFamilies')).toEqual([String(ip).includes(':') ? 'IPv6' : 'IPv4']);
    const other = await client.create(SERVICES, { metadata: { namespace, name: 'b' }, spec });
    expect(at(other, 'spec', 'clusterIP')).not.toBe(ip);
    const taken = { metadata: { namespace, name: 'c' }, spec: { ...spec, clusterIP: ip } };
    expect(await refusal(client.create(SERVICES, taken))).toMatchObject({ status: 422 });
    const kept = await client.update(SERVICES, { metadata: { namespace, name: 'a' }, spec: { ports: [{ port: 81 }] } });
    expect(at(kept, 'spec', 'clusterIP')).toBe(ip);
  });

  test('the address of a service does not change and is given back', async ({ client, namespace }) => {
    const spec = { ports: [{ port: 80 }] };
    const created = await client.create(SERVICES, { metadata: { namespace, name: 'a' }, spec });
    const clusterIP = at(created, 'spec', 'clusterIP');
    const body = { spec: { clusterIP: '10.255.255.1', clusterIPs: ['10.255.255.1'] } };
    expect(await refusal(client.patch(SERVICES, { namespace, name: 'a' }, { type: 'merge', body }))).toMatchObject({
      status: 422,
    });
    await client.delete(SERVICES, { namespace, name: 'a' });
    const again = await client.create(SERVICES, { metadata: { namespace, name: 'b' }, spec: { ...spec, clusterIP } });
    expect(at(again, 'spec', 'clusterIP')).toBe(clusterIP);
  });

  test('a headless service has none', async ({ client, namespace }) => {
    const input = { metadata: { namespace, name: 'a' }, spec: { clusterIP: 'None', selector: { app: 'a' } } };
    expect(at(await client.create(SERVICES, input), 'spec', 'clusterIPs')).toEqual(['None']);
  });

  test('a node port service gets node ports', async ({ client, namespace }) => {
    const spec = {
      type: 'NodePort',
      ports: [
        { name: 'a', port: 80 },
        { name: 'b', port: 81 },
      ],
    };
    const created = await client.create(SERVICES, { metadata: { namespace, name: 'a' }, spec });
    const ports = (at(created, 'spec', 'ports') as { nodePort: number }[]).map(({ nodePort }) => nodePort);
    expect(new Set(ports).size).toBe(2);
    for (const port of ports) expect(port).toBeGreaterThanOrEqual(30_000);
    expect(at(created, 'spec', 'externalTrafficPolicy')).toBe('Cluster');
    const label = { type: 'merge', body: { metadata: { labels: { a: 'b' } } } } as const;
    const labelled = await client.patch(SERVICES, { namespace, name: 'a' }, label);
    expect(at(labelled, 'spec', 'ports')).toEqual(at(created, 'spec', 'ports'));
    const twin = {
      metadata: { namespace, name: 'b' },
      spec: { type: 'NodePort', ports: [{ port: 80, nodePort: ports[0] }] },
    };
    expect(await refusal(client.create(SERVICES, twin))).toMatchObject({ status: 422 });
  });

  test('a service needs ports', async ({ client, namespace }) => {
    const error = await refusal(client.create(SERVICES, { metadata: { namespace, name: 'a' }, spec: {} }));
    expect(error.causes.map(({ field }) => field)).toContain('spec.ports');
  });

  test('a network policy gets policy types and a generation', async ({ client, namespace }) => {
    const spec = { podSelector: {}, egress: [{ ports: [{ port: 53 }] }] };
    const created = await client.create(NETWORK_POLICIES, { metadata: { namespace, name: 'a' }, spec });
    expect(created['spec']).toMatchObject({
      policyTypes: ['Ingress', 'Egress'],
      egress: [{ ports: [{ port: 53, protocol: 'TCP' }] }],
    });
    expect(created.metadata.generation).toBe(1);
  });

  test('the address type of an endpoint slice is required and stays', async ({ client, namespace }) => {
    const metadata = { namespace, name: 'a' };
    expect(await refusal(client.create(ENDPOINT_SLICES, { metadata, endpoints: [] }))).toMatchObject({ status: 422 });
    const created = await client.create(ENDPOINT_SLICES, { metadata, addressType: 'IPv4', endpoints: [], ports: [] });
    expect(await refusal(client.update(ENDPOINT_SLICES, { ...created, addressType: 'IPv6' }))).toMatchObject({
      status: 422,
    });
  });

  test('endpoints are created by an update', async ({ client, namespace }) => {
    const subsets = [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 80 }] }];
    const created = await client.update(ENDPOINTS, { metadata: { namespace, name: 'a' }, subsets });
    expect(created.metadata.uid).toBeTruthy();
    expect(at(await client.get(ENDPOINTS, { namespace, name: 'a' }), 'subsets', 0, 'addresses', 0, 'ip')).toBe(
      '192.0.2.1',
    );
  });

  test('workloads have a generation and select their own pods', async ({ client, namespace }) => {
    const labels = { app: 'a' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'example.org/a:1' }] } };
    for (const resource of [DEPLOYMENTS, DAEMON_SETS]) {
      const metadata = { namespace, name: 'a' };
      const created = await client.create(resource, {
        metadata,
        spec: { selector: { matchLabels: labels }, template },
      });
      expect(created.metadata.generation).toBe(1);
      const body = { spec: { template: { spec: { containers: [{ name: 'a', image: 'example.org/a:2' }] } } } };
      const changed = await client.patch(resource, metadata, { type: 'strategic', body });
      expect(changed.metadata.generation).toBe(2);
      const selectorless = { metadata: { namespace, name: 'b' }, spec: { template } };
      expect(await refusal(client.create(resource, selectorless))).toMatchObject({ status: 422 });
    }
  });

  test('a secret is stored in base64', async ({ client, namespace }) => {
    const created = await client.create(SECRETS, { metadata: { namespace, name: 'a' }, stringData: { key: 'value' } });
    expect(created).toMatchObject({ type: 'Opaque', data: { key: 'dmFsdWU=' } });
    expect(created['stringData']).toBeUndefined();
  });

  test('an immutable config map stays', async ({ client, namespace }) => {
    const created = await client.create(CONFIG_MAPS, {
      metadata: { namespace, name: 'a' },
      data: { a: '1' },
      immutable: true,
    });
    expect(await refusal(client.update(CONFIG_MAPS, { ...created, data: { a: '2' } }))).toMatchObject({ status: 422 });
  });

  test('a lease keeps its times', async ({ client, namespace }) => {
    const spec = { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000001Z' };
    const created = await client.create(LEASES, { metadata: { namespace, name: 'a' }, spec });
    expect(created['spec']).toEqual(spec);
  });

  test('an event is served by both of its groups', async ({ client, namespace }) => {
    const involvedObject = { kind: 'Pod', namespace, name: 'p' };
    await client.create(EVENTS, {
      metadata: { namespace, name: 'e' },
      involvedObject,
      reason: 'Tested',
      message: 'a message',
      type: 'Normal',
      source: { component: 'test' },
      count: 1,
    });
    const grouped = { group: 'events.k8s.io', version: 'v1', plural: 'events', kind: 'Event', namespaced: true };
    const event = await client.get(grouped, { namespace, name: 'e' });
    expect(event).toMatchObject({ apiVersion: 'events.k8s.io/v1', regarding: involvedObject, note: 'a message' });
    const fieldSelector = `involvedObject.name=p,involvedObject.kind=Pod,involvedObject.namespace=${namespace}`;
    expect((await client.list(EVENTS, { namespace, fieldSelector })).items).toHaveLength(1);
  });
};
