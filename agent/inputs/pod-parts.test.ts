import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../kube/types.ts';
import { projectPodParts, samePodParts } from './pod-parts.ts';

interface Input {
  readonly node?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotation?: string;
  readonly version?: string;
  readonly spec?: object;
  readonly status?: object;
}

const ADDRESSES = JSON.stringify({
  default: { ip_addresses: ['10.128.2.3/23'], mac_address: '0a:58:0a:80:02:03', role: 'infrastructure-locked' },
  'red/net': { ip_addresses: ['192.168.2.3/24', 'fd00::3/64'], mac_address: '0a:58:c0:a8:02:03', role: 'primary' },
});

const pod = ({ node = 'node2', labels = { app: 'web' }, annotation = ADDRESSES, version = '1', ...rest }: Input = {}) =>
  ({
    metadata: {
      ...{ namespace: 'red', name: 'a', uid: 'u', resourceVersion: version, labels },
      annotations: { 'k8s.ovn.org/pod-networks': annotation },
    },
    spec: { nodeName: node, ...rest.spec },
    status: rest.status,
  }) as unknown as KubeObject;

const project = (input: Input = {}, before?: ReturnType<typeof projectPodParts>) =>
  projectPodParts(pod(input), 'node1', before);

describe('what policies know of a pod', () => {
  it('is its labels and where it can be reached, whatever node it is on', () => {
    const { pod: here, policyPod } = project();
    expect(here).toBeUndefined();
    expect(policyPod).toMatchObject({
      ...{ namespace: 'red', labels: { app: 'web' }, isLocal: false, finished: false, ports: [] },
    });
    expect([...(policyPod?.addresses ?? [])]).toEqual([['red/net', ['192.168.2.3', 'fd00::3']]]);
    expect(project({ node: 'node1' }).policyPod?.isLocal).toBe(true);
  });

  it('is no address of a host-network pod, which is never isolated, nor of one whose annotation cannot be read', () => {
    const host = project({ spec: { hostNetwork: true }, node: 'node1' }).policyPod;
    expect(host).toMatchObject({ isHost: true, isLocal: false, addresses: new Map() });
    expect(project({ annotation: '{"default":' }).policyPod?.addresses.size).toBe(0);
    expect(project({ annotation: '{"default":', node: 'node1' }).policyPod?.addresses.size).toBe(0);
  });

  it('has the named ports of containers and sidecars, but for what no policy can mean', () => {
    const web = { name: 'web', containerPort: 8080 };
    const containers = [
      { ports: [web, { containerPort: 1 }, { name: 'x', containerPort: 'y' }, null] },
      { ports: 'none' },
      7,
      { ports: [{ name: 'dns', containerPort: 53, protocol: 'UDP' }] },
    ];
    const initContainers = [
      { restartPolicy: 'Always', ports: [{ name: 'side', containerPort: 9 }] },
      { ports: [{ name: 'once', containerPort: 10 }] },
    ];
    expect(project({ spec: { containers, initContainers } }).policyPod?.ports).toEqual([
      { name: 'web', protocol: 'tcp', port: 8080 },
      { name: 'dns', protocol: 'udp', port: 53 },
      { name: 'side', protocol: 'tcp', port: 9 },
    ]);
    const many = Array.from({ length: 1_000 }, (_, index) => ({ ...web, name: `p${index}` }));
    expect(project({ spec: { containers: [{ ports: many }] } }).policyPod?.ports).toHaveLength(256);
  });

  it('shares labels and ports with pods that have the same', () => {
    const spec = { containers: [{ ports: [{ name: 'web', containerPort: 80 }] }] };
    const [one, other] = [project({ spec }).policyPod, project({ spec, node: 'node3' }).policyPod];
    expect(other?.labels).toBe(one?.labels);
    expect(other?.ports).toBe(one?.ports);
  });
});

