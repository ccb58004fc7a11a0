/** The chart is the manifests of `daemonset/`, and what its values say of them. */
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { DEFAULT_ALLOWED_SERVICES } from '../../../api/allowed-services.ts';
import { MOST_NETWORKS } from '../../../cluster-manager/allocation/network-room.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { createKubectl } from '../../conformance/kube/kubectl.ts';
import { CHART } from './helm.ts';
import { type ChartRenderer, createChartRenderer, type Manifest, objectsOf, textOf } from './rendered-chart.ts';

let chart: ChartRenderer;
beforeAll(async () => {
  chart = await createChartRenderer();
}, 600_000);
afterAll(() => chart?.close());

const render = (...args: string[]) => chart.render(...args);
/** Without the hooks of `helm test`, which are no part of an installation. */
const rendered = (...args: string[]): Promise<Manifest[]> => chart.rendered('--skip-tests', ...args);

const NAMESPACED = [
  'ServiceAccount',
  'Role',
  'RoleBinding',
  'ConfigMap',
  'DaemonSet',
  'Deployment',
  'PodDisruptionBudget',
  'Secret',
  'PodMonitor',
  'PrometheusRule',
];

const containerSchema = z.looseObject({
  name: z.string(),
  image: z.string(),
  imagePullPolicy: z.string().optional(),
  resources: z.unknown(),
});
const podSchema = z.object({
  spec: z.object({
    template: z.object({
      spec: z.looseObject({
        initContainers: z.array(containerSchema).optional(),
        containers: z.array(containerSchema),
        nodeSelector: z.unknown(),
        affinity: z.unknown().optional(),
        tolerations: z.unknown(),
        priorityClassName: z.unknown(),
      }),
    }),
  }),
});

/** By kind and name, without what the two ways of installing do in ways of their own. */
const comparable = (objects: readonly Manifest[]): Map<string, unknown> =>
  new Map(
    objects
      // Helm keeps what it knows of a release in the namespace, which has to be there before.
      .filter(({ kind }) => kind !== 'Namespace')
      .map((object) => {
        const { kind, metadata } = object;
        const { 'helm.sh/resource-policy': _, ...annotations } = metadata.annotations ?? {};
        const namespace = NAMESPACED.includes(kind) ? (metadata.namespace ?? 'ovn-udn') : undefined;
        const same = { ...object, metadata: { ...metadata, annotations, namespace } };
        // kustomize gives a ConfigMap a name by its content, the chart puts a digest of it into the pods.
        const text = JSON.stringify(same)
          .replaceAll(/cluster-settings-[a-z0-9]{10}/g, 'cluster-settings')
          .replace(/"annotations":\{"k8s.ovn.org\/settings-digest":"[0-9a-f]{64}"\},/, '');
        return [`${kind}/${metadata.name.replace(/-[a-z0-9]{10}$/, '')}`, JSON.parse(text) as unknown];
      }),
  );

/** kustomize puts what a patch names first. */
const byName = (workload: unknown): unknown =>
  JSON.parse(JSON.stringify(workload), (key, value: unknown) =>
    key === 'volumes' && Array.isArray(value)
      ? value.toSorted((a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name))
      : value,
  );

