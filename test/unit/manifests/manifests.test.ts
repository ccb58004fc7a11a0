/** The manifests say only what the programs understand, and all that they need. */
import { globSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentHelp, parseAgentCommand } from '../../../agent/options/options.ts';
import { serverFile } from '../../../agent/wiring/api-server.ts';
import { CLUSTER_SETTINGS, formatClusterConfig } from '../../../api/cluster-config.ts';
import { helpText, parseCommand } from '../../../cluster-manager/options.ts';
import { unknownFields } from '../../../kube/testing/known-fields.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import {
  bindingSchema,
  FOLDER,
  readKustomization,
  readManifests,
  readWorkload,
  roleSchema,
  type Workload,
} from './load.ts';

const PROGRAMS = {
  'udn-agent': {
    help: agentHelp,
    options: (args: readonly string[], env: Readonly<Record<string, string>>) => {
      const command = parseAgentCommand(args, env);
      return command.kind === 'run' ? command.options : undefined;
    },
  },
  'udn-cluster-manager': {
    help: helpText,
    options: (args: readonly string[], env: Readonly<Record<string, string>>) => {
      const command = parseCommand(args, env);
      return command.kind === 'run' ? command.options : undefined;
    },
  },
} as const;
const NAMES = ['udn-agent', 'udn-cluster-manager'] as const;

const containerOf = ({ spec }: Workload) => spec.template.spec.containers[0];

const variablesOf = (help: string): string[] =>
  [...help.matchAll(/^ {2}--([a-z-]+)/gm)].map(([, flag = '']) => `UDN_${flag.replaceAll('-', '_').toUpperCase()}`);

const settings = (): Record<string, string> =>
  Object.fromEntries(
    readKustomization().configMapGenerator.flatMap(({ literals }) =>
      literals.map((literal) => literal.split('=') as [string, string]),
    ),
  );

const environment = (workload: Workload): Record<string, string> => ({
  ...Object.fromEntries(containerOf(workload).env.map(({ name }) => [name, 'node-1'])),
  ...settings(),
});

it('the kustomization names every file of the folder', () => {
  const files = globSync(`${FOLDER}/**/*.yaml`)
    .map((file) => relative(FOLDER, file))
    // A component is for overlays; others are applied by themselves.
    .filter(
      (file) =>
        file !== 'kustomization.yaml' &&
        !/^(?:monitoring|ovn|with-ovn|with-dns-names|uninstall|uninstall-with-ovn)\//.test(file),
    );
  expect(readKustomization().resources.toSorted()).toEqual(files.toSorted());
});

it.each(readManifests().filter(({ kind }) => kind !== 'CustomResourceDefinition'))(
  '$kind $metadata.name has only fields that Kubernetes knows',
  (manifest) => expect(unknownFields(`V1${manifest.kind}`, manifest)).toEqual([]),
);

it('the images have the version of the package', () => {
  const { images } = readKustomization();
  expect(images.map(({ name }) => name).toSorted()).toEqual([...NAMES]);
  for (const { newTag } of images) expect(newTag).toBe(packageJson.version);
});

it('the settings of the cluster are all there and fit each other', () => {
  expect(Object.keys(settings()).toSorted()).toEqual(CLUSTER_SETTINGS.map(({ env }) => env).toSorted());
});

describe.each(NAMES)('%s', (name) => {
  const workload = readWorkload(name);
  const container = containerOf(workload);

  it('gets arguments and variables that it knows', () => {
    const known = variablesOf(PROGRAMS[name].help());
    for (const { name: variable } of container.env) expect(known).toContain(variable);
    for (const variable of Object.keys(settings())) expect(known).toContain(variable);
    const [map] = readKustomization().configMapGenerator;
    expect(container.envFrom).toEqual([{ configMapRef: { name: map?.name } }]);
    const options = PROGRAMS[name].options(container.args, environment(workload));
    expect(options).toBeDefined();
    for (const { setting, env } of CLUSTER_SETTINGS) {
      expect(formatClusterConfig(options!.cluster)[setting]).toBe(settings()[env]);
    }
  });

  it('is probed where it listens, and only this machine reaches it', () => {
    const address = PROGRAMS[name].options(container.args, environment(workload))?.metrics.plain;
    expect(address?.host).toBe('127.0.0.1');
    expect(container.ports).toEqual([
      { name: 'metrics', containerPort: address?.port, hostPort: address?.port, hostIP: address?.host },
    ]);
    expect(container.livenessProbe.httpGet).toEqual({ host: address?.host, port: 'metrics', path: '/healthz' });
    expect(container.readinessProbe.httpGet).toEqual({ host: address?.host, port: 'metrics', path: '/readyz' });
  });

  it('is selected by its labels, and its account has its role', () => {
    const { selector, template } = workload.spec;
    expect(template.metadata.labels).toMatchObject(selector.matchLabels);
    const accounts = readManifests().filter(({ kind }) => kind === 'ServiceAccount');
    expect(accounts.map(({ metadata }) => metadata.name)).toContain(template.spec.serviceAccountName);
    const bindings = readManifests().flatMap((one) => bindingSchema.safeParse(one).data ?? []);
    const roles = readManifests().flatMap((one) => roleSchema.safeParse(one).data ?? []);
    const own = bindings.filter(({ subjects }) =>
      subjects.some((one) => one.name === template.spec.serviceAccountName),
    );
    expect(own.length).toBeGreaterThan(0);
    for (const { subjects, roleRef } of own) {
      expect(subjects).toEqual([
        { kind: 'ServiceAccount', name: template.spec.serviceAccountName, namespace: readKustomization().namespace },
      ]);
      expect(roles.map(({ kind, metadata }) => `${kind}/${metadata.name}`)).toContain(
        `${roleRef.kind}/${roleRef.name}`,
      );
    }
  });
});

