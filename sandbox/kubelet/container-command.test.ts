import { expect, it } from 'vitest';
import { type ContainerStart, containerArguments, enterArguments } from './container-command.ts';
import { readPod } from './pod-spec.ts';

const start = (container: object = {}, spec: object = {}): ContainerStart => {
  const pod = readPod({
    metadata: {
      name: 'p',
      namespace: 'ns',
      uid: 'u',
      resourceVersion: '1',
      labels: { app: 'x' },
      annotations: { 'a/b': 'c' },
    },
    spec: { containers: [{ name: 'c', ...container }], ...spec },
  });
  return {
    id: 'i',
    pod,
    container: pod.spec.containers[0]!,
    netns: pod.spec.hostNetwork ? undefined : '/run/netns/n',
    cgroup: 'kubepods/besteffort/podu/i',
    podAddresses: ['10.0.0.1', 'fd00::1'],
    nodeName: 'node-1',
    nodeAddresses: ['172.20.0.11'],
    files: { pid: '/pid', exit: '/exit', log: '/log', mount: '/mount', hosts: '/hosts' },
  };
};
const after = (args: readonly string[], word: string): string[] => args.slice(args.indexOf(word) + 1);
const environment = (args: readonly string[]): string[] => args.filter((_, i) => args[i - 1] === '--env');

it.each([
  ['the toolbox', {}, ['/usr/local/bin/toolbox']],
  ['its arguments', { args: ['serve'] }, ['/usr/local/bin/toolbox', 'serve']],
  ['a command', { command: ['sh', '-c'], args: ['true'] }, ['sh', '-c', 'true']],
])('runs %s', (_, container, command) => {
  expect(after(containerArguments(start(container)), '--')).toEqual(command);
});

it('is in the pod’s network, or in the node’s', () => {
  expect(after(containerArguments(start()), '--net-file')[0]).toBe('/run/netns/n');
  expect(after(containerArguments(start()), '--hostname')[0]).toBe('p');
  expect(after(containerArguments(start({}, { hostname: 'h' })), '--hostname')[0]).toBe('h');
  const host = containerArguments(start({}, { hostNetwork: true }));
  expect(host).not.toContain('--net-file');
  expect(after(host, '--hostname')[0]).toBe('node-1');
});

it('the downward API', () => {
  const field = (fieldPath: string) => ({ name: 'F', valueFrom: { fieldRef: { fieldPath } } });
  const value = (fieldPath: string) => environment(containerArguments(start({ env: [field(fieldPath)] })))[1];
  expect(value('metadata.name')).toBe('F=p');
  expect(value('metadata.namespace')).toBe('F=ns');
  expect(value("metadata.labels['app']")).toBe('F=x');
  expect(value("metadata.annotations['a/b']")).toBe('F=c');
  expect(value('status.podIP')).toBe('F=10.0.0.1');
  expect(value('status.podIPs')).toBe('F=10.0.0.1,fd00::1');
  expect(value('status.hostIP')).toBe('F=172.20.0.11');
  expect(value('spec.nodeName')).toBe('F=node-1');
  expect(value('spec.nothing')).toBe('F=');
  expect(environment(containerArguments(start({ env: [{ name: 'A', value: 'x=y z' }] })))).toEqual([
    'POD_NAME=p',
    'A=x=y z',
  ]);
});

it('the image coredns is the toolbox with that program, and a resolver is the pod’s own where it has one', () => {
  const binds = (args: readonly string[]): string[] => args.filter((_, i) => args[i - 1] === '--bind');
  expect(binds(containerArguments(start({ image: 'coredns' })))).toContain(
    '/opt/ovn-udn/bin/coredns:/usr/local/bin/coredns',
  );
  expect(binds(containerArguments(start())).join()).not.toMatch(/coredns|resolv/);
  const own = start();
  const args = containerArguments({ ...own, files: { ...own.files, resolvConf: '/resolv' } });
  expect(binds(args)).toContain('/resolv:/etc/resolv.conf:rw');
});

it('entering has the container’s cgroup and environment', () => {
  const args = enterArguments(42, start({ env: [{ name: 'A', value: '1' }] }));
  expect(after(args, '--target')[0]).toBe('42');
  expect(after(args, '--cgroup')[0]).toBe('/sys/fs/cgroup/kubepods/besteffort/podu/i');
  expect(environment(args)).toContain('A=1');
  expect(args).not.toContain('--');
});