describe('a part that is as it was', () => {
  it('stays the same object, and so do addresses whose annotation has not changed', () => {
    const before = project();
    const heartbeat = project({ version: '2', status: { phase: 'Running' } }, before);
    expect(samePodParts(before, heartbeat)).toBe(true);
    const ended = project({ version: '3', status: { phase: 'Succeeded' } }, before);
    expect(ended.policyPod?.finished).toBe(true);
    expect(ended.policyPod.ips).toBe(before.policyPod.ips);
  });

  it('is told apart by labels for policies, and by what ports need for the others', () => {
    const before = project({ node: 'node1' });
    const labelled = project({ node: 'node1', labels: { app: 'db' }, version: '2' }, before);
    expect(labelled.pod).toBe(before.pod);
    expect(labelled.policyPod?.labels).toEqual({ app: 'db' });
    expect(labelled.policyPod.ips).toBe(before.policyPod.ips);
    expect(samePodParts(before, labelled)).toBe(false);
    const heartbeat = project({ node: 'node1', version: '2', status: { phase: 'Running' } }, before);
    expect(heartbeat.pod).toBe(before.pod);
  });

  it('is another one as soon as the annotation is', () => {
    const before = project({ annotation: '{}' });
    expect(before.policyPod?.addresses.size).toBe(0);
    const addressed = project({ version: '2' }, before);
    expect(addressed.policyPod?.addresses.get('red/net')).toEqual(['192.168.2.3', 'fd00::3']);
    const moved = project({ annotation: ADDRESSES.replace('192.168.2.3/', '192.168.2.4/'), version: '3' }, addressed);
    expect(moved.policyPod?.addresses.get('red/net')).toEqual(['192.168.2.4', 'fd00::3']);
    expect(project({ annotation: '{}', version: '3' }, addressed).policyPod?.addresses.size).toBe(0);
  });

  it('is no address before the pod is scheduled, nor of an interface with two of a family', () => {
    const unbound = projectPodParts({ ...pod(), spec: {} } as unknown as KubeObject, 'node1');
    expect(unbound.policyPod?.addresses.size).toBe(0);
    expect(project({ version: '2' }, unbound).policyPod?.addresses.get('red/net')).toEqual(['192.168.2.3', 'fd00::3']);
    const forged = ADDRESSES.replace('"fd00::3/64"', '"192.168.2.9/24"');
    expect(project({ annotation: forged }).policyPod?.addresses.size).toBe(0);
  });

  it('appears when a pod is bound to this node, and goes when a layer-2 pod loses its key', () => {
    const pending = projectPodParts({ ...pod(), spec: {} } as unknown as KubeObject, 'node1');
    expect(pending.pod).toBeUndefined();
    expect(project({ node: 'node1', version: '2' }, pending).pod).toBeDefined();
    const keyed = JSON.stringify({
      'red/net': { ip_addresses: ['10.1.0.3/16'], mac_address: '0a:58:0a:01:00:03', role: 'primary', tunnel_id: 5 },
    });
    const spanning = project({ annotation: keyed });
    expect(spanning.pod).toBeDefined();
    expect(project({ version: '2' }, spanning).pod).toBeUndefined();
  });
});

describe('a host-network pod, which has no annotation', () => {
  const host = (nodeName?: string) =>
    ({
      metadata: { namespace: 'red', name: 'host', uid: 'u', resourceVersion: nodeName ?? '1' },
      spec: { hostNetwork: true, ...(nodeName !== undefined && { nodeName }) },
    }) as unknown as KubeObject;

  it('is known once the scheduler has given it to this node', () => {
    const before = projectPodParts(host(), 'node1');
    expect(before.pod).toBeUndefined();
    const after = projectPodParts(host('node1'), 'node1', before);
    expect(after.pod?.fact).toMatchObject({ name: 'host', node: 'node1', hostNetwork: true });
    expect(samePodParts(before, after)).toBe(false);
  });

  it('is unknown on any other node', () => {
    expect(projectPodParts(host('node2'), 'node1', projectPodParts(host(), 'node1')).pod).toBeUndefined();
  });
});
