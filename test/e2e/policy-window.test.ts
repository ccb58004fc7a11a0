/**
 * Pods under policies from their first instruction on, while pods come and go and agents and daemons of OVN are killed: not one
 * connection is answered that a policy forbids. Needs root and `make build`.
 */
import { beforeAll, expect, it } from 'vitest';
import { parsePodNetworks } from '../../api/annotations/pod-networks.ts';
import { POD_ANNOTATIONS } from '../../api/names.ts';
import { addressOf } from '../../net/cidr.ts';
import type { ManifestObject } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { expectAnswers } from '../oracles/policies/expected.ts';
import { applyAndWait, deletePods, useCluster } from './support/cluster/cluster.ts';
import { layer2, layer3, namespace, plainNamespace, pod } from './support/cluster/manifests.ts';
import { createRandom } from './support/faults/random.ts';
import { besiege, burstOf, burstPod } from './support/policies/first-instruction.ts';
import { POLICIES_IN_FULL } from './support/policies/in-full.ts';
import { networkPolicy } from './support/policies/manifests.ts';
import { attempts, type Member, POLICY_TENANTS, type PolicyTenant, readMembers } from './support/policies/members.ts';
import { expectNoDifference } from './support/state/no-difference.ts';

const NODES = ['node-1', 'node-2'] as const;
/** A second or two each. */
const ROUNDS = POLICIES_IN_FULL ? 200 : 12;
/** Of each protocol to each of four addresses: 1,000 in full. */
const CONNECTIONS_EACH = POLICIES_IN_FULL ? 125 : 12;
/** Some 20 ms each. */
const LABEL_CHANGES = POLICIES_IN_FULL ? 1000 : 120;
/** A program of a node is killed in one of so many rounds. */
const KILL_EVERY = 4;
const PROGRAMS = ['agent', 'ovn-controller', 'northd'] as const;

/** What comes: who may not send, who may not be sent to, who is no peer, and who is one. */
const KINDS = ['sender', 'receiver', 'stranger', 'known'] as const;
type Kind = (typeof KINDS)[number];

const cluster = useCluster({ name: 'test-policy-window', ipFamily: 'dual' });
const random = createRandom();

const labelled = (name: string, role: string, tenant: string, node: string): ManifestObject => {
  const made = pod(tenant, `${tenant}-${name}`, node);
  return { ...made, metadata: { ...made.metadata, labels: { role } } };
};

/** Not that of pods that are there: their deny group has no member at first. */
const policies = (tenant: string): ManifestObject[] => {
  const known = { podSelector: { matchLabels: { role: 'known' } } };
  return [
    networkPolicy(tenant, 'senders', {
      ...{ podSelector: { matchLabels: { role: 'sender' } }, policyTypes: ['Egress'] },
      egress: [{ to: [known] }],
    }),
    networkPolicy(tenant, 'receivers', {
      ...{ podSelector: { matchLabels: { role: 'receiver' } }, policyTypes: ['Ingress'] },
      ingress: [{ from: [known] }],
    }),
    networkPolicy(tenant, 'guarded', {
      ...{ podSelector: { matchLabels: { role: 'guarded' } }, policyTypes: ['Ingress'] },
      ingress: [{ from: [known] }],
    }),
  ];
};

let members: ReadonlyMap<string, Member>;
const peers = (tenant: string, role: 'peer' | 'guarded'): Member[] =>
  NODES.flatMap((node) => members.get(`${tenant}-${role}-${node}`) ?? []);

beforeAll(async () => {
  await applyAndWait(cluster(), [
    ...['red', 'green'].map((name) => namespace(name)),
    plainNamespace('plain'),
    layer3('red', 'net', ['10.93.0.0/16/24', 'fd00:93::/48/64']),
    layer2('green', 'net', ['10.94.0.0/16', 'fd00:94::/64']),
    ...POLICY_TENANTS.flatMap((tenant) =>
      (['peer', 'guarded'] as const).flatMap((role) =>
        NODES.map((node) => labelled(`${role}-${node}`, role, tenant, node)),
      ),
    ),
  ]);
  members = await readMembers(cluster());
  expect(peers('red', 'peer').flatMap(({ addresses }) => addresses)).toHaveLength(4);
}, 300_000);

const newcomer = (tenant: PolicyTenant, kind: Kind | 'free', index: number): ManifestObject => {
  const name = `${tenant}-${kind}-${index}`;
  const to = peers(tenant, kind === 'stranger' || kind === 'known' ? 'guarded' : 'peer');
  const burst = { to, times: kind === 'receiver' ? 1 : CONNECTIONS_EACH, tries: kind === 'free' ? 20 : 2 };
  return burstPod(tenant, name, random.pick(NODES), { role: kind }, burst);
};

const keyOf = ({ metadata }: ManifestObject): string => `${metadata.namespace}/${metadata.name}`;

/** As soon as they are given, which is before the pod has an interface. */
const addressesAhead = (key: string): Promise<readonly string[]> =>
  eventually(async () => {
    const { metadata } = await (await cluster().objects()).get('Pod', key);
    const networks = parsePodNetworks(metadata.annotations?.[POD_ANNOTATIONS.networks] ?? '', key);
    const primary = [...networks.values()].find(({ role }) => role === 'primary');
    const addresses = (primary?.ipAddresses ?? []).map(addressOf);
    if (addresses.length !== 2) throw new Error(`${key} has no addresses yet`);
    return addresses;
  }, 60_000);

