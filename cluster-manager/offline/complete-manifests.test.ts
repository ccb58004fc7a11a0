import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { mirrorName } from '../render/mirrored-slice.ts';
import {
  askPrimary,
  cudn,
  ipamClaim,
  layer2Udn,
  layer3Udn,
  nad,
  namespace,
  netConf,
  node,
  pod,
  tenant,
} from '../testing/objects.ts';
import { type Completion, completeManifests } from './complete-manifests.ts';

const cluster = parseClusterConfig();
const complete = (...objects: unknown[]): Completion => completeManifests(objects, cluster);
const find = ({ objects }: Completion, kind: string, name: string) =>
  objects.find((one) => one.kind === kind && one.metadata.name === name);
const annotation = (completion: Completion, kind: string, name: string, key: string) =>
  find(completion, kind, name)?.metadata.annotations[`k8s.ovn.org/${key}`];

describe('completing manifests', () => {
  it('writes what the cluster manager would, oldest first', () => {
    const completion = complete(
      tenant('ns'),
      tenant('other'),
      node('n2', {}, { creationTimestamp: '2026-01-02T00:00:00Z' }),
      node('n1', {}, { creationTimestamp: '2026-01-03T00:00:00Z' }),
      layer3Udn('other/l3', ['10.30.0.0/16']),
      layer2Udn('ns/l2', ['10.20.0.0/16']),
      pod('ns/b', { creationTimestamp: '2026-01-02T00:00:00Z' }),
      pod('ns/a', { creationTimestamp: '2026-01-03T00:00:00Z' }),
      pod('ns/pending', {}, { nodeName: undefined }),
    );
    expect(annotation(completion, 'Node', 'n2', 'node-id')).toBe('2');
    expect(annotation(completion, 'Node', 'n1', 'node-subnets')).toBe(
      '{"default":["10.128.2.0/23"],"other_l3":["10.30.1.0/24"]}',
    );
    expect(annotation(completion, 'NetworkAttachmentDefinition', 'l2', 'network-id')).toBe('1');
    expect(annotation(completion, 'NetworkAttachmentDefinition', 'l2', 'tunnel-keys')).toBe('[16711684,16715779]');
    expect(annotation(completion, 'NetworkAttachmentDefinition', 'l3', 'network-id')).toBe('2');
    const entry = (name: string) => JSON.parse(annotation(completion, 'Pod', name, 'pod-networks') ?? '{}')['ns/l2'];
    expect([entry('b').ip_address, entry('a').ip_address]).toEqual(['10.20.0.3/16', '10.20.0.4/16']);
    expect(annotation(completion, 'Pod', 'pending', 'pod-networks')).toBeUndefined();
    expect(new Set(completion.diagnostics.map(({ severity }) => severity))).toEqual(new Set(['info']));
    expect(completion.diagnostics).toContainEqual({
      object: 'Node/n2',
      severity: 'info',
      message: 'annotation k8s.ovn.org/node-id is not in the input: assuming what the cluster manager would write: 2',
    });
  });

  it('changes nothing that is complete: completing twice is completing once', () => {
    const once = complete(
      tenant('a', { team: 'x' }),
      tenant('b', { team: 'x' }),
      node('n1'),
      cudn('blue', { matchLabels: { team: 'x' } }, layer2Udn('x/y', ['10.20.0.0/16'])['spec']),
      pod('a/p'),
      pod('b/p'),
    );
    const twice = completeManifests(once.objects, cluster);
    expect(twice.objects).toEqual(once.objects);
    expect(twice.diagnostics).toEqual([]);
    expect(once.objects.filter(({ kind }) => kind === 'NetworkAttachmentDefinition')).toHaveLength(2);
  });

  it('keeps what is annotated', () => {
    const completion = complete(
      tenant('ns'),
      node('n1', { 'k8s.ovn.org/node-id': '9', 'k8s.ovn.org/node-subnets': '{"default":"10.128.8.0/23"}' }),
      nad('ns/net', netConf('ns/net', 'isolatednet'), {
        annotations: {
          'k8s.ovn.org/network-id': '2',
          'k8s.ovn.org/network-name': 'isolatednet',
          'k8s.ovn.org/tunnel-keys': '[16711685,16715780]',
        },
      }),
      pod('ns/p', {
        annotations: {
          'k8s.ovn.org/pod-networks':
            '{"default":{"mac_address":"0a:58:0a:80:01:03","ip_addresses":["10.128.1.3/24"]}}',
        },
      }),
    );
    expect(annotation(completion, 'Node', 'n1', 'node-id')).toBe('9');
    expect(annotation(completion, 'NetworkAttachmentDefinition', 'net', 'tunnel-keys')).toBe('[16711685,16715780]');
    expect(Object.keys(JSON.parse(annotation(completion, 'Pod', 'p', 'pod-networks') ?? '{}'))).toEqual([
      'default',
      'ns/net',
    ]);
  });

  it('takes a namespace that is only mentioned as labelled, and says so', () => {
    const completion = complete(layer2Udn('ns/net', ['10.20.0.0/16']), pod('ns/p'), pod('default/q'));
    expect(completion.diagnostics[0]).toEqual({
      object: 'Namespace/ns',
      severity: 'warning',
      message: 'is not in the input: assuming the label k8s.ovn.org/primary-user-defined-network',
    });
    expect(find(completion, 'Namespace', 'default')?.metadata['labels']).toEqual({
      'kubernetes.io/metadata.name': 'default',
    });
    expect(annotation(completion, 'Pod', 'p', 'pod-networks')).toContain('10.20.0.3/16');
  });

  it('reports what is wrong by its object, and goes on', () => {
    const completion = complete(
      namespace('unlabelled'),
      tenant('ns'),
      layer2Udn('unlabelled/net', ['10.20.0.0/16']),
      layer2Udn('ns/bad', ['10.20.0.0/33']),
      layer2Udn('ns/good', ['10.21.0.0/16']),
      nad('ns/broken', netConf('ns/broken', 'x', { role: 'Primary' })),
      pod('ns/p', { annotations: { 'k8s.ovn.org/pod-networks': '{' } }),
      pod('ns/q'),
      { kind: 'Pod', metadata: { name: 'odd', namespace: 'ns' }, spec: { nodeName: 7 } },
      'nonsense',
      null,
    );
    const errors = completion.diagnostics.filter(({ severity }) => severity === 'error');
    expect(errors.map(({ object }) => object).sort()).toEqual([
      'NetworkAttachmentDefinition/ns/broken',
      'Pod/ns/odd',
      'Pod/ns/p',
      'UserDefinedNetwork/ns/bad',
      'UserDefinedNetwork/unlabelled/net',
      'object 10 of the input',
      'object 11 of the input',
    ]);
    expect(annotation(completion, 'Pod', 'q', 'pod-networks')).toContain('10.21.0.3/16');
  });

  it('reports an exhausted network on the node', () => {
    const small = layer3Udn('ns/net', []);
    const spec = {
      topology: 'Layer3',
      layer3: { role: 'Primary', subnets: [{ cidr: '10.30.0.0/24', hostSubnet: 25 }] },
    };
    const completion = complete(tenant('ns'), node('n1'), node('n2'), node('n3'), { ...small, spec });
    expect(completion.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([
      { object: 'Node/n3', severity: 'error', message: 'network ns_net: no subnet left in 10.30.0.0/24/25' },
    ]);
  });

  it('does not depend on the order of the input', () => {
    const objects = [
      tenant('ns'),
      node('n1'),
      node('n2'),
      layer2Udn('ns/l2', ['10.20.0.0/16']),
      layer3Udn('ns/l3', ['10.30.0.0/16'], { role: 'Secondary' }),
      pod('ns/a'),
      pod('ns/b'),
    ];
    const texts = (completion: Completion) => completion.objects.map((one) => JSON.stringify(one)).sort();
    expect(texts(complete(...objects.toReversed()))).toEqual(texts(complete(...objects)));
  });

  it('leaves what the input says of a node, also where the cluster manager would give something else', () => {
    const completion = complete(
      tenant('ns'),
      layer3Udn('ns/net', ['192.168.0.0/16']),
      node('n1', {
        'k8s.ovn.org/node-id': '4',
        'k8s.ovn.org/node-transit-switch-port-ifaddr': '{"ipv4":"100.88.0.3/16"}',
        'k8s.ovn.org/node-subnets': '{"default":["10.1.1.0/24"]}',
      }),
    );
    expect(annotation(completion, 'Node', 'n1', 'node-transit-switch-port-ifaddr')).toBe('{"ipv4":"100.88.0.3/16"}');
    expect(annotation(completion, 'Node', 'n1', 'node-subnets')).toBe(
      '{"default":["10.1.1.0/24"],"ns_net":["192.168.0.0/24"]}',
    );
    expect(completion.diagnostics).toContainEqual({
      object: 'Node/n1',
      severity: 'warning',
      message: "network default: 10.1.1.0/24 is not in the network's subnets",
    });
  });

  it('takes an unreadable number as missing, whatever JSON makes of it', () => {
    const completion = complete(node('n1', { 'k8s.ovn.org/node-id': '2 ' }));
    expect(annotation(completion, 'Node', 'n1', 'node-id')).toBe('2');
  });

  it('does not give away what a younger pod holds to one that only mentions the network', () => {
    const entry = { 'ns/l2': { ip_addresses: ['10.20.0.3/16'], mac_address: '0a:58:0a:14:00:03', tunnel_id: 10 } };
    const networks = (value: unknown) => ({ annotations: { 'k8s.ovn.org/pod-networks': JSON.stringify(value) } });
    const mentions = { default: { mac_address: '0a:58:0a:00:00:01', role: 'ns/l2' } };
    const completion = complete(
      tenant('ns'),
      layer2Udn('ns/l2', ['10.20.0.0/16']),
      pod('ns/a', networks(mentions)),
      pod('ns/b', networks(entry)),
    );
    expect(annotation(completion, 'Pod', 'b', 'pod-networks')).toBe(JSON.stringify(entry));
    expect(annotation(completion, 'Pod', 'a', 'pod-networks')).toContain('10.20.0.4/16');
  });

  it('gives what a claim has to the pod that names it, and to no other', () => {
    const completion = complete(
      tenant('ns'),
      layer2Udn('ns/l2', ['10.20.0.0/16'], { ipam: { lifecycle: 'Persistent' } }),
      ipamClaim('ns/c', 'ns_l2', {}, {}, { ips: ['10.20.0.3/16'] }),
      pod('ns/a'),
      pod('ns/b', askPrimary({ 'ipam-claim-reference': 'c' })),
      pod('ns/d', askPrimary({ 'ipam-claim-reference': 'none' })),
    );
    expect(annotation(completion, 'Pod', 'a', 'pod-networks')).toContain('10.20.0.4/16');
    expect(annotation(completion, 'Pod', 'b', 'pod-networks')).toContain('10.20.0.3/16');
    expect(completion.diagnostics).toContainEqual({
      object: 'Pod/ns/d',
      severity: 'error',
      message: 'network ns_l2: IPAMClaim ns/none does not exist',
    });
  });

  it('takes the last of several objects of one name, and says so', () => {
    const completion = complete(
      tenant('ns'),
      layer3Udn('ns/net', ['10.30.0.0/16']),
      layer3Udn('ns/net', ['10.31.0.0/16']),
    );
    expect(completion.diagnostics.filter(({ severity }) => severity === 'warning')).toEqual([
      {
        object: 'UserDefinedNetwork/ns/net',
        severity: 'warning',
        message: 'is in the input more than once: using the last one',
      },
    ]);
    expect(JSON.stringify(find(completion, 'NetworkAttachmentDefinition', 'net'))).toContain('10.31.0.0/16');
  });
});

describe('EndpointSlices', () => {
  const slice = (name: string, labels: Readonly<Record<string, string>>, annotations = {}, uid?: string) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'ns', name, labels, annotations },
    addressType: 'IPv4',
    endpoints: [
      { addresses: ['10.128.0.5'], targetRef: { kind: 'Pod', name: 'a', ...(uid !== undefined && { uid }) } },
    ],
    ports: [{ name: '', protocol: 'TCP', port: 80 }],
  });
  const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
  const OF_KUBERNETES = {
    [MANAGED_BY]: 'endpointslice-controller.k8s.io',
    'kubernetes.io/service-name': 'web',
  };
  const OF_OURS = {
    [MANAGED_BY]: 'endpointslice-mirror-controller.k8s.ovn.org',
    'k8s.ovn.org/service-name': 'web',
  };
  const tenantObjects = [tenant('ns'), node('n1'), layer2Udn('ns/l2', ['10.20.0.0/16']), pod('ns/a')];
  const slicesOf = ({ objects }: Completion) => objects.filter(({ kind }) => kind === 'EndpointSlice');

  it('of tenants get mirrors with the addresses that their pods get', () => {
    const completion = complete(...tenantObjects, slice('web-1', OF_KUBERNETES, {}));
    expect(slicesOf(completion).map(({ metadata }) => metadata.name)).toEqual(['web-1', mirrorName('ns_l2', 'web-1')]);
    expect(slicesOf(completion)[1]).toMatchObject({ endpoints: [{ addresses: ['10.20.0.3'] }] });
    expect(completion.diagnostics).toContainEqual({
      object: `EndpointSlice/ns/${mirrorName('ns_l2', 'web-1')}`,
      severity: 'info',
      message: 'is not in the input: assuming the cluster manager’s mirror of web-1',
    });
    expect(complete(...completion.objects).objects).toEqual(completion.objects);
  });

  it.each([
    [
      'those that have one',
      [slice('m', OF_OURS, { 'k8s.ovn.org/source-endpointslice': 'web-1' }), slice('web-1', OF_KUBERNETES)],
      2,
    ],
    ['those by hand', [slice('hand', { 'kubernetes.io/service-name': 'web' })], 1],
    ['what cannot be read', [{ ...slice('bad', OF_KUBERNETES), endpoints: 'none' }], 1],
    ['those of another pod of that name', [slice('web-1', OF_KUBERNETES, {}, 'another')], 1],
  ])('%s stay alone', (_, slices, count) => {
    expect(slicesOf(complete(...tenantObjects, ...slices))).toHaveLength(count);
  });
});
