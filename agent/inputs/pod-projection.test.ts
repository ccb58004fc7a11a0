import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../kube/types.ts';
import { type PodProjection, projectPod, samePod } from './pod-projection.ts';

const OPEN = 'k8s.ovn.org/open-default-ports';

const project = (annotations: Record<string, string>, nodeName = 'node1', before?: PodProjection) =>
  projectPod(
    {
      metadata: { name: 'a', namespace: 'red', uid: 'u', resourceVersion: '1', annotations },
      spec: { nodeName },
    } as unknown as KubeObject,
    'node1',
    before,
  );

describe('the UID by which the runtime knows a pod', () => {
  const HASH = '0123456789abcdef0123456789abcdef';
  const of = (annotations: Record<string, string>) => project(annotations)?.fact.runtimeUid;

  it('is that of the static pod that it is the mirror of', () => {
    const mirror = { 'kubernetes.io/config.mirror': HASH, 'kubernetes.io/config.hash': HASH };
    expect(of(mirror)).toBe(HASH);
    const [before, after] = [project({}), project(mirror)];
    expect(before && after && samePod(before, after)).toBe(false);
  });

  it('is its own for a pod that is no mirror, or names the UID of a pod of the API', () => {
    expect(of({ 'kubernetes.io/config.hash': HASH })).toBe('u');
    const other = '389012aa-0000-4000-8000-000000000001';
    expect(of({ 'kubernetes.io/config.mirror': other, 'kubernetes.io/config.hash': other })).toBe('u');
  });
});

it('what a pod selects is kept, and of what nobody can read the reason', () => {
  const SELECTION = 'k8s.v1.cni.cncf.io/networks';
  const of = (text: string, node?: string) => project({ [SELECTION]: text }, node)?.fact.selected;
  expect(of('storage,blue/backup@bak')).toMatchObject([
    { nadKey: 'red/storage', interfaceName: 'net1' },
    { nadKey: 'blue/backup', interfaceName: 'bak' },
  ]);
  expect([of(''), of('[{'), of('storage', 'node2')]).toEqual([undefined, undefined, undefined]);
  const broken = project({ [SELECTION]: 'a@x,b@x' });
  expect(broken?.fact.unreadableSelection).toContain('[1].interface: "x" is the interface of [0] already');
  expect(broken?.problems).toEqual([]);
});

it('limits of a pod of this node are kept, or why nobody can read them', () => {
  const of = (egress: string, node?: string) => {
    const { bandwidth, unreadableBandwidth } = project({ 'kubernetes.io/egress-bandwidth': egress }, node)?.fact ?? {};
    return bandwidth ?? unreadableBandwidth;
  };
  expect(of('10M')).toEqual({ egressRate: 10_000_000 });
  expect(of('fast')).toBe(
    'annotation kubernetes.io/egress-bandwidth of Pod red/a: "fast" is not a quantity, as 10M is',
  );
  expect(of('10M', 'node2')).toBeUndefined();
});

