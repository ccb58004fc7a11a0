import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKubectl, type Kubectl } from '../../test/conformance/kube/kubectl.ts';
import { createEventRecorder } from '../events/recorder.ts';
import { CONFIG_MAPS, PODS } from '../resources.ts';
import type { KubeClient } from '../types.ts';
import { watchEvents } from '../watch/watch-events.ts';
import { startEmbeddedServer } from './server.ts';
import type { EmbeddedServer } from './types.ts';

let server: EmbeddedServer;
let kubectl: Kubectl;
let client: KubeClient;

beforeAll(async () => {
  server = await startEmbeddedServer({ listen: [{ host: '127.0.0.1', port: 0 }] });
  kubectl = await createKubectl(server.kubeconfig());
  client = server.cluster.client();
}, 180_000);

afterAll(async () => {
  await kubectl?.close();
  await server?.close();
});

const POD = `
apiVersion: v1
kind: Pod
metadata: { name: web, labels: { app: web } }
spec:
  containers:
    - name: web
      image: example.org/web:1
      ports: [{ containerPort: 80 }]
`;

const SERVICE = `
apiVersion: v1
kind: Service
metadata: { name: web }
spec:
  selector: { app: web }
  ports: [{ name: http, port: 80 }]
`;

const CRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: networks.example.org }
spec:
  group: example.org
  scope: Namespaced
  names: { plural: networks, kind: Network, shortNames: [nw], categories: [all] }
  versions:
    - name: v1
      served: true
      storage: true
      subresources: { status: {} }
      additionalPrinterColumns:
        - { name: Topology, type: string, jsonPath: .spec.topology }
        - { name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status' }
        - { name: MTU, type: integer, jsonPath: .spec.mtu, priority: 1 }
        - { name: Age, type: date, jsonPath: .metadata.creationTimestamp }
      schema:
        openAPIV3Schema:
          type: object
          description: A network of a tenant.
          required: [spec]
          properties:
            spec:
              type: object
              required: [topology]
              properties:
                topology: { type: string, enum: [Layer2, Layer3], description: How pods are connected. }
                mtu: { type: integer, minimum: 576, default: 1400 }
            status:
              type: object
              x-kubernetes-preserve-unknown-fields: true
`;

const network = (name: string, topology = 'Layer2') => `
apiVersion: example.org/v1
kind: Network
metadata: { name: ${name} }
spec: { topology: ${topology} }
`;

/** A table without the columns that change with time. */
const rows = (output: string): string[] =>
  output
    .trimEnd()
    .split('\n')
    .map((line) =>
      line
        .replaceAll(/ {2,}/g, ' | ')
        .replaceAll(/\b\d+[smh](\d+s)?(?=\s|$)/g, 'AGE')
        .trim(),
    );

describe('apply', () => {
  it('creates, sees that nothing changed, and changes', async () => {
    const manifest = `${POD}---${SERVICE}`;
    expect(await kubectl.feed(manifest, 'apply', '-f', '-')).toBe('pod/web created\nservice/web created\n');
    expect(await kubectl.feed(manifest, 'apply', '-f', '-')).toBe('pod/web unchanged\nservice/web unchanged\n');
    const changed = manifest
      .replace('web:1', 'web:2')
      .replace('port: 80', 'port: 8080')
      .replace('{ app: web } }', '{ tier: front } }');
    expect(await kubectl.feed(changed, 'apply', '-f', '-')).toBe('pod/web configured\nservice/web configured\n');
    const pod = JSON.parse(await kubectl.run('get', 'pod', 'web', '-o', 'json'));
    expect(pod.spec.containers).toEqual([expect.objectContaining({ name: 'web', image: 'example.org/web:2' })]);
    // What was applied before and is not any more is gone.
    expect(pod.metadata.labels).toEqual({ tier: 'front' });
    const service = JSON.parse(await kubectl.run('get', 'service', 'web', '-o', 'json'));
    expect(service.spec.ports).toEqual([expect.objectContaining({ name: 'http', port: 8080 })]);
  });

  it('works on the server side, with conflicts', async () => {
    const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: shared }\ndata: { a: "1" }\n';
    const apply = ['apply', '--server-side', '-f', '-'];
    expect(await kubectl.feed(manifest, ...apply)).toBe('configmap/shared serverside-applied\n');
    const other = manifest.replace('"1"', '"2"');
    await expect(kubectl.feed(other, ...apply, '--field-manager=other')).rejects.toThrow(
      /Apply failed with 1 conflict: conflict with "kubectl": \.data\.a/,
    );
    await kubectl.feed(other, ...apply, '--field-manager=other', '--force-conflicts');
    expect(await kubectl.run('get', 'cm', 'shared', '-o', 'jsonpath={.data.a}')).toBe('2');
  });

  it('turns a client-side applied object into a server-side applied one', async () => {
    const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: migrated }\ndata: { a: "1", b: "1" }\n';
    await kubectl.feed(manifest, 'apply', '-f', '-');
    await kubectl.feed(manifest.replace(', b: "1"', ''), 'apply', '--server-side', '-f', '-');
    const { data } = JSON.parse(await kubectl.run('get', 'cm', 'migrated', '-o', 'json'));
    expect(data).toEqual({ a: '1' });
  });

  it('reports what is wrong', async () => {
    const nameless = POD.replace('image: example.org/web:1', '').replace('name: web, labels', 'name: broken, labels');
    await expect(kubectl.feed(nameless, 'apply', '-f', '-')).rejects.toThrow(
      /The Pod "broken" is invalid: spec.containers\[0\].image: Required value/,
    );
  });

  it('shows what it would do', async () => {
    await kubectl.feed(
      'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: diffed }\ndata: { a: "1" }\n',
      'apply',
      '-f',
      '-',
    );
    const dry = ['create', 'configmap', 'dry', '--from-literal=a=b', '--dry-run=server', '-o', 'name'];
    expect(await kubectl.run(...dry)).toBe('configmap/dry\n');
    expect((await kubectl.attempt('get', 'cm', 'dry')).stderr).toContain('configmaps "dry" not found');
  });
});

describe('a custom kind', () => {
  beforeAll(async () => {
    await kubectl.feed(CRD, 'apply', '-f', '-');
    await kubectl.run('wait', '--for=condition=Established', 'crd/networks.example.org', '--timeout=10s');
  });

  it('is listed with its printer columns', async () => {
    await kubectl.feed(`${network('blue')}---${network('red', 'Layer3')}`, 'apply', '-f', '-');
    const status = { type: 'merge', body: { status: { conditions: [{ type: 'Ready', status: 'True' }] } } } as const;
    const networks = { group: 'example.org', version: 'v1', plural: 'networks', kind: 'Network', namespaced: true };
    await client.patch(networks, { namespace: 'default', name: 'blue' }, status, { subresource: 'status' });
    expect(rows(await kubectl.run('get', 'nw'))).toEqual([
      'NAME | TOPOLOGY | READY | AGE',
      'blue | Layer2 | True | AGE',
      'red | Layer3 | AGE',
    ]);
    expect(rows(await kubectl.run('get', 'networks', 'blue', '-o', 'wide'))).toEqual([
      'NAME | TOPOLOGY | READY | MTU | AGE',
      'blue | Layer2 | True | 1400 | AGE',
    ]);
    expect(await kubectl.run('get', 'networks.v1.example.org', 'blue', '-o', 'yaml')).toContain('topology: Layer2');
    await kubectl.run('wait', '--for=condition=Ready', 'nw/blue', '--timeout=5s');
  });

  it('is applied, patched and checked', async () => {
    await kubectl.feed(network('green'), 'apply', '-f', '-');
    expect(await kubectl.feed(network('green', 'Layer3'), 'apply', '-f', '-')).toBe(
      'network.example.org/green configured\n',
    );
    await kubectl.run('patch', 'nw', 'green', '--type=merge', '-p', '{"spec":{"mtu":9000}}');
    expect(await kubectl.run('get', 'nw', 'green', '-o', 'jsonpath={.spec}')).toBe('{"mtu":9000,"topology":"Layer3"}');
    await expect(kubectl.feed(network('bad', 'Layer9'), 'apply', '-f', '-')).rejects.toThrow(
      /spec.topology: Unsupported value: "Layer9": supported values: "Layer2", "Layer3"/,
    );
    const unknownField = network('odd').replace('Layer2 }', 'Layer2, colour: red }');
    await expect(kubectl.feed(unknownField, 'apply', '-f', '-')).rejects.toThrow(/unknown field "spec.colour"/);
  });

  it('is explained', async () => {
    expect(await kubectl.run('explain', 'networks.spec.topology')).toContain('How pods are connected.');
  });
});

describe('get', () => {
  it('prints tables, wide tables and selections', async () => {
    const seen = rows(await kubectl.run('get', 'pods', '-o', 'wide'));
    expect(seen[0]).toBe('NAME | READY | STATUS | RESTARTS | AGE | IP | NODE | NOMINATED NODE | READINESS GATES');
    expect(seen[1]).toBe('web | 0/1 | Pending | 0 | AGE | <none> | <none> | <none> | <none>');
    const service = rows(await kubectl.run('get', 'svc', 'kubernetes'));
    expect(service).toEqual([
      'NAME | TYPE | CLUSTER-IP | EXTERNAL-IP | PORT(S) | AGE',
      'kubernetes | ClusterIP | 10.96.0.1 | <none> | 443/TCP | AGE',
    ]);
    expect(await kubectl.run('get', 'pods', '-l', 'tier=front', '-o', 'name')).toBe('pod/web\n');
    expect(await kubectl.run('get', 'pods', '-A', '--field-selector', 'spec.nodeName=', '-o', 'name')).toBe(
      'pod/web\n',
    );
    expect(await kubectl.run('get', 'all')).toContain('service/kubernetes');
  });

  it('reads a long list in pages', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `many-${String(i).padStart(2, '0')}`);
    for (const name of names) {
      await client.create(CONFIG_MAPS, { metadata: { namespace: 'default', name, labels: { many: 'yes' } } });
    }
    const listed = await kubectl.run('get', 'cm', '-l', 'many', '--chunk-size=5', '-o', 'name');
    expect(listed.trimEnd().split('\n')).toEqual(names.map((name) => `configmap/${name}`));
    await kubectl.run('delete', 'cm', '-l', 'many');
    expect(await kubectl.run('get', 'cm', '-l', 'many', '-o', 'name')).toBe('');
  });

  it('watches', async () => {
    const watched = { namespace: 'default', name: 'watched' };
    await client.create(CONFIG_MAPS, { metadata: { ...watched, labels: { watched: 'yes' } } });
    const watching = kubectl.start('get', 'cm', '-w', '-l', 'watched', '--no-headers', '--output-watch-events');
    const lines = createInterface(watching.stdout)[Symbol.asyncIterator]();
    const next = async () => (await lines.next()).value?.split(/ +/).slice(0, 3);
    try {
      expect(await next()).toEqual(['ADDED', 'watched', '0']);
      await client.patch(CONFIG_MAPS, watched, { type: 'merge', body: { data: { a: 'b' } } });
      expect(await next()).toEqual(['MODIFIED', 'watched', '1']);
      await client.delete(CONFIG_MAPS, watched);
      expect(await next()).toEqual(['DELETED', 'watched', '1']);
    } finally {
      watching.kill();
    }
  });
});

describe('change', () => {
  it('labels, annotates and patches', async () => {
    await kubectl.run('create', 'configmap', 'changed', '--from-literal=a=1');
    await kubectl.run('label', 'cm', 'changed', 'color=red');
    await kubectl.run('label', 'cm', 'changed', 'color=blue', '--overwrite');
    await kubectl.run('annotate', 'cm', 'changed', 'note=hello');
    await kubectl.run('annotate', 'cm', 'changed', 'note-');
    await kubectl.run('patch', 'cm', 'changed', '-p', '{"data":{"b":"2"}}');
    await kubectl.run('patch', 'cm', 'changed', '--type=json', '-p', '[{"op":"remove","path":"/data/a"}]');
    const { metadata, data } = JSON.parse(await kubectl.run('get', 'cm', 'changed', '-o', 'json'));
    expect([metadata.labels, metadata.annotations, data]).toEqual([{ color: 'blue' }, undefined, { b: '2' }]);
  });

  it('creates from the command line', async () => {
    await kubectl.run('create', 'secret', 'generic', 'hidden', '--from-literal=key=value');
    await kubectl.run('create', 'serviceaccount', 'robot');
    expect(await kubectl.run('get', 'secret', 'hidden', '-o', 'jsonpath={.data.key} {.type}')).toBe('dmFsdWU= Opaque');
    expect(await kubectl.run('get', 'sa', 'robot', '-o', 'name')).toBe('serviceaccount/robot\n');
    await kubectl.run('run', 'bare', '--image=example.org/bare:1', '--labels=app=bare');
    expect(await kubectl.run('get', 'pod', 'bare', '-o', 'jsonpath={.spec.containers[0].image}')).toBe(
      'example.org/bare:1',
    );
  });

  it('refuses what exists', async () => {
    await kubectl.run('create', 'configmap', 'twice');
    expect((await kubectl.attempt('create', 'configmap', 'twice')).stderr).toContain(
      'configmaps "twice" already exists',
    );
  });
});

describe('delete', () => {
  it('waits for finalizers', async () => {
    const held = { namespace: 'default', name: 'held' };
    await client.create(CONFIG_MAPS, { metadata: { ...held, finalizers: ['example.org/hold'] } });
    const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace: 'default' });
    const deleting = kubectl.run('delete', 'cm', 'held', '--timeout=20s');
    const stream = await client.watch(CONFIG_MAPS, {
      namespace: 'default',
      fieldSelector: 'metadata.name=held',
      resourceVersion,
    });
    for await (const { object } of watchEvents(stream)) {
      expect((object['metadata'] as { deletionTimestamp?: string }).deletionTimestamp).toBeTruthy();
      break;
    }
    await client.patch(CONFIG_MAPS, held, { type: 'merge', body: { metadata: { finalizers: null } } });
    expect(await deleting).toBe('configmap "held" deleted\n');
  });

  it('takes a namespace with all that is in it', async () => {
    await kubectl.run('create', 'namespace', 'tenant');
    await kubectl.run('create', 'configmap', 'inside', '-n', 'tenant');
    expect(await kubectl.run('delete', 'namespace', 'tenant', '--timeout=20s')).toBe('namespace "tenant" deleted\n');
    expect((await kubectl.attempt('get', 'cm', 'inside', '-n', 'tenant')).stderr).toContain('not found');
  });

  it('is forceful with pods when told to', async () => {
    const stuck = { namespace: 'default', name: 'stuck' };
    const containers = [{ name: 'a', image: 'example.org/a:1' }];
    await client.create(PODS, { metadata: stuck, spec: { nodeName: 'gone', containers } });
    await kubectl.run('delete', 'pod', 'stuck', '--wait=false');
    expect(rows(await kubectl.run('get', 'pod', 'stuck', '--no-headers'))[0]).toMatch(/^stuck \| 0\/1 \| Terminating/);
    await kubectl.run('delete', 'pod', 'stuck', '--force', '--grace-period=0');
    expect((await kubectl.attempt('get', 'pod', 'stuck')).stderr).toContain('not found');
  });
});

describe('look', () => {
  it('describes a pod with its events', async () => {
    const { metadata } = await client.get(PODS, { namespace: 'default', name: 'web' });
    const recorder = createEventRecorder({ client, component: 'udn-agent', host: 'node-1' });
    const regarding = { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web', uid: metadata.uid };
    recorder.record({ regarding, type: 'Warning', reason: 'ErrorAllocatingPod', message: 'no address is left' });
    await recorder.flush();
    const text = await kubectl.run('describe', 'pod', 'web');
    expect(text).toMatch(/Name: +web\nNamespace: +default\n/);
    expect(text).toMatch(/Warning +ErrorAllocatingPod +\S+ +udn-agent +no address is left/);
    expect(await kubectl.run('get', 'events')).toMatch(/Warning +ErrorAllocatingPod +pod\/web +no address is left/);
    expect(await kubectl.run('get', 'events.events.k8s.io', '-o', 'jsonpath={.items[0].note}')).toBe(
      'no address is left',
    );
    expect(await kubectl.run('events')).toContain('no address is left');
  });

  it('knows what there is', async () => {
    const resources = rows(await kubectl.run('api-resources', '--no-headers'));
    expect(resources).toContain('pods | po | v1 | true | Pod');
    expect(resources).toContain('endpointslices | discovery.k8s.io/v1 | true | EndpointSlice');
    expect((await kubectl.run('api-versions')).split('\n')).toContain('networking.k8s.io/v1');
    expect(await kubectl.run('version')).toMatch(/Server Version: v1\.\d+/);
  });
});