describe('the chart', () => {
  it('is for Helm as it should be', async () => {
    expect(await chart.lint()).toContain('0 chart(s) failed');
  });

  it('has the version of the package', async () => {
    const { version, appVersion } = parse(await readFile(`${CHART}/Chart.yaml`, 'utf8')) as Record<string, string>;
    expect([version, appVersion]).toEqual([packageJson.version, packageJson.version]);
  });

  it('installs what kubectl apply -k does', async () => {
    const kubectl = await createKubectl('');
    const kustomized = comparable(objectsOf(await kubectl.run('kustomize', 'daemonset')));
    await kubectl.close();
    const ours = comparable(await rendered());
    expect([...ours.keys()].sort()).toEqual([...kustomized.keys()].sort());
    for (const [name, object] of kustomized) expect(ours.get(name), name).toEqual(object);
  });

  it('with OVN in the cluster it is what the example makes of the component', async () => {
    const kubectl = await createKubectl('');
    const programs = await kubectl.run('kustomize', 'examples/with-ovn');
    // The chart has everything in the namespace of its release.
    const ovn = (await kubectl.run('kustomize', 'daemonset/ovn')).replace('namespace: udn-ovn', 'namespace: ovn-udn');
    const kustomized = comparable([...objectsOf(programs), ...objectsOf(ovn)]);
    await kubectl.close();
    const ours = comparable(await rendered('--set', 'ovn.inCluster=true'));
    expect([...kustomized.keys()]).toContain('DaemonSet/udn-ovn');
    expect([...ours.keys()].sort()).toEqual([...kustomized.keys()].sort());
    for (const [name, object] of kustomized) expect(ours.get(name), name).toEqual(object);
  });

  it('with wildcards of domain names it is what kustomize makes of the component', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'overlay-'));
    const kubectl = await createKubectl('');
    try {
      const [base, component] = ['daemonset', 'daemonset/with-dns-names'].map((path) =>
        relative(folder, resolve(path)),
      );
      await writeFile(
        join(folder, 'kustomization.yaml'),
        `namespace: ovn-udn\nresources: [${base}]\ncomponents: [${component}]\n`,
      );
      const kustomized = comparable(objectsOf(await kubectl.run('kustomize', folder)));
      const ours = comparable(await rendered('--set', 'dnsNameResolver.follow=true'));
      expect([...kustomized.keys()]).toContain('Role/udn-agent-dns-names');
      expect([...ours.keys()].sort()).toEqual([...kustomized.keys()].sort());
      for (const [name, object] of kustomized) expect(ours.get(name), name).toEqual(object);
    } finally {
      await kubectl.close();
      await rm(folder, { recursive: true });
    }
  });

  it('with monitoring it is what kustomize makes of the component', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'overlay-'));
    const kubectl = await createKubectl('');
    try {
      const base = relative(await realpath(folder), resolve('daemonset'));
      const text = `resources: [${base}]\ncomponents: [${base}/monitoring]\nnamespace: ovn-udn\n`;
      await writeFile(join(folder, 'kustomization.yaml'), text);
      const kustomized = comparable(objectsOf(await kubectl.run('kustomize', folder)));
      const parts = ['podMonitor', 'rules', 'dashboard'].map((part) => `monitoring.${part}.install=true`);
      const ours = comparable(await rendered('--set', parts.join(',')));
      expect([...ours.keys()].sort()).toEqual([...kustomized.keys()].sort());
      for (const [name, object] of kustomized) expect(ours.get(name), name).toEqual(object);
      const other = await rendered(
        ...['--namespace', 'elsewhere', '--set', `${parts.join(',')},monitoring.tlsSecret=mine`],
        ...['--set', 'monitoring.podMonitor.labels.release=prometheus,monitoring.rules.labels.release=prometheus'],
      );
      const monitor = textOf(other, 'PodMonitor');
      expect(monitor).toContain('"release":"prometheus"');
      expect(monitor).toContain('"secret":{"key":"ca.crt","name":"mine"}');
      expect(textOf(other, 'PrometheusRule')).toContain('"release":"prometheus"');
      expect(textOf(other, 'DaemonSet')).toContain('"secretName":"mine"');
      expect(textOf(other, 'ClusterRoleBinding')).not.toContain('"namespace":"ovn-udn"');
    } finally {
      await kubectl.close();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('keeps the definitions, and with them the networks, when it is uninstalled', async () => {
    const definitions = (await rendered()).filter(({ kind }) => kind === 'CustomResourceDefinition');
    expect(definitions.length).toBeGreaterThan(2);
    for (const { metadata } of definitions) expect(metadata.annotations?.['helm.sh/resource-policy']).toBe('keep');
  });
});

