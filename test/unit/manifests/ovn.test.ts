/** Open vSwitch and OVN in the cluster: `daemonset/ovn` starts what `bin/ovn-daemon` runs, with few rights, where the agent looks for it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { OVN_NAMESPACE } from '../../../cli/commands/check/expectations.ts';
import { unknownFields } from '../../../kube/testing/known-fields.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { FOLDER, readKustomization, readWorkload } from './load.ts';

const execSchema = z.strictObject({ exec: z.strictObject({ command: z.array(z.string()) }) });
const probeSchema = z.looseObject(execSchema.shape).optional();
const containerSchema = z.looseObject({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()),
  lifecycle: z.strictObject({ preStop: execSchema }).optional(),
  startupProbe: probeSchema,
  readinessProbe: probeSchema,
  livenessProbe: probeSchema,
  securityContext: z.strictObject({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]), add: z.array(z.string()).optional() }),
  }),
  volumeMounts: z.array(z.strictObject({ name: z.string(), mountPath: z.string() })),
});
const podSchema = z.looseObject({
  // They would start one after the other, each in a turn of the kubelet of its own.
  initContainers: z.undefined().optional(),
  containers: z.array(containerSchema),
  terminationGracePeriodSeconds: z.number(),
  affinity: z.unknown().optional(),
  tolerations: z.unknown(),
  volumes: z.array(
    z.union([
      z.object({ name: z.string(), hostPath: z.object({ path: z.string(), type: z.literal('DirectoryOrCreate') }) }),
      z.object({ name: z.literal('tmp'), emptyDir: z.object({ medium: z.literal('Memory'), sizeLimit: z.string() }) }),
    ]),
  ),
});
const read = (file: string): unknown => parse(readFileSync(join(FOLDER, file), 'utf8'));
const template = (value: unknown): unknown =>
  z.looseObject({ spec: z.looseObject({ template: z.looseObject({ spec: z.unknown() }) }) }).parse(value).spec.template
    .spec;
const daemonSet = read('ovn/daemonset.yaml');
const pod = podSchema.parse(template(daemonSet));
const { containers } = pod;
const DATABASES = ['ovsdb-server', 'nb', 'sb'];
const PROGRAM = '/opt/ovn-udn/bin/ovn-daemon';

it('has only fields that Kubernetes knows', () => expect(unknownFields('V1DaemonSet', daemonSet)).toEqual([]));

it('runs every daemon of its image once, the databases first', () => {
  const [, names = ''] = /usage: ovn-daemon (\S+)/.exec(readFileSync('bin/ovn-daemon', 'utf8')) ?? [];
  expect(containers.flatMap(({ args }) => args).toSorted()).toEqual(names.split('|').toSorted());
  expect(containers.map(({ args: [daemon] }) => daemon).slice(0, 3)).toEqual(DATABASES);
});

it('gives hooks longer than they wait for other daemons', () => {
  const waits = readFileSync('bin/ovn-daemon', 'utf8').matchAll(/outlive "\$1" (\d+) /g);
  const seconds = [...waits].map(([, found]) => Number(found));
  expect(seconds).toHaveLength(4);
  for (const one of seconds) expect(one).toBeLessThan(pod.terminationGracePeriodSeconds);
});

it('has the version of the package', () => {
  const { images } = z.looseObject({ images: z.array(z.unknown()) }).parse(read('ovn/kustomization.yaml'));
  expect(images).toEqual([{ name: 'udn-ovn', newName: 'udn-ovn', newTag: packageJson.version }]);
  expect(new Set(containers.map(({ image }) => image))).toEqual(new Set(['udn-ovn']));
});

describe.each(containers)('$name', ({ args: [daemon = ''], lifecycle, securityContext, volumeMounts, ...probes }) => {
  it('is asked by its own control socket, and told before it ends', () => {
    expect(probes.livenessProbe?.exec.command).toEqual([PROGRAM, daemon, 'alive']);
    const readiness = DATABASES.includes(daemon) ? probes.startupProbe : probes.readinessProbe;
    expect(readiness?.exec.command).toEqual([PROGRAM, daemon, 'ready']);
    expect(lifecycle?.preStop.exec.command).toEqual([PROGRAM, daemon, 'stop']);
  });

  it('knows its pod, so that its hooks stop no daemon of another', () => {
    expect(probes['env']).toContainEqual({
      name: 'OVN_POD',
      valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } },
    });
  });

  it('has the rights that it needs', () => {
    const rights = { 'ovs-vswitchd': ['NET_ADMIN', 'NET_BROADCAST', 'NET_RAW'] };
    expect(securityContext.capabilities.add).toEqual(rights[daemon as keyof typeof rights]);
  });

  it('sees the node’s folders where the node has them, and no other’s data', () => {
    const paths = volumeMounts.map(({ name, mountPath }) => {
      const volume = pod.volumes.find((one) => one.name === name);
      expect(volume !== undefined && 'hostPath' in volume ? volume.hostPath.path : '/tmp').toBe(mountPath);
      return mountPath;
    });
    const data = { 'ovsdb-server': '/var/lib/openvswitch', nb: '/var/lib/ovn', sb: '/var/lib/ovn' };
    expect(paths.slice(0, 2)).toEqual(['/run/openvswitch', '/run/ovn']);
    const own = data[daemon as keyof typeof data];
    expect(paths.slice(2)).toEqual(own === undefined ? [] : [own, '/tmp']);
  });
});

describe('an overlay with it', () => {
  const agent = z
    .object({ tolerations: z.unknown(), volumes: z.array(z.unknown()) })
    .parse(template(read('agent.yaml')));

  it('has it on the nodes of the agents, and on those that an agent was taken from', () => {
    expect([pod.affinity, pod.tolerations]).toEqual([undefined, agent.tolerations]);
  });

  it('starts agents before there are sockets', () => {
    const needed = readWorkload('udn-agent').spec.template.spec.volumes.map(({ name }) => name);
    const patched = z
      .object({ volumes: z.array(z.looseObject({ name: z.string() })) })
      .parse(template(read('with-ovn/agent-folders.yaml')));
    const missing = agent.volumes.filter((volume) => JSON.stringify(volume).includes('"type":"Directory"'));
    expect(patched.volumes.map(({ name }) => name)).toEqual(
      missing.map((volume) => z.looseObject({ name: z.string() }).parse(volume).name),
    );
    for (const volume of patched.volumes) {
      expect(needed).toContain(volume.name);
      expect(volume).toEqual(pod.volumes.find(({ name }) => name === volume.name));
    }
  });

  it('is discarded once a node is clean', () => {
    const patch = z
      .tuple([z.strictObject({ op: z.literal('add'), path: z.string(), value: z.looseObject({ args: z.unknown() }) })])
      .parse(read('uninstall-with-ovn/discard.yaml'));
    // The last one: of several, each waits for those before it.
    expect(patch[0].path).toBe('/spec/template/spec/initContainers/-');
    expect(patch[0].value.args).toEqual(['ovsdb-server', 'discard']);
  });

  it('has a namespace of its own, that is not deleted with the programs', () => {
    const { namespace } = z.looseObject({ namespace: z.string() }).parse(read('ovn/kustomization.yaml'));
    expect(read('ovn/namespace.yaml')).toMatchObject({ kind: 'Namespace', metadata: { name: namespace } });
    expect(namespace).not.toBe(readKustomization().namespace);
    expect(OVN_NAMESPACE).toBe(namespace);
  });
});
