/** Values that place pods, label the namespace and test the release; and that a misspelt one is refused, however deep it is. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { wishesOf } from '../../../cli/connectivity/rights.ts';
import { unknownFields } from '../../../kube/testing/known-fields.ts';
import { roleSchema } from '../../unit/manifests/load.ts';
import { CHART } from './helm.ts';
import { type ChartRenderer, createChartRenderer, type Manifest, textOf } from './rendered-chart.ts';

let chart: ChartRenderer;
beforeAll(async () => {
  chart = await createChartRenderer();
}, 600_000);
afterAll(() => chart?.close());

const terms = (key: string) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'Exists' }] }],
    },
  },
});

describe('placement', () => {
  it('a required term keeps nodes away that networks do not wait for', async () => {
    const agent = textOf(
      await chart.rendered('--set-json', `agent.affinity=${JSON.stringify(terms('mine'))}`),
      'DaemonSet',
    );
    expect(agent).toContain(
      '"nodeSelectorTerms":[{"matchExpressions":[{"key":"k8s.ovn.org/exclude-from-networks","operator":"DoesNotExist"},{"key":"mine","operator":"Exists"}]}]',
    );
  });

  it('of the cluster manager, preferred nodes of the manifest stay beside a required term', async () => {
    const manager = textOf(
      await chart.rendered('--set-json', `clusterManager.affinity=${JSON.stringify(terms('mine'))}`),
      'Deployment',
    );
    expect(manager).toContain('"preferredDuringSchedulingIgnoredDuringExecution":[{"preference"');
    expect(manager).toContain('"nodeSelectorTerms":[{"matchExpressions":[{"key":"mine","operator":"Exists"}]}]');
  });

  it('tolerations and priority class replace those of the manifest', async () => {
    const objects = await chart.rendered(
      ...['--set-json', 'agent.tolerations=[{"key":"a","operator":"Exists"}]', '--set', 'agent.priorityClassName=mine'],
      ...['--set-json', 'clusterManager.tolerations=[{"key":"b","operator":"Exists","effect":"NoExecute"}]'],
      ...['--set', 'clusterManager.priorityClassName=other'],
    );
    expect(textOf(objects, 'DaemonSet')).toContain('"tolerations":[{"key":"a","operator":"Exists"}]');
    expect(textOf(objects, 'DaemonSet')).toContain('"priorityClassName":"mine"');
    expect(textOf(objects, 'Deployment')).toContain(
      '"tolerations":[{"effect":"NoExecute","key":"b","operator":"Exists"}]',
    );
    expect(textOf(objects, 'Deployment')).toContain('"priorityClassName":"other"');
  });

  it('the namespace is an object only where it is asked for, and stays', async () => {
    expect(textOf(await chart.rendered(), 'Namespace')).toBe('[]');
    const objects = await chart.rendered('--set', 'namespace.install=true,namespace.labels.team=net');
    const [namespace] = objects.filter(({ kind }) => kind === 'Namespace');
    expect(namespace?.metadata).toEqual({
      name: 'ovn-udn',
      labels: { 'pod-security.kubernetes.io/enforce': 'privileged', team: 'net' },
      annotations: { 'helm.sh/resource-policy': 'keep' },
    });
  });
});

describe('helm test', () => {
  const hooks = async (...args: string[]): Promise<Manifest[]> =>
    (await chart.rendered(...args)).filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'test');

  it('has the rights that udnctl connectivity asks for, and no other', async () => {
    const roles = (await hooks()).flatMap((object) => roleSchema.safeParse(object).data ?? []);
    const granted = roles.flatMap(({ kind, rules }) =>
      rules.flatMap(({ apiGroups, resources, resourceNames = [''], verbs }) =>
        resources.flatMap((resource) =>
          verbs.flatMap((verb) => resourceNames.map((name) => `${kind} ${apiGroups}/${resource} ${verb} ${name}`)),
        ),
      ),
    );
    const wished = wishesOf({ networks: true }).map(({ resource, verb, namespace, name = '' }) => {
      const [plural, ...group] = resource.split('.');
      return `${namespace === undefined ? 'ClusterRole' : 'Role'} ${group.join('.')}/${plural} ${verb} ${name}`;
    });
    expect(granted.toSorted()).toEqual(wished.toSorted());
  });

  it('deletes all rights at its end, and keeps the pod for its log', async () => {
    const policies = (await hooks()).map(({ kind, metadata }) => [
      kind,
      metadata.annotations?.['helm.sh/hook-delete-policy'],
    ]);
    const ended = 'before-hook-creation,hook-succeeded';
    expect(policies.toSorted()).toEqual([
      ...[
        ['ClusterRole', ended],
        ['ClusterRoleBinding', ended],
        ['Pod', 'before-hook-creation'],
      ],
      ...[
        ['Role', ended],
        ['RoleBinding', ended],
        ['ServiceAccount', ended],
      ],
    ]);
  });

  it('runs the image and the arguments of the values', async () => {
    const objects = await hooks(
      ...['--set', 'tests.image.repository=example.com/udnctl,tests.image.tag=v7,tests.timeout=5m'],
      ...['--set', 'tests.probeImage=example.com/agnhost,tests.probeProgram=/probe,imagePullSecrets[0].name=mine'],
    );
    for (const object of objects) expect(unknownFields(`V1${object.kind}`, object)).toEqual([]);
    const pod = textOf(objects, 'Pod');
    expect(pod).toContain('"image":"example.com/udnctl:v7"');
    expect(pod).toContain('"connectivity","--timeout=5m","--image=example.com/agnhost","--program=/probe"');
    expect(pod).toContain('"imagePullSecrets":[{"name":"mine"}]');
  });
});

const schemaNode = z.looseObject({ type: z.unknown().optional(), additionalProperties: z.unknown().optional() });

/** Paths of objects that accept any key with any value. */
const openObjects = (value: unknown, path: string): string[] => {
  if (Array.isArray(value)) return value.flatMap((one, index) => openObjects(one, `${path}/${index}`));
  if (typeof value !== 'object' || value === null) return [];
  const { data } = schemaNode.safeParse(value);
  const isOpen = data?.type === 'object' && (data.additionalProperties ?? true) === true;
  const below = Object.entries(value).flatMap(([key, one]) => openObjects(one, `${path}/${key}`));
  return isOpen ? [path, ...below] : below;
};

describe('the schema', () => {
  it('has no object that accepts any key, but for global, which belongs to charts around this one', async () => {
    const schema: unknown = JSON.parse(await readFile(`${CHART}/values.schema.json`, 'utf8'));
    expect(openObjects(schema, '')).toEqual(['/properties/global']);
  });

  it.each([
    ['agent.resources.request.cpu=1', 'request'],
    ['agent.affinity.nodeAfinity.x=1', 'nodeAfinity'],
    ['clusterManager.tolerations[0].keys=a', 'keys'],
    ['namespace.label.a=b', 'label'],
    ['tests.image.name=a', 'name'],
    ['tests.timeOut=2m', 'timeOut'],
    ['monitoring.rules.lables.a=b', 'lables'],
  ])('%s is refused', async (value, key) => {
    const { code, stderr } = await chart.render('--set', value);
    expect(code).toBe(1);
    expect(stderr).toContain(`additional properties '${key}' not allowed`);
  });
});
