/** The same objects that a real API server is asked about in test/integration/network-crds.test.ts, and the one in memory. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLUSTER_USER_DEFINED_NETWORKS, IPAM_CLAIMS, USER_DEFINED_NETWORKS } from '../../../api/resources.ts';
import { DEFINITIONS } from '../../../api/testing/definitions.ts';
import { createEmbeddedCluster } from '../../../kube/embedded/cluster.ts';
import { compileRule } from '../../../kube/embedded/crd/cel.ts';
import { KubeError } from '../../../kube/errors.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES } from '../../../kube/resources.ts';
import type { KubeClient, ObjectInput, ResourceType } from '../../../kube/types.ts';
import { refusal } from '../../conformance/kube/harness.ts';
import type { NetworkKind, ValidCase } from '../../conformance/networks/cases.ts';
import { INVALID, UPDATES, VALID } from '../../conformance/networks/index.ts';
import { offlineRefusal } from '../../conformance/networks/offline.ts';
import { randomNetworks } from '../../conformance/networks/random.ts';

const STRICT = { dryRun: true, fieldValidation: 'Strict' } as const;

const cluster = createEmbeddedCluster();
const client: KubeClient = cluster.client();
beforeAll(async () => {
  for (const definition of DEFINITIONS) await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
  await client.create(NAMESPACES, { metadata: { name: 'ns' } });
});
afterAll(() => cluster.close());

const resourceOf = (kind: NetworkKind): ResourceType =>
  kind === 'UserDefinedNetwork' ? USER_DEFINED_NETWORKS : CLUSTER_USER_DEFINED_NETWORKS;

let count = 0;
const objectOf = ({ kind, spec }: Pick<ValidCase, 'kind' | 'spec'>): ObjectInput => {
  count += 1;
  return { metadata: { name: `blue-${count}`, ...(kind === 'UserDefinedNetwork' && { namespace: 'ns' }) }, spec };
};

const rulesBelow = (node: unknown): string[] => {
  if (typeof node !== 'object' || node === null) return [];
  const own: readonly { rule: string }[] = Reflect.get(node, 'x-kubernetes-validations') ?? [];
  return [...own.map(({ rule }) => rule), ...Object.values(node).flatMap(rulesBelow)];
};

describe('an API server in memory', () => {
  it('leaves out no rule of ours', () => {
    const rules = DEFINITIONS.flatMap(rulesBelow);
    expect(rules.length).toBeGreaterThan(50);
    expect(rules.filter((rule) => compileRule(rule) === undefined)).toEqual([]);
  });

  it.each(INVALID)('refuses $name: $message', async ({ kind, spec, field, message }) => {
    const error = await refusal(client.create(resourceOf(kind), objectOf({ kind, spec }), STRICT));
    expect(error).toMatchObject({ status: 422, reason: 'Invalid' });
    expect(error.causes).toContainEqual(expect.objectContaining({ field, message: expect.stringContaining(message) }));
  });

  it.each(VALID)('takes $name', async ({ kind, spec }) => {
    const created = await client.create(resourceOf(kind), objectOf({ kind, spec }), STRICT);
    expect(created['spec']).toEqual(JSON.parse(JSON.stringify(spec)));
  });

  it.each(UPDATES)('on a change of $name: $refusal.message', async ({ kind, spec, after, refusal: expected }) => {
    const resource = resourceOf(kind);
    const created = await client.create(resource, objectOf({ kind, spec }));
    const update = client.update(resource, { ...created, spec: after }, STRICT);
    if (expected === undefined) {
      expect((await update)['spec']).toEqual(after);
      return;
    }
    expect((await refusal(update)).causes).toContainEqual(
      expect.objectContaining({ field: expected.field, message: expect.stringContaining(expected.message) }),
    );
  });

  it('and a reading offline come to one decision on random networks', async () => {
    const disagreements: unknown[] = [];
    const counts = { taken: 0, refused: 0 };
    for (const one of [1, 2].flatMap((seed) => randomNetworks(seed, 200))) {
      const offline = offlineRefusal(one);
      const answer = await client.create(resourceOf(one.kind), objectOf(one), { dryRun: true }).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (answer !== undefined && !(answer instanceof KubeError && answer.status === 422)) throw answer;
      counts[answer === undefined ? 'taken' : 'refused'] += 1;
      if ((offline === undefined) !== (answer === undefined))
        disagreements.push({ object: one.name, offline: offline?.message, server: answer?.causes });
    }
    expect(disagreements).toEqual([]);
    expect(counts.taken).toBeGreaterThan(20);
    expect(counts.refused).toBeGreaterThan(20);
  });

  it('holds a value that has not changed to no rule that is newer than it', async () => {
    const strict = await client.get(CUSTOM_RESOURCE_DEFINITIONS, { name: 'ipamclaims.k8s.cni.cncf.io' });
    const loose = JSON.parse(
      JSON.stringify(strict, (key, value) => (key === 'x-kubernetes-validations' ? undefined : value)),
    );
    const current = await client.update(CUSTOM_RESOURCE_DEFINITIONS, loose);
    const claim = await client.create(IPAM_CLAIMS, {
      metadata: { namespace: 'ns', name: 'c' },
      spec: { network: 'blue', interface: 'eth1' },
    });
    const wrong = await client.update(
      IPAM_CLAIMS,
      { ...claim, status: { ips: ['no address'] } },
      { subresource: 'status' },
    );
    const { resourceVersion } = current.metadata;
    await client.update(CUSTOM_RESOURCE_DEFINITIONS, { ...strict, metadata: { ...strict.metadata, resourceVersion } });
    const labelled = { ...wrong, metadata: { ...wrong.metadata, labels: { a: 'b' } } };
    const { metadata } = await client.update(IPAM_CLAIMS, labelled);
    expect(metadata.labels).toEqual({ a: 'b' });
    const worse = client.update(
      IPAM_CLAIMS,
      { ...wrong, metadata, status: { ips: ['neither'] } },
      { subresource: 'status' },
    );
    expect((await refusal(worse)).causes[0]).toMatchObject({ field: 'status.ips[0]' });
  });
});
