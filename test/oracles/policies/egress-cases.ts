/** Kubernetes' cases of whom pods may send to, and of both directions together. */
import {
  EVERY,
  namedNamespace,
  notNamespace,
  onlyFromA,
  onlyToA,
  type Place,
  POD_A,
  type PolicyCase,
  pods,
  policy,
} from './case.ts';
import type { Peer, Policy } from './types.ts';

const fromA = ({ namespace }: Place, to: readonly Peer[], name = 'from-a'): Policy =>
  policy(namespace('x'), name, { podSelector: POD_A, policyTypes: ['Egress'], egress: [{ to }] });

const pod = (namespace: string, name: string): Peer => ({
  ...namedNamespace(namespace),
  podSelector: { matchLabels: { pod: name } },
});

/** Of `x/a` to the large block around `x/b`, but for that one. */
const allButB = (place: Place): Policy => {
  const except = place.blocks('x/b', 'address');
  return fromA(
    place,
    place.blocks('x/b', 'large').map((cidr, index) => ({ ipBlock: { cidr, except: [except[index] ?? ''] } })),
  );
};

const toAddresses = (place: Place, of: string): Policy =>
  fromA(
    place,
    place.blocks(of, 'address').map((cidr) => ({ ipBlock: { cidr } })),
  );

export const EGRESS_CASES: readonly PolicyCase[] = [
  {
    title: "should support a 'default-deny-all' policy",
    steps: ({ namespace }) => [
      {
        policies: [
          policy(namespace('x'), 'deny', {
            podSelector: EVERY,
            policyTypes: ['Ingress', 'Egress'],
            ingress: [],
            egress: [],
          }),
        ],
        expected: {
          'TCP 80': [
            ['*', 'x/*', false],
            ['x/*', '*', false],
          ],
        },
      },
    ],
  },
  {
    title: 'should deny egress from pods based on PodSelector',
    steps: ({ namespace }) => [
      {
        policies: [policy(namespace('x'), 'deny-a', { podSelector: POD_A, policyTypes: ['Egress'], egress: [] })],
        expected: { 'TCP 80': onlyFromA() },
      },
    ],
  },
  {
    title: 'should deny egress from all pods in a namespace',
    steps: ({ namespace }) => [
      {
        policies: [policy(namespace('x'), 'deny', { podSelector: EVERY, policyTypes: ['Egress'], egress: [] })],
        expected: { 'TCP 80': [['x/*', '*', false]] },
      },
    ],
  },
  {
    title: 'should work with Ingress, Egress specified together',
    steps: ({ namespace }) => [
      {
        policies: [
          policy(namespace('x'), 'both', {
            podSelector: POD_A,
            policyTypes: ['Egress', 'Ingress'],
            ingress: [{ from: pods('b') }],
            egress: [{ ports: [{ port: 80 }] }],
          }),
        ],
        expected: {
          'TCP 80': onlyToA('x/b'),
          'TCP 81': [...onlyToA(), ...onlyFromA(), ['x/b', 'x/a', true]],
        },
      },
    ],
  },
  {
    title:
      'should support denying of egress traffic on the client side (even if the server explicitly allows this traffic)',
    steps: (place) => {
      const x = place.namespace('x');
      const y = place.namespace('y');
      const accept = (name: string): Policy =>
        policy(y, `to-${name}`, {
          podSelector: { matchLabels: { pod: name } },
          ingress: [{ from: [pod(x, 'a')] }],
        });
      return [
        {
          policies: [fromA(place, [pod(y, 'a')]), accept('a'), accept('b')],
          expected: {
            'TCP 80': [
              ['x/a', '*', false],
              ['*', 'y/a', false],
              ['*', 'y/b', false],
              ['x/a', 'y/a', true],
            ],
          },
        },
      ];
    },
  },
  {
    title:
      'should enforce egress policy allowing traffic to a server in a different namespace based on PodSelector and NamespaceSelector',
    steps: (place) => [
      { policies: [fromA(place, [pod(place.namespace('y'), 'a')])], expected: { 'TCP 80': onlyFromA('y/a') } },
    ],
  },
  {
    title: 'should allow egress access to server in CIDR block',
    steps: (place) => [{ policies: [toAddresses(place, 'y/b')], expected: { 'TCP 80': onlyFromA('y/b') } }],
  },
  {
    title: 'should enforce except clause while egress access to server in CIDR block',
    steps: (place) => [{ policies: [allButB(place)], expected: { 'TCP 80': [['x/a', 'x/b', false]] } }],
  },
  {
    title: 'should ensure an IP overlapping both IPBlock.CIDR and IPBlock.Except is allowed',
    steps: (place) => [
      { policies: [allButB(place)], expected: { 'TCP 80': [['x/a', 'x/b', false]] } },
      { policies: [toAddresses(place, 'x/b')], expected: { 'TCP 80': onlyFromA('x/b') } },
      // Beyond Kubernetes' own case: another policy, and not another version of the same.
      {
        policies: [allButB(place), { ...toAddresses(place, 'x/b'), name: 'from-a-to-b' }],
        expected: { 'TCP 80': [] },
      },
    ],
  },
  {
    title:
      'should enforce policies to check ingress and egress policies can be controlled independently based on PodSelector',
    steps: (place) => {
      const x = place.namespace('x');
      const open = policy(x, 'open', { podSelector: POD_A, policyTypes: ['Egress'], egress: [{}] });
      return [
        { policies: [open], expected: { 'TCP 80': [] } },
        {
          policies: [open, policy(x, 'deny-a', { podSelector: POD_A, policyTypes: ['Ingress'], ingress: [] })],
          expected: { 'TCP 80': onlyToA() },
        },
      ];
    },
  },
  {
    title: 'should enforce policy based on NamespaceSelector with MatchExpressions using default ns label',
    steps: (place) => [
      {
        policies: [fromA(place, [notNamespace(place.namespace('y'))])],
        expected: { 'TCP 80': [['x/a', 'y/*', false]] },
      },
    ],
  },
];
