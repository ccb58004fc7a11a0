/**
 * NetworkPolicies with packets, over both families: on a layer-3, a layer-2 and the default network. All of Kubernetes' cases are
 * in policy-table.test.ts. Needs root and `make build`.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { expectAnswers } from '../oracles/policies/expected.ts';
import { applyAndWait, deletePods, useCluster } from './support/cluster/cluster.ts';
import { policyConnections } from './support/policies/connections.ts';
import { hostPods } from './support/policies/host-pods.ts';
import { networkPolicy } from './support/policies/manifests.ts';
import {
  attempts,
  clientPod,
  MANY_PORTS,
  type Member,
  POLICY_MANIFESTS,
  POLICY_TENANTS,
  type Port,
  probedPod,
  readMembers,
  serverPod,
} from './support/policies/members.ts';
import { outsidePolicies } from './support/policies/outside.ts';
import { policySctp } from './support/policies/sctp.ts';
import { policyStrangers } from './support/policies/strangers.ts';
import { app, DENY_ALL, EVERY, FRIENDS, withPolicies } from './support/policies/with-policies.ts';
import { expectNoDifference } from './support/state/no-difference.ts';
import { ownedRows } from './support/state/owned-rows.ts';

const NODES = ['node-1', 'node-2'] as const;
const cluster = useCluster({ name: 'test-network-policy', ipFamily: 'dual' });

let members: ReadonlyMap<string, Member>;
let before: readonly (readonly string[])[];
const member = (name: string): Member => {
  const found = members.get(name);
  if (found === undefined) throw new Error(`there is no pod ${name}`);
  return found;
};

beforeAll(async () => {
  await applyAndWait(cluster(), POLICY_MANIFESTS);
  members = await readMembers(cluster());
  await expectNoDifference(cluster(), NODES);
  before = await Promise.all(NODES.map((node) => ownedRows(cluster(), node)));
}, 300_000);

const many = (isAllowed: (port: number) => boolean, from: Member, to: Member) =>
  MANY_PORTS.flatMap((port) => attempts(from, to, isAllowed(port), [['TCP', port] satisfies Port]));

describe.each(POLICY_TENANTS)('a policy of %s', (tenant) => {
  const client = (): Member => member(`${tenant}-client`);
  const friend = (): Member => member(`${tenant}-friend`);
  const server = (): Member => member(`${tenant}-server`);
  const other = (): Member => member(`${tenant}-other`);

  it('without a policy everybody is answered', () =>
    expectAnswers(cluster(), [...attempts(client(), server(), true), ...attempts(friend(), server(), true)]));

  it('that lets nobody in isolates what it selects, in this direction only, and its deletion opens it again', async () => {
    const deny = networkPolicy(tenant, 'deny', { podSelector: app('web'), policyTypes: ['Ingress'] });
    await withPolicies(cluster(), [deny], () =>
      expectAnswers(cluster(), [
        ...attempts(client(), server(), false),
        ...attempts(friend(), server(), false),
        ...attempts(server(), friend(), true),
        ...attempts(client(), other(), true),
      ]),
    );
    await expectAnswers(cluster(), attempts(friend(), server(), true));
  });

  it('that lets nobody out isolates what it selects, in this direction only', () => {
    const deny = networkPolicy(tenant, 'deny', { podSelector: app('web'), policyTypes: ['Egress'] });
    return withPolicies(cluster(), [deny], () =>
      expectAnswers(cluster(), [
        ...attempts(server(), friend(), false),
        ...attempts(server(), client(), false),
        ...attempts(friend(), server(), true),
        ...attempts(other(), client(), true),
      ]),
    );
  });

  it('that lets nobody in or out leaves the kubelet its probes', () =>
    withPolicies(cluster(), [networkPolicy(tenant, 'deny', DENY_ALL)], async () => {
      await expectAnswers(cluster(), attempts(client(), other(), false));
      // It is ready by probes over TCP and HTTP, and fails if one of these is not answered.
      await applyAndWait(cluster(), [probedPod(tenant)]);
      await deletePods(cluster(), `${tenant}/${tenant}-probed`);
    }));

  it('that lets friends in: a pod becomes one by its label, and ceases to be one; and so does who is isolated', () => {
    const friends = networkPolicy(tenant, 'friends', { podSelector: app('web'), ingress: [{ from: [FRIENDS] }] });
    return withPolicies(cluster(), [friends], async () => {
      const objects = await cluster().objects();
      await expectAnswers(cluster(), [...attempts(client(), server(), false), ...attempts(friend(), server(), true)]);
      await objects.apply([clientPod(tenant, 'client', true), clientPod(tenant, 'friend', false)]);
      await expectAnswers(cluster(), [...attempts(client(), server(), true), ...attempts(friend(), server(), false)]);
      await objects.apply([clientPod(tenant, 'client', false), serverPod(tenant, 'open')]);
      await expectAnswers(cluster(), [...attempts(client(), server(), true), ...attempts(friend(), server(), true)]);
      await objects.apply([clientPod(tenant, 'friend', true), serverPod(tenant)]);
      await expectAnswers(cluster(), [...attempts(client(), server(), false), ...attempts(friend(), server(), true)]);
    });
  });

  it('of a port by its name means another number in each pod, and of a range all of its ports', async () => {
    const named = (direction: 'ingress' | 'egress') =>
      networkPolicy(tenant, 'named', {
        podSelector: direction === 'ingress' ? EVERY : app('client'),
        policyTypes: [direction === 'ingress' ? 'Ingress' : 'Egress'],
        [direction]: [{ ports: [{ port: 'web' }] }],
      });
    for (const direction of ['ingress', 'egress'] as const) {
      await withPolicies(cluster(), [named(direction)], () =>
        expectAnswers(cluster(), [
          ...attempts(client(), server(), true, [['TCP', 8080]]),
          ...attempts(client(), server(), false, [['UDP', 8081]]),
          ...many((port) => port === MANY_PORTS[0], client(), member(`${tenant}-many`)),
        ]),
      );
    }
    const range = networkPolicy(tenant, 'range', {
      podSelector: app('many'),
      ingress: [{ from: [FRIENDS], ports: [{ protocol: 'TCP', port: 8091, endPort: 8095 }] }],
    });
    await withPolicies(cluster(), [range], () =>
      expectAnswers(cluster(), [
        ...many((port) => port !== MANY_PORTS[0], friend(), member(`${tenant}-many`)),
        ...many(() => false, client(), member(`${tenant}-many`)),
        ...attempts(friend(), member(`${tenant}-many`), false, [['UDP', 8091]]),
      ]),
    );
  });
});

policyConnections(cluster, member);
outsidePolicies(cluster, member);
policyStrangers(cluster, member);
policySctp(cluster, member);
hostPods(cluster, member);

it('nothing is left of policies that are gone', async () => {
  await expectNoDifference(cluster(), NODES);
  const after = await Promise.all(NODES.map((node) => ownedRows(cluster(), node)));
  expect(after).toEqual(before);
});
