/** Objects of a cluster of tenants `t0`, `t1`, …: of half of them something is wrong. */
import fc from 'fast-check';
import { askPrimary, ipamClaim, nad, node, pod } from '../../../cluster-manager/testing/objects.ts';
import type { ObjectInput } from '../../../kube/types.ts';
import { randomNetworks } from '../../conformance/networks/random.ts';
import {
  configurations,
  damaged,
  defaultNetworks,
  networkIds,
  nodeIds,
  nodeSubnets,
  podNetworks,
  selections,
  tunnelKeys,
} from './texts.ts';

export const TENANTS = 8;

const tenants = fc.integer({ min: 0, max: TENANTS - 1 }).map((n) => `t${n}`);

type Annotations = Readonly<Record<string, string>>;

/** Right or damaged, or not there at all. */
const perhaps = (name: string, text: fc.Arbitrary<string>): fc.Arbitrary<Annotations> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: text.map((value) => ({ [name]: value })) },
    { weight: 2, arbitrary: damaged(text).map((value) => ({ [name]: value })) },
  );

const together = (...parts: fc.Arbitrary<Annotations>[]): fc.Arbitrary<Annotations> =>
  fc.tuple(...parts).map((all) => Object.assign({}, ...all) as Annotations);

/** Even ones have a layer-2 network, odd ones one of layer 3. */
export const isLayer2 = (namespace: string | undefined): boolean => Number(namespace?.slice(1)) % 2 === 0;

const pods = tenants.chain((namespace) =>
  together(
    // On layer 3 that is the agents' to give, and to read.
    isLayer2(namespace) ? perhaps('k8s.ovn.org/pod-networks', podNetworks(`${namespace}/net`)) : fc.constant({}),
    perhaps('v1.multus-cni.io/default-network', defaultNetworks),
    perhaps('k8s.v1.cni.cncf.io/networks', selections),
  ).map((annotations) => ({ namespace, annotations })),
);

const nads = tenants.chain((namespace) =>
  fc.tuple(
    fc.constant(namespace),
    fc.oneof(configurations(`${namespace}/N`), damaged(configurations(`${namespace}/N`))),
    together(
      perhaps('k8s.ovn.org/network-id', networkIds),
      perhaps('k8s.ovn.org/tunnel-keys', tunnelKeys),
      fc.constantFrom({}, { 'k8s.ovn.org/network-name': 'by-hand-1' }),
    ),
  ),
);

const claims = fc.tuple(
  tenants,
  fc.constantFrom('t0_net', 't1_net', 'nowhere', ''),
  fc.array(fc.constantFrom('10.20.0.7/16', '10.20.0.8/16', 'fd00::7/64', '10.99.0.1/16', 'x'), { maxLength: 2 }),
);

const nodes = together(
  perhaps('k8s.ovn.org/node-id', nodeIds),
  perhaps('k8s.ovn.org/node-subnets', nodeSubnets('t1_net')),
);

const claiming = fc.tuple(tenants, fc.constantFrom('c-1', 'c-2', ''));

type Make = (name: string) => ObjectInput;

const anyObject: fc.Arbitrary<Make> = fc.oneof(
  {
    weight: 8,
    arbitrary: pods.map(
      ({ namespace, annotations }): Make =>
        (name) =>
          pod(`${namespace}/${name}`, { annotations, uid: undefined }) as ObjectInput,
    ),
  },
  {
    weight: 1,
    arbitrary: claiming.map(
      ([namespace, claim]): Make =>
        (name) =>
          pod(`${namespace}/${name}`, {
            ...askPrimary({ 'ipam-claim-reference': claim }),
            uid: undefined,
          }) as ObjectInput,
    ),
  },
  {
    weight: 5,
    arbitrary: nads.map(
      ([namespace, config, annotations]): Make =>
        (name) =>
          nad(`${namespace}/${name}`, config.replaceAll(`${namespace}/N`, `${namespace}/${name}`), {
            annotations,
          }) as ObjectInput,
    ),
  },
  {
    weight: 1,
    arbitrary: nodes.map(
      (annotations): Make =>
        (name) =>
          node(name, annotations) as ObjectInput,
    ),
  },
  {
    weight: 1,
    arbitrary: claims.map(
      ([namespace, network, ipRequests]): Make =>
        (name) =>
          ipamClaim(`${namespace}/${name}`, network, { ipRequests }) as ObjectInput,
    ),
  },
);

/** Networks of all sorts, most of them wrong. */
const networks = (seed: number, count: number): Make[] =>
  randomNetworks(seed, count).map(({ kind, spec }, at) => (name) => ({
    apiVersion: 'k8s.ovn.org/v1',
    kind,
    metadata: kind === 'UserDefinedNetwork' ? { namespace: `t${at % TENANTS}`, name } : { name },
    spec,
  }));

/**
 * The same for the same seed.
 * @param prefix of the objects' names: of two primary networks of one second the first by name counts
 */
export const fuzzedObjects = (seed: number, count: number, prefix: string): ObjectInput[] => {
  const most = fc.sample(anyObject, { seed, numRuns: Math.ceil(count * 0.8) });
  return [...networks(seed, count - most.length), ...most].map((make, n) => make(`${prefix}-${n}`));
};
