/** What a real API server says of networks, with our CRDs: every refusal, and what is next to it and fine. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { crdFiles } from '../../api/crd/crds.ts';
import type { ApiError } from '../../api/errors.ts';
import { CLUSTER_USER_DEFINED_NETWORKS, IPAM_CLAIMS, USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { isAlreadyExists, KubeError } from '../../kube/errors.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES } from '../../kube/resources.ts';
import type { KubeClient, ObjectInput, ResourceType } from '../../kube/types.ts';
import { eventually, refusal } from '../conformance/kube/harness.ts';
import { type RealServer, startRealServer } from '../conformance/kube/real-server.ts';
import type { NetworkKind, ValidCase } from '../conformance/networks/cases.ts';
import { INVALID, UPDATES, VALID } from '../conformance/networks/index.ts';
import { offlineRefusal } from '../conformance/networks/offline.ts';
import { randomNetworks } from '../conformance/networks/random.ts';

const STRICT = { dryRun: true, fieldValidation: 'Strict' } as const;

let server: RealServer;
let client: KubeClient;
let namespace: string;
let count = 0;

beforeAll(async () => {
  server = await startRealServer('test-network-crds');
  client = await server.connect();
  for (const text of Object.values(crdFiles())) {
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, parse(text)).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
  namespace = (await client.create(NAMESPACES, { metadata: { generateName: 'network-crds-' } })).metadata.name;
  await eventually(() => client.list(USER_DEFINED_NETWORKS, { namespace }));
  await eventually(() => client.list(CLUSTER_USER_DEFINED_NETWORKS));
}, 120_000);
afterAll(async () => {
  await client?.delete(NAMESPACES, { name: namespace }).catch(() => {});
  client?.close();
  await server?.close();
});

const resourceOf = (kind: NetworkKind): ResourceType =>
  kind === 'UserDefinedNetwork' ? USER_DEFINED_NETWORKS : CLUSTER_USER_DEFINED_NETWORKS;

const objectOf = ({ kind, spec }: Pick<ValidCase, 'kind' | 'spec'>): ObjectInput => {
  count += 1;
  const name = `${namespace}-${count}`;
  return { metadata: kind === 'UserDefinedNetwork' ? { namespace, name } : { name }, spec };
};

const SEEDS = Array.from({ length: 10 }, (_, i) => i + 1);

/** Without the path in front, and without what follows. */
const firstMessage = ({ message, field }: ApiError): string =>
  message.replace(`${field}: `, '').split(/; (?=spec\.)|; and [0-9]+ more/)[0] ?? '';

describe('a real API server', () => {
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
    const { name } = created.metadata;
    try {
      const update = client.update(resource, { ...created, spec: after }, STRICT);
      if (expected === undefined) {
        expect((await update)['spec']).toEqual(after);
        return;
      }
      const { field, message } = expected;
      expect((await refusal(update)).causes).toContainEqual(
        expect.objectContaining({ field, message: expect.stringContaining(message) }),
      );
    } finally {
      await client.delete(resource, kind === 'UserDefinedNetwork' ? { namespace, name } : { name });
    }
  });

  /** Both must come to the same decision, and where rules are broken, to the same message. */
  it('and a reading offline agree on random networks', async () => {
    const disagreements: unknown[] = [];
    const counts = { taken: 0, refused: 0 };
    for (const one of SEEDS.flatMap((seed) => randomNetworks(seed, 200))) {
      const offline = offlineRefusal(one);
      const answer = await client.create(resourceOf(one.kind), objectOf(one), { dryRun: true }).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (answer !== undefined && !(answer instanceof KubeError && answer.status === 422)) throw answer;
      counts[answer === undefined ? 'taken' : 'refused'] += 1;
      const serverMessages = answer?.causes.map(({ message = '' }) => message) ?? [];
      const isSame = (offline === undefined) === (answer === undefined);
      // After the errors of a schema a server looks at no rules.
      const looked = !serverMessages.some((message) => message.includes('some validation rules were not checked'));
      const expected = offline?.code === 'ERR_API_RULE' ? firstMessage(offline) : '';
      if (
        isSame &&
        (!looked || serverMessages.some((message) => message.includes(expected)) || serverMessages.length === 0)
      )
        continue;
      disagreements.push({ object: one.name, offline: offline?.message, server: serverMessages });
    }
    expect(disagreements).toEqual([]);
    expect(counts.taken).toBeGreaterThan(50);
    expect(counts.refused).toBeGreaterThan(50);
  }, 180_000);

  it('knows no other fields', async () => {
    const network = { topology: 'Layer2', layer2: { role: 'Primary', subnets: ['10.20.0.0/16'], vlan: 7 } };
    const error = await refusal(
      client.create(USER_DEFINED_NETWORKS, objectOf({ kind: 'UserDefinedNetwork', spec: network }), STRICT),
    );
    expect(error.message).toContain('unknown field "spec.layer2.vlan"');
  });
});

