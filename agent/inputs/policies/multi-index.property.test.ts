/** MultiNetworkPolicies against themselves in another order, and against NetworkPolicies of pods whose own network it is. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { POLICY_FOR_ANNOTATION } from '../../../api/multi-network-policy.ts';
import { attachmentId, podOfId } from '../../model/facts.ts';
import { MultiWorld, SECONDARY_NETWORKS, type SecondaryNad } from '../../testing/multi-world.ts';
import { type WorldPod, worldPod } from '../../testing/policy-world.ts';
import { projectMultiPolicy } from './multi-projection.ts';
import { PolicyIndex } from './policy-index.ts';
import { projectPolicy } from './policy-projection.ts';

const value = fc.constantFrom('a', 'b');
const labels = fc.dictionary(fc.constantFrom('app', 'tier'), value, { maxKeys: 2 });
const selector = fc.oneof(
  fc.constant({}),
  fc.record({ matchLabels: fc.dictionary(fc.constantFrom('app', 'tier'), value, { maxKeys: 1 }) }),
);
const peer = fc.oneof(
  fc.record({ podSelector: selector }),
  fc.record({ namespaceSelector: selector, podSelector: selector }),
  fc.constant({ ipBlock: { cidr: '10.1.0.0/29', except: ['10.1.0.2/31'] } }),
);
const ports = fc.constantFrom([], [{ port: 80 }], [{ port: 'http' }], [{ protocol: 'UDP' }]);
const spec = fc.oneof(
  fc.record({
    podSelector: selector,
    policyTypes: fc.constantFrom(['Ingress'], ['Egress'], ['Ingress', 'Egress']),
    ingress: fc.array(fc.record({ from: fc.array(peer, { maxLength: 2 }), ports }), { maxLength: 2 }),
    egress: fc.array(fc.record({ to: fc.array(peer, { maxLength: 2 }), ports }), { maxLength: 1 }),
  }),
  fc.constant({ podSelector: {}, ingress: 'nobody can read this' }),
);
const NADS = Object.keys(SECONDARY_NETWORKS) as SecondaryNad[];
const host = fc.integer({ min: 1, max: 6 });
const pod: fc.Arbitrary<WorldPod> = fc
  .record({
    labels,
    isLocal: fc.constantFrom(true, true, false),
    finished: fc.constantFrom(false, false, false, false, true),
    on: fc.subarray(NADS),
    host,
  })
  .map(({ on, host: last, ...rest }) => ({
    ...{ ...rest, ports: ['http:tcp:8080'] },
    ips: {
      default: [`10.128.0.${last}`],
      ...Object.fromEntries(
        on.map((nad) => [nad, SECONDARY_NETWORKS[nad].subnets.map((cidr) => addressIn(cidr, rest.isLocal, last))]),
      ),
    },
  }));
/** Of layer 3, each node has a part. */
const addressIn = (cidr: string, isLocal: boolean, last: number): string => {
  const [network = ''] = cidr.split('/');
  if (network.startsWith('10.2')) return isLocal ? `10.2.1.${last}` : `10.2.2.${last}`;
  if (network.startsWith('fd02')) return isLocal ? `fd02:0:0:1::${last}` : `fd02:0:0:2::${last}`;
  return network.includes(':') ? `${network}${last}` : network.replace(/0$/, String(last));
};

const podKey = fc.constantFrom('a/web', 'a/app', 'b/web', 'b/app');
const policyKey = fc.constantFrom('a/one', 'a/two', 'b/one');
const policyFor = fc.oneof(
  fc.subarray(NADS, { minLength: 1 }).map((nads) => nads.join(',')),
  fc.constantFrom(null, 'flat, ?', 'none'),
);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary }, { weight: 1, arbitrary: fc.constant(undefined) });
type Event = readonly [about: string, apply: (world: MultiWorld) => unknown];
const event: fc.Arbitrary<Event> = fc.oneof(
  fc.tuple(podKey, maybe(pod)).map(([key, one]): Event => [`pod ${key}`, (it) => it.pod(key, one)]),
  fc
    .tuple(policyKey, policyFor, maybe(spec))
    .map(([key, annotation, one]): Event => [`policy ${key}`, (it) => it.policy(key, annotation, one)]),
  fc
    .tuple(fc.constantFrom('a', 'b'), labels)
    .map(([name, one]): Event => [`ns ${name}`, (it) => it.namespace(name, one)]),
  fc
    .tuple(fc.constantFrom(...NADS), fc.constantFrom(true, true, true, false))
    .map(([nad, is]): Event => [`nad ${nad}`, (it) => it.nad(nad, is)]),
);