/** @returns who answered, of what a policy forbids */
const violationsOf = async (tenant: PolicyTenant, kind: Kind, made: ManifestObject): Promise<string[]> => {
  const key = keyOf(made);
  if (kind === 'receiver') {
    const addresses = await addressesAhead(key);
    const sieges = await Promise.all(peers(tenant, 'peer').map((peer) => besiege(cluster(), peer, addresses)));
    const name = made.metadata.name ?? '';
    return sieges.flatMap(({ who }) => who).flatMap((who) => (who === name ? [`${key} answered`] : []));
  }
  await (await cluster().objects()).wait('Pod', key, 'ready', { timeoutSeconds: 60 });
  if (kind === 'known') {
    // Who is allowed may have to wait.
    const self = (await readMembers(cluster())).get(made.metadata.name ?? '');
    if (self === undefined) throw new Error(`${key} has no addresses`);
    await expectAnswers(
      cluster(),
      peers(tenant, 'guarded').flatMap((to) => attempts(self, to, true)),
    );
    return [];
  }
  const { tried, answered, who } = await burstOf(cluster(), key);
  expect(tried).toBe(CONNECTIONS_EACH * 8);
  return answered === 0 ? [] : [`${answered} connections of ${key} answered by ${who.join(' ')}`];
};

it('without policies all of this is answered', async () => {
  for (const tenant of POLICY_TENANTS) {
    const made = newcomer(tenant, 'free', 0);
    await (await cluster().objects()).apply([made]);
    const addresses = await addressesAhead(keyOf(made));
    const sieges = Promise.all(peers(tenant, 'peer').map((peer) => besiege(cluster(), peer, addresses)));
    await (await cluster().objects()).wait('Pod', keyOf(made), 'ready', { timeoutSeconds: 60 });
    expect((await burstOf(cluster(), keyOf(made))).answered).toBeGreaterThan(0);
    expect((await sieges).map(({ answered }) => answered)).toEqual([4, 4]);
    await deletePods(cluster(), keyOf(made));
  }
  await (await cluster().objects()).apply(POLICY_TENANTS.flatMap(policies));
  await expectAnswers(
    cluster(),
    POLICY_TENANTS.flatMap((tenant) => {
      const [from] = peers(tenant, 'peer');
      return from === undefined ? [] : peers(tenant, 'guarded').flatMap((to) => attempts(from, to, false));
    }),
  );
}, 120_000);

const killOne = (): Promise<void> =>
  eventually(() => cluster().kill(random.pick(NODES), random.pick(PROGRAMS), 'SIGKILL'));

it(`nothing that is forbidden is answered in ${ROUNDS} rounds (UDN_SEED=${random.seed})`, async () => {
  const objects = await cluster().objects();
  let leaving: Promise<void> = Promise.resolve();
  for (let round = 0; round < ROUNDS; round++) {
    const come = POLICY_TENANTS.map((tenant, index) => {
      const kind = KINDS[(round + index) % KINDS.length] ?? 'sender';
      return { tenant, kind, made: newcomer(tenant, kind, round) };
    });
    await objects.apply(come.map(({ made }) => made));
    const isKilling = round % KILL_EVERY === 0;
    if (isKilling) await killOne();
    const violations = await Promise.all(come.map(({ tenant, kind, made }) => violationsOf(tenant, kind, made)));
    expect(violations.flat(), `round ${round}`).toEqual([]);
    if (isKilling && POLICIES_IN_FULL) await expectNoDifference(cluster(), NODES);
    await leaving;
    leaving = deletePods(cluster(), ...come.map(({ made }) => keyOf(made)));
  }
  await leaving;
  await expectNoDifference(cluster(), NODES);
}, 1_200_000);

it(`nor during ${LABEL_CHANGES} changes of labels, and then the last labels decide (UDN_SEED=${random.seed})`, async () => {
  const objects = await cluster().objects();
  const names = POLICY_TENANTS.flatMap((tenant) => NODES.map((node) => ({ tenant, node, name: `walker-${node}` })));
  const walker = ({ tenant, node, name }: (typeof names)[number], isKnown: boolean): ManifestObject =>
    labelled(name, isKnown ? 'known' : 'walker', tenant, node);
  const known = new Map(names.map((one) => [one, false]));
  await applyAndWait(
    cluster(),
    names.map((one) => walker(one, false)),
  );
  const walkers = await readMembers(cluster());
  const changing = (async () => {
    for (let change = 0; change < LABEL_CHANGES; change++) {
      const one = random.pick(names);
      known.set(one, !known.get(one));
      await objects.apply([walker(one, known.get(one) === true)]);
      if (change % CHANGES_PER_KILL === 0) await killOne();
    }
  })();
  const answered = await besiegeUntil(changing);
  expect(answered).toEqual([]);
  await expectNoDifference(cluster(), NODES);
  const expected = [...known].flatMap(([{ tenant, name }, isKnown]) => {
    const from = walkers.get(`${tenant}-${name}`);
    if (from === undefined) throw new Error(`${tenant}-${name} has no addresses`);
    return peers(tenant, 'guarded').flatMap((to) => attempts(from, to, isKnown));
  });
  await expectAnswers(cluster(), expected);
}, 600_000);

/** A program of a node is killed in one of so many changes. */
const CHANGES_PER_KILL = 30;

/** Pods that no policy selects as peers try those that are guarded again and again. @returns who answered */
const besiegeUntil = async (end: Promise<void>): Promise<string[]> => {
  let isOver = false;
  const ended = end.finally(() => (isOver = true));
  const besieged = POLICY_TENANTS.flatMap((tenant) =>
    peers(tenant, 'peer').map(async (by) => {
      const addresses = peers(tenant, 'guarded').flatMap((to) => to.addresses);
      const who: string[] = [];
      while (!isOver) who.push(...(await besiege(cluster(), by, addresses)).who);
      return who;
    }),
  );
  const [all] = await Promise.all([Promise.all(besieged), ended]);
  return all.flat();
};