describe('a claim of addresses', () => {
  const claim = (name: string, spec: Readonly<Record<string, unknown>> = {}): ObjectInput => ({
    metadata: { namespace, name },
    spec: { network: 'ns_blue', interface: 'eth1', ...spec },
  });

  const refusals: [Readonly<Record<string, unknown>>, string, string][] = [
    [{ network: undefined }, 'spec.network', 'Required value'],
    [{ interface: undefined }, 'spec.interface', 'Required value'],
    [{ ipRequests: ['10.20.0.5'] }, 'spec.ipRequests[0]', 'CIDR is invalid'],
    [
      { ipRequests: ['10.20.0.5/16', '10.20.0.6/16'] },
      'spec.ipRequests',
      'When 2 CIDRs are set, they must be from different IP families',
    ],
    [{ ipRequests: ['10.20.0.5/16', 'fd00::5/64', 'fd00::6/64'] }, 'spec.ipRequests', 'must have at most 2 items'],
  ];
  const changes: [Readonly<Record<string, unknown>>, string, string][] = [
    [{ network: 'ns_red' }, 'spec.network', 'Network is immutable'],
    [{ interface: 'eth2' }, 'spec.interface', 'Interface is immutable'],
    [{ ipRequests: ['10.20.0.6/16'] }, 'spec.ipRequests', 'IPRequests are immutable'],
  ];

  it('is asked about with every rule of its CRD', () => {
    const crd = Object.values(crdFiles()).find((text) => parse(text).spec.names.kind === 'IPAMClaim');
    const messages = [...(crd ?? '').matchAll(/^ +message: (\S.*)$/gm)].map(([, message]) => message);
    const knownMessages = [...refusals, ...changes].map(([, , message]) => message);
    expect(messages.length).toBeGreaterThan(4);
    expect(messages.filter((message) => !knownMessages.includes(message ?? ''))).toEqual([]);
  });

  it.each(refusals)('is refused with %j', async (spec, field, message) => {
    const error = await refusal(client.create(IPAM_CLAIMS, claim('a', spec), STRICT));
    expect(error.causes).toContainEqual(expect.objectContaining({ field, message: expect.stringContaining(message) }));
  });

  it('keeps what it is for, and takes a status', async () => {
    const created = await client.create(IPAM_CLAIMS, claim('a', { ipRequests: ['10.20.0.5/16', 'fd00::5/64'] }));
    for (const [change, field, message] of changes) {
      const spec = { ...(created['spec'] as object), ...change };
      const { causes } = await refusal(client.update(IPAM_CLAIMS, { ...created, spec }, STRICT));
      expect(causes).toContainEqual(expect.objectContaining({ field, message: expect.stringContaining(message) }));
    }
    const condition = {
      type: 'IPsAllocated',
      status: 'True',
      reason: 'SuccessfulAllocation',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const status = { ips: ['10.20.0.5/16', 'fd00::5/64'], ownerPod: { name: 'vm' }, conditions: [condition] };
    const ref = { namespace, name: 'a' };
    const patch = { type: 'merge', body: { status } } as const;
    const after = await client.patch(IPAM_CLAIMS, ref, patch, { subresource: 'status', fieldValidation: 'Strict' });
    expect(after['status']).toEqual(status);
    const third = { type: 'merge', body: { status: { ips: [...status.ips, 'fd00::6/64'] } } } as const;
    const error = await refusal(client.patch(IPAM_CLAIMS, ref, third, { subresource: 'status' }));
    expect(error.causes).toContainEqual(expect.objectContaining({ field: 'status.ips' }));
    const noCidr = { type: 'merge', body: { status: { ips: ['10.20.0.5'] } } } as const;
    expect((await refusal(client.patch(IPAM_CLAIMS, ref, noCidr, { subresource: 'status' }))).causes).toContainEqual(
      expect.objectContaining({ field: 'status.ips[0]', message: expect.stringContaining('CIDR is invalid') }),
    );
  });
});