describe('values', () => {
  it('the namespace of the release is that of the accounts, wherever they are named', async () => {
    const objects = await rendered('--namespace', 'elsewhere');
    const text = JSON.stringify(objects.filter(({ kind }) => kind !== 'CustomResourceDefinition'));
    expect(text).not.toMatch(/ovn-udn:udn-|"namespace":"ovn-udn"|=ovn-udn\//);
    expect(textOf(objects, 'ValidatingAdmissionPolicy')).toContain('system:serviceaccount:elsewhere:udn-agent');
    expect(textOf(objects, 'ClusterRoleBinding')).toContain('"namespace":"elsewhere"');
    expect(textOf(objects, 'Deployment')).toContain('--lease=elsewhere/udn-cluster-manager');
  });

  it('images, resources, nodes and replicas are those that were asked for', async () => {
    const objects = await rendered(
      ...['--set', 'agent.image.repository=example.com/agent,agent.image.tag=v7,agent.imagePullPolicy=Always'],
      ...['--set', 'agent.resources.requests.cpu=1,agent.nodeSelector.role=worker'],
      ...['--set', 'clusterManager.replicas=3,imagePullSecrets[0].name=mine'],
    );
    const agent = textOf(objects, 'DaemonSet');
    expect(agent).toContain('"image":"example.com/agent:v7"');
    expect(agent).toContain('"imagePullPolicy":"Always"');
    expect(agent).toContain('"requests":{"cpu":1,"memory":"150Mi"}');
    expect(agent).toContain('"nodeSelector":{"kubernetes.io/os":"linux","role":"worker"}');
    const manager = textOf(objects, 'Deployment');
    expect(manager).toContain('"replicas":3');
    expect(manager).toContain('"imagePullSecrets":[{"name":"mine"}]');
  });

  it('OVN in the cluster is on the nodes of the agents, with its own image and resources', async () => {
    const objects = await rendered(
      ...[
        '--set',
        'ovn.inCluster=true,ovn.image.repository=example.com/ovn,ovn.image.tag=v7,ovn.imagePullPolicy=Never',
      ],
      ...['--set', 'ovn.resources.ovs-vswitchd.limits.memory=1Gi'],
      ...['--set', 'agent.nodeSelector.role=worker,agent.priorityClassName=mine'],
    );
    const [pod, agentPod] = ['udn-ovn', 'udn-agent'].map((name) => {
      const found = objects.find(({ kind, metadata }) => kind === 'DaemonSet' && metadata.name === name);
      return podSchema.parse(found).spec.template.spec;
    });
    expect(agentPod?.containers.map(({ name }) => name)).toEqual(['udn-agent']);
    for (const part of ['nodeSelector', 'tolerations', 'priorityClassName'] as const) {
      expect(pod?.[part], part).toEqual(agentPod?.[part]);
    }
    // A node without an agent may still have its addresses on a bridge.
    expect(pod?.affinity).toBeUndefined();
    const containers = [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])];
    expect(containers).toHaveLength(6);
    for (const { image, imagePullPolicy } of containers) {
      expect([image, imagePullPolicy]).toEqual(['example.com/ovn:v7', 'Never']);
    }
    expect(containers.find(({ name }) => name === 'ovs-vswitchd')?.resources).toEqual({
      requests: { cpu: '50m', memory: '80Mi' },
      limits: { memory: '1Gi' },
    });
  });

  it('the limits of networks are the cluster manager’s alone', async () => {
    const limited = await rendered('--set', 'clusterManager.maxNetworks=100,clusterManager.maxNetworksPerNamespace=5');
    expect(textOf(limited, 'Deployment')).toContain('"--max-networks=100","--max-networks-per-namespace=5"');
    const before = await rendered();
    expect(textOf(limited, 'DaemonSet')).toBe(textOf(before, 'DaemonSet'));
    expect(textOf(before, 'Deployment')).not.toContain('--max-networks');
    expect(textOf(await rendered('--set', 'clusterManager.maxNetworks=0'), 'Deployment')).toContain('--max-networks=0');
    const values = parse(await readFile(`${CHART}/values.yaml`, 'utf8')) as { clusterManager: object };
    expect(values.clusterManager).toMatchObject({ maxNetworks: MOST_NETWORKS, maxNetworksPerNamespace: MOST_NETWORKS });
  });

  it('the Services that all tenants reach are the agents’ alone', async () => {
    const before = await rendered();
    expect(textOf(before, 'DaemonSet')).not.toContain('--udn-allowed-default-services');
    const none = await rendered('--set', 'agent.udnAllowedDefaultServices=none');
    expect(textOf(none, 'DaemonSet')).toContain('"--udn-allowed-default-services=none"');
    expect(textOf(none, 'Deployment')).toBe(textOf(before, 'Deployment'));
    const values = parse(await readFile(`${CHART}/values.yaml`, 'utf8')) as { agent: object };
    expect(values.agent).toMatchObject({ udnAllowedDefaultServices: DEFAULT_ALLOWED_SERVICES });
  });

  it('encryption is the agents’ alone, and shows them the certificates of their node', async () => {
    const before = await rendered();
    expect(textOf(before, 'DaemonSet')).not.toContain('ipsec');
    const encrypted = await rendered('--set', 'agent.encryption=ipsec');
    const agent = textOf(encrypted, 'DaemonSet');
    expect(agent).toContain('"--encryption=ipsec"');
    expect(agent).toContain('"mountPath":"/etc/ipsec.d"');
    expect(agent).toContain('"path":"/etc/ipsec.d"');
    expect(textOf(encrypted, 'Deployment')).toBe(textOf(before, 'Deployment'));
  });

  it('the patch of daemonset/README.md sets the same limit', async () => {
    const [, patch = ''] = /```yaml\n([\s\S]*?)```/.exec(await readFile('daemonset/README.md', 'utf8')) ?? [];
    const folder = await mkdtemp(join(tmpdir(), 'overlay-'));
    const kubectl = await createKubectl('');
    try {
      const base = `resources: [${relative(await realpath(folder), resolve('daemonset'))}]\n`;
      await writeFile(join(folder, 'kustomization.yaml'), base + patch.replace(/^ {2}/gm, ''));
      const manager = textOf(objectsOf(await kubectl.run('kustomize', folder)), 'Deployment');
      expect(manager).toBe(
        textOf(objectsOf(await kubectl.run('kustomize', 'daemonset')), 'Deployment').replace(
          '"--api-server-file=/run/ovn-udn/api-server/url"',
          '"--api-server-file=/run/ovn-udn/api-server/url","--max-networks=500"',
        ),
      );
    } finally {
      await kubectl.close();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('a change of the settings makes both programs restart', async () => {
    const digests = async (...args: string[]): Promise<string[]> => [
      ...new Set(JSON.stringify(await rendered(...args)).match(/(?<="k8s.ovn.org\/settings-digest":")[0-9a-f]{64}/g)),
    ];
    const before = await digests();
    const after = await digests('--set', 'variables.UDN_GATEWAY_MODE=local');
    expect([before.length, after.length]).toEqual([1, 1]);
    expect(after).not.toEqual(before);
    const objects = await rendered('--set', 'variables.UDN_GATEWAY_MODE=local');
    expect(textOf(objects, 'ConfigMap')).toContain('"UDN_GATEWAY_MODE":"local"');
  });

  it('agents see the folders of the node that the values name, and other values change none', async () => {
    const values =
      'agent.cni.confDir=/a/net.d,agent.cni.binDir=/b/bin,agent.kubeletKubeconfig=/c/agent/kubelet.kubeconfig';
    const defaults = textOf(await rendered(), 'DaemonSet');
    const agents = textOf(await rendered('--set', values), 'DaemonSet');
    expect(agents).toBe(
      defaults
        .replace('"path":"/etc/cni/net.d"', '"path":"/a/net.d"')
        .replace('"path":"/opt/cni/bin"', '"path":"/b/bin"')
        .replace('=/etc/kubernetes/kubelet.conf', '=/c/agent/kubelet.kubeconfig')
        .replace('"mountPath":"/etc/kubernetes"', '"mountPath":"/c/agent"')
        .replace('"path":"/etc/kubernetes"', '"path":"/c/agent"'),
    );
    expect(agents).toContain('"mountPath":"/etc/cni/net.d"');
  });

  it('the patch of docs/install.md for other folders of CNI is what those values do', async () => {
    const page = await readFile('docs/install.md', 'utf8');
    const patch = /^patches:\n(?: .*\n)+/m.exec(page)?.[0] ?? '';
    const folder = await mkdtemp(join(tmpdir(), 'overlay-'));
    const kubectl = await createKubectl('');
    try {
      const base = `namespace: ovn-udn\nresources: [${relative(await realpath(folder), resolve('daemonset'))}]\n`;
      await writeFile(join(folder, 'kustomization.yaml'), base + patch);
      const kustomized = comparable(objectsOf(await kubectl.run('kustomize', folder)));
      const ours = comparable(
        await rendered('--set', 'agent.cni.confDir=/etc/cni/other,agent.cni.binDir=/usr/libexec/cni'),
      );
      expect(byName(kustomized.get('DaemonSet/udn-agent'))).toEqual(byName(ours.get('DaemonSet/udn-agent')));
    } finally {
      await kubectl.close();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it.each([
    ['crds', 'CustomResourceDefinition'],
    ['admission', 'ValidatingAdmissionPolicy'],
  ])('%s can be left to others', async (value, kind) => {
    expect(textOf(await rendered('--set', `${value}.install=false`), kind)).toBe('[]');
  });

  it.each([
    ['settings.mtu=big', "at '/settings/mtu'"],
    ['settings.clusterSubnets=10.0.0.0/8', "at '/settings/clusterSubnets'"],
    ['settings.serviceSubnets=services', "at '/settings/serviceSubnets'"],
    ['settings.joinSubnet=100.64.0.0/16', "additional properties 'joinSubnet' not allowed"],
    ['agnet.image.tag=v7', "additional properties 'agnet' not allowed"],
    ['agent.image.repository=', "at '/agent/image/repository'"],
    ['agent.udnAllowedDefaultServices=kube-dns', "at '/agent/udnAllowedDefaultServices'"],
    ['agent.cni.confDir=net.d', "at '/agent/cni/confDir'"],
    ['agent.cni.binFolder=/opt', "additional properties 'binFolder' not allowed"],
    ['agent.kubeletKubeconfig=', "at '/agent/kubeletKubeconfig'"],
    // Their folders would hide what the agent's container has there.
    ...[
      '/kubelet.conf',
      '/etc/kubelet.conf',
      '/usr/share/kubelet.conf',
      '/run/ovn-udn/kubelet.conf',
      '/opt/cni/bin/kubelet.conf',
    ].map((path): [string, string] => [`agent.kubeletKubeconfig=${path}`, "at '/agent/kubeletKubeconfig'"]),
    ['agent.kubeletKubeconfig=/etc/kubernetes/../kubelet.conf', "at '/agent/kubeletKubeconfig'"],
    ['agent.encryption=wireguard', "at '/agent/encryption'"],
    ['agent.imagePullPolicy=Sometimes', "at '/agent/imagePullPolicy'"],
    ['clusterManager.replicas=0', "at '/clusterManager/replicas'"],
    ['clusterManager.maxNetworks=4096', "at '/clusterManager/maxNetworks'"],
    ['clusterManager.maxNetworksPerNamespace=-1', "at '/clusterManager/maxNetworksPerNamespace'"],
    ['clusterManager.maxNetworks=many', "at '/clusterManager/maxNetworks'"],
    ['variables.GATEWAY_MODE=local', "'GATEWAY_MODE' does not match pattern"],
    ['ovn.inCluster=maybe', "at '/ovn/inCluster'"],
    ['ovn.resources.vswitchd.limits.cpu=1', "additional properties 'vswitchd' not allowed"],
    ['admission.install=maybe', "at '/admission/install'"],
    ['monitoring.rules.install=maybe', "at '/monitoring/rules/install'"],
    ['monitoring.tlsSecret=A_B', "at '/monitoring/tlsSecret'"],
  ])('%s is refused', async (value, message) => {
    const { code, stderr } = await render('--set', value);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });

  it('an older Kubernetes is refused', async () => {
    const { code, stderr } = await render('--kube-version', 'v1.29.9');
    expect(code).toBe(1);
    expect(stderr).toContain('chart requires kubeVersion: >=1.30.0-0');
  });
});