describe('udn-agent', () => {
  const { spec } = readWorkload('udn-agent');
  const { containers, volumes } = spec.template.spec;
  const mounts = containers[0].volumeMounts;

  it('sees the node’s folders where the node has them', () => {
    expect(mounts.map(({ name }) => name).toSorted()).toEqual(volumes.map(({ name }) => name).toSorted());
    for (const { name, mountPath } of mounts) {
      expect(volumes.find((volume) => volume.name === name)?.hostPath.path).toBe(mountPath);
    }
  });

  it('has a mount for every path that it uses by default, and for the pods’ namespaces', () => {
    const options = PROGRAMS['udn-agent'].options([], { UDN_NODE: 'node-1' })!;
    const paths = [
      ...[options.ovsRemote, options.northboundRemote, options.southboundRemote].map((remote) =>
        remote.replace(/^unix:/, ''),
      ),
      options.cniSocket,
      options.statusSocket,
      `${options.cniConfFolder}/file`,
      `${options.cniBinFolder}/file`,
      // Where containerd and CRI-O mount them; /var/run is /run.
      '/run/netns/cni-0',
    ];
    for (const path of paths) {
      expect(mounts.filter(({ mountPath }) => path.startsWith(`${mountPath}/`))).toHaveLength(1);
    }
    expect(mounts.find(({ mountPath }) => mountPath === '/run/netns')?.mountPropagation).toBe('HostToContainer');
  });

  it('reads the kubelet’s kubeconfig where it is mounted, and nothing is written there', () => {
    const { kubeletKubeconfig = '' } = PROGRAMS['udn-agent'].options(containers[0].args, { UDN_NODE: 'node-1' })!;
    expect(mounts.find(({ mountPath }) => mountPath === dirname(kubeletKubeconfig))).toMatchObject({ readOnly: true });
  });

  it('publishes the API server where cluster managers look, which see nothing else of the node', () => {
    const { statusSocket } = PROGRAMS['udn-agent'].options([], { UDN_NODE: 'node-1' })!;
    const manager = readWorkload('udn-cluster-manager').spec.template.spec;
    const [container] = manager.containers;
    expect(PROGRAMS['udn-cluster-manager'].options(container.args, {})?.apiServerFile).toBe(serverFile(statusSocket));
    const path = dirname(serverFile(statusSocket));
    expect(container.volumeMounts).toEqual([{ name: 'api-server', mountPath: path, readOnly: true }]);
    expect(manager.volumes).toMatchObject([{ name: 'api-server', hostPath: { path } }]);
  });

  it('makes links in the node’s own network', () => expect(spec.template.spec.hostNetwork).toBe(true));
});

it('of several cluster managers one works, by the Lease that its role names', () => {
  const { spec } = readWorkload('udn-cluster-manager');
  const { lease } = PROGRAMS['udn-cluster-manager'].options(spec.template.spec.containers[0].args, {})!;
  expect(spec.replicas).toBe(2);
  expect(lease?.namespace).toBe(readKustomization().namespace);
  const roles = readManifests().flatMap((one) => roleSchema.safeParse(one).data ?? []);
  const ofLeases = roles.flatMap(({ rules }) => rules).filter(({ resources }) => resources.includes('leases'));
  expect(ofLeases.flatMap(({ resourceNames = [] }) => resourceNames)).toEqual([lease?.name]);
});