it('what a pod of this node asks for in vain is kept, one by one', () => {
  const annotations = {
    'k8s.v1.cni.cncf.io/networks':
      '[{"name":"storage","cni-args":{"a":1},"infiniband-guid":"24:8a:07:03:00:8d:ae:2f","ip":1},{"name":"other"}]',
    'v1.multus-cni.io/default-network':
      '[{"namespace":"ovn-kubernetes","name":"default","portMappings":[{"hostPort":1,"containerPort":1}],"cni-args":{}}]',
    'k8s.ovn.org/requested-primary-udn': 'blue',
  };
  const of = (asked: Readonly<Record<string, string>>, node?: string) => project(asked, node)?.fact.ignored;
  expect(of(annotations)).toEqual([
    {
      ...{ nad: 'red/storage', refuses: true },
      message:
        'k8s.v1.cni.cncf.io/networks: red/storage: infiniband-guid: interfaces of ovn-udn are Ethernet, which has no GUID',
    },
    { nad: 'red/storage', message: 'k8s.v1.cni.cncf.io/networks: red/storage: cni-args has no effect' },
    {
      ...{ nad: 'red/storage', isUnknown: true },
      message: 'k8s.v1.cni.cncf.io/networks: red/storage: "ip" is unknown and ignored',
    },
    {
      message:
        'v1.multus-cni.io/default-network: portMappings: ports of a node are opened by hostPort of a container only',
      refuses: true,
    },
    { message: 'v1.multus-cni.io/default-network: cni-args has no effect' },
    { message: 'k8s.ovn.org/requested-primary-udn has no effect: a pod is on the primary network of its namespace' },
  ]);
  expect([of({}), of({ 'k8s.v1.cni.cncf.io/networks': 'storage' }), of(annotations, 'node2')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

it('a key in letters that Multus takes for another one refuses the pod, also where another plugin makes the interface', () => {
  const networks = '[{"name":"storage","IPs":["10.9.0.9"],"Cni-Args":{},"ipz":1}]';
  const where = 'k8s.v1.cni.cncf.io/networks: red/storage';
  const found = project({ 'k8s.v1.cni.cncf.io/networks': networks })?.fact.ignored;
  expect(found).toEqual([
    ...['"IPs" has to be written "ips"', '"Cni-Args" has to be written "cni-args"'].map((text) => ({
      ...{ nad: 'red/storage', isUnknown: true, refuses: true },
      message: `${where}: ${text}`,
    })),
    { nad: 'red/storage', isUnknown: true, message: `${where}: "ipz" is unknown and ignored` },
  ]);
});

it('a pod of this node that is being deleted is seen as such', () => {
  const of = (metadata: object, nodeName = 'node1') =>
    projectPod(
      {
        metadata: { name: 'a', namespace: 'red', uid: 'u', resourceVersion: '1', ...metadata },
        spec: { nodeName },
      } as unknown as KubeObject,
      'node1',
    );
  const [before, after] = [of({}), of({ deletionTimestamp: '2026-01-01T00:00:00Z' })];
  expect([before?.fact.leaving, after?.fact.leaving]).toEqual([undefined, true]);
  expect(before && after && samePod(before, after)).toBe(false);
});

it('no field of what is kept of a pod can change unseen, but the version', () => {
  const pod = project({ [OPEN]: '- protocol: icmp\n' });
  if (pod === undefined) throw new Error('not projected');
  const other = { changed: true };
  for (const field of Object.keys(pod)) {
    const isSeen = !samePod(pod, { ...pod, [field]: other });
    expect([field, isSeen]).toEqual([field, field !== 'resourceVersion']);
  }
  for (const field of Object.keys(pod.fact)) {
    expect([field, samePod(pod, { ...pod, fact: { ...pod.fact, [field]: other } })]).toEqual([field, false]);
  }
});

describe('open default ports of a pod', () => {
  it('are read, also while they change', () => {
    const before = project({});
    const after = project({ [OPEN]: '- protocol: tcp\n  port: 80\n- protocol: icmp\n' });
    expect(before?.fact.openPorts).toBeUndefined();
    expect(after?.fact).toMatchObject({ openPorts: [{ protocol: 'tcp', port: 80 }, { protocol: 'icmp' }] });
    expect(after?.problems).toEqual([]);
    expect(before && after && samePod(before, after)).toBe(false);
    expect(after && samePod(after, { ...after, resourceVersion: '2' })).toBe(true);
  });

  it.each(['- protocol: tcp\n  port: 80\n', '- protocol: tcp'])(
    'are not read again by a change of something else: %j',
    (text) => {
      const before = project({ [OPEN]: text });
      const after = project({ [OPEN]: text, other: 'x' }, 'node1', before);
      expect(after?.fact.openPorts).toBe(before?.fact.openPorts);
      expect(before && after && samePod(before, after)).toBe(true);
      expect(project({ [OPEN]: '- protocol: icmp' }, 'node1', after)).toMatchObject({
        fact: { openPorts: [{ protocol: 'icmp' }] },
        problems: [],
      });
    },
  );

  it.each([
    '- protocol: tcp',
    '- protocol: icmp\n  port: 1',
    'nonsense: [',
    '- protocol: tcp\n  port: 80\n- port: 99999',
  ])('are all closed by %j, which is a problem of the pod and not of its networks', (annotation) => {
    const pod = project({ [OPEN]: annotation });
    expect(pod?.fact).toMatchObject({ openPorts: [], unreadableOpenPorts: expect.any(String) });
    expect(pod?.fact.unreadable).toBeUndefined();
    expect(pod?.problems).toEqual([
      { object: 'Pod/red/a', message: pod?.fact.unreadableOpenPorts, cause: 'object-unreadable' },
    ]);
  });
});

it('reads ports of the node of its own pods, once each, and none of init containers that end', () => {
  const spec = {
    nodeName: 'node1',
    containers: [
      { ports: [{ containerPort: 8080, hostPort: 80 }, { containerPort: 8081 }, { containerPort: 1, hostPort: 0 }] },
      { ports: [{ containerPort: 53, hostPort: 53, protocol: 'UDP', hostIP: '127.0.0.1' }] },
      {},
    ],
    initContainers: [
      { ports: [{ containerPort: 7, hostPort: 7 }] },
      { restartPolicy: 'Always', ports: [{ containerPort: 9, hostPort: 9, hostIP: '', protocol: null }] },
    ],
  };
  const of = (changed: object, node = 'node1') =>
    projectPod(podObject({ ...spec, nodeName: node, ...changed }), 'node1');
  expect(of({})?.fact.hostPorts).toEqual([
    { protocol: 'TCP', hostPort: 80, containerPort: 8080 },
    { protocol: 'UDP', hostPort: 53, containerPort: 53, hostIp: '127.0.0.1' },
    { protocol: 'TCP', hostPort: 9, containerPort: 9 },
  ]);
  expect(of({}, 'node2')?.fact.hostPorts).toBeUndefined();
  expect(of({ containers: [{ ports: [{ containerPort: 1 }] }], initContainers: null })?.fact).not.toHaveProperty(
    'hostPorts',
  );
});

it.each([
  [{ containerPort: 1, hostPort: 65_536 }, 'hostPort'],
  [{ containerPort: 0, hostPort: 1 }, 'containerPort'],
  [{ containerPort: 1, hostPort: 1, hostIP: 'x' }, 'hostIP'],
  [{ containerPort: 1, hostPort: 1, protocol: 'ICMP' }, 'protocol'],
])('the other ports of a pod are open when one of them is none: %o', (port, field) => {
  const ports = [{ containerPort: 2, hostPort: 2 }, port];
  const projected = projectPod(podObject({ nodeName: 'node1', containers: [{ ports }] }), 'node1');
  expect(projected?.fact.hostPorts).toEqual([{ protocol: 'TCP', hostPort: 2, containerPort: 2 }]);
  const at = new RegExp(`^spec\\.containers\\[0\\]\\.ports\\[1\\]\\.${field}: `);
  expect(projected?.fact.refusedHostPorts).toEqual([expect.stringMatching(at)]);
});

const podObject = (spec: object): KubeObject =>
  ({ metadata: { name: 'a', namespace: 'red', uid: 'u', resourceVersion: '1' }, spec }) as unknown as KubeObject;

it('a pod of another node that has no port here is kept where its machine may come here by a secondary network', () => {
  const of = (role: string, labels: Record<string, string>) =>
    projectPod(
      {
        metadata: {
          ...{ name: 'a', namespace: 'red', uid: 'u', resourceVersion: '1', labels },
          annotations: {
            'k8s.ovn.org/pod-networks': JSON.stringify({
              'red/lan': { ip_addresses: ['10.0.0.3/24'], mac_address: '0a:58:0a:00:00:03', role },
            }),
          },
        },
        spec: { nodeName: 'node2' },
      } as unknown as KubeObject,
      'node1',
    )?.fact.machine;
  expect(of('secondary', { 'vm.kubevirt.io/name': 'vm' })).toBe('vm');
  expect(of('primary', { 'vm.kubevirt.io/name': 'vm' })).toBeUndefined();
  expect(of('secondary', {})).toBeUndefined();
  // No label's value; it would be text in a flow.
  expect(of('secondary', { 'vm.kubevirt.io/name': 'vm", x' })).toBeUndefined();
});