it('makes the same of the same objects, in whichever order they come', () => {
  let isolated = 0;
  fc.assert(
    fc.property(fc.array(event, { minLength: 20, maxLength: 40, size: 'max' }), (events) => {
      const [there, again] = [new MultiWorld(), new MultiWorld()];
      for (const world of [there, again]) for (const nad of NADS) world.nad(nad);
      for (const [, apply] of events) apply(there);
      const last = [...new Map(events)].sort(([a], [b]) => (a < b ? 1 : -1));
      for (const [, apply] of last) apply(again);
      expect(there.made()).toEqual(again.made());
      expect(texts(there)).toEqual(texts(again));
      isolated += [...there.facts.ids('podPolicy')].length;
      // And nothing is left of them, in whichever order they go.
      for (const [about] of events) {
        const [kind, key = ''] = about.split(' ');
        if (kind === 'pod') there.pod(key, undefined);
        if (kind === 'policy') there.policy(key, null, undefined);
      }
      expect(there.made()).toEqual({});
    }),
    { numRuns: 100 },
  );
  expect(isolated).toBeGreaterThan(20);
});

const texts = ({ index }: MultiWorld) =>
  index
    .problems()
    .map(({ object, message }) => `${object} ${message}`)
    .sort();

/** The rules, sets and groups of a network depend on its name and on who is there, and not on whether it is their own network. */
it('makes of a secondary network what NetworkPolicies make of a primary one', () => {
  let rules = 0;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(podKey, pod), { minLength: 3, maxLength: 8, size: 'max' }),
      fc.array(fc.tuple(policyKey, spec), { minLength: 2, maxLength: 4, size: 'max' }),
      fc.tuple(labels, labels),
      (pods, policies, [ofA, ofB]) => {
        const secondary = new MultiWorld().nad('a/flat').nad('b/flat');
        const primary = new MultiWorld().nad('a/flat').nad('b/flat');
        const { name } = SECONDARY_NETWORKS['a/flat'];
        const network = primary.facts.get('network', name);
        if (network === undefined) throw new Error('there is no network');
        primary.facts.set('network', name, { ...network, role: 'primary' });
        const { facts, cluster } = primary;
        const index = new PolicyIndex({ facts, settings: cluster.settings });
        for (const [space, own] of [
          ['a', ofA],
          ['b', ofB],
        ] as const) {
          secondary.namespace(space, own);
          facts.set('namespace', space, { name: space, wantsPrimaryNetwork: true });
          facts.set('primaryNad', space, { nad: `${space}/flat`, network: name });
          index.changeNamespace(space, { name: space, labels: own, problems: [] });
        }
        for (const [key, one] of new Map(pods)) {
          const nad = `${key.split('/')[0]}/flat`;
          const ips = one.ips?.[nad] ?? ['10.1.0.6'];
          secondary.pod(key, { ...one, ips: { default: ['10.128.0.1'], [nad]: ips } });
          index.changePod(
            key,
            worldPod(key, { node: one.isLocal === true ? 'node1' : 'node2', ...one, ips: { [nad]: ips } }),
          );
        }
        for (const [key, one] of new Map(policies)) {
          const [namespace = '', policy = ''] = key.split('/');
          secondary.policy(key, 'flat', one);
          const metadata = { namespace, name: policy, annotations: { [POLICY_FOR_ANNOTATION]: 'flat' } };
          index.changePolicy(key, projectPolicy({ metadata, ...{ spec: one } }));
          expect(projectMultiPolicy({ metadata, ...{ spec: one } }).nads).toEqual([`${namespace}/flat`]);
        }
        for (const kind of ['policyRule', 'peerSet', 'denyGroup'] as const) {
          const made = [...facts.ids(kind)].sort();
          expect([...secondary.facts.ids(kind)].sort()).toEqual(made);
          for (const id of made) expect(secondary.facts.get(kind, id)).toEqual(facts.get(kind, id));
        }
        for (const kind of ['podPolicy', 'policyPeer'] as const) {
          expect([...secondary.facts.ids(kind)].map(podOfId).sort()).toEqual([...facts.ids(kind)].sort());
          for (const id of facts.ids(kind))
            expect(secondary.facts.get(kind, attachmentId(id, name))).toEqual(facts.get(kind, id));
        }
        rules += [...facts.ids('policyRule')].length;
      },
    ),
    { numRuns: 200 },
  );
  expect(rules).toBeGreaterThan(50);
});
