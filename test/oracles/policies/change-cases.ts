/** Kubernetes' cases of names of ports, of several policies, and of what changes afterwards. */
import { EVERY, namedNamespace, onlyToA, type Place, POD_A, type PolicyCase, policy } from './case.ts';
import type { Policy, PolicySpec } from './types.ts';

const forX = ({ namespace }: Place, name: string, spec: Omit<PolicySpec, 'podSelector'>): Policy =>
  policy(namespace('x'), name, { podSelector: EVERY, ...spec });

const open = (place: Place): Policy => forX(place, 'open', { ingress: [{}] });

export const CHANGE_CASES: readonly PolicyCase[] = [
  {
    title: 'should support allow-all policy',
    steps: (place) => [{ policies: [open(place)], expected: { 'TCP 80': [], 'TCP 81': [] } }],
  },
  {
    title: 'should allow ingress access on one named port',
    steps: (place) => [
      {
        policies: [forX(place, 'named', { ingress: [{ ports: [{ port: 'serve-81-tcp' }] }] })],
        expected: { 'TCP 81': [], 'TCP 80': [['*', 'x/*', false]] },
      },
    ],
  },
  {
    title: 'should allow ingress access from namespace on one named port',
    steps: (place) => [
      {
        policies: [
          policy(place.namespace('x'), 'named', {
            podSelector: POD_A,
            ingress: [
              { from: [namedNamespace(place.namespace('y'))], ports: [{ protocol: 'TCP', port: 'serve-80-tcp' }] },
            ],
          }),
        ],
        expected: { 'TCP 80': onlyToA('y/*'), 'TCP 81': onlyToA() },
      },
    ],
  },
  {
    title: 'should allow egress access on one named port',
    steps: (place) => [
      {
        policies: [forX(place, 'named', { policyTypes: ['Egress'], egress: [{ ports: [{ port: 'serve-80-tcp' }] }] })],
        expected: { 'TCP 80': [], 'TCP 81': [['x/*', '*', false]] },
      },
    ],
  },
  {
    title: 'should enforce updated policy',
    steps: (place) => [
      { policies: [open(place)], expected: { 'TCP 81': [] } },
      {
        policies: [forX(place, 'open', { policyTypes: ['Ingress'], ingress: [] })],
        expected: { 'TCP 81': [['*', 'x/*', false]] },
      },
    ],
  },
  {
    title: 'should allow ingress access from updated namespace',
    steps: (place) => {
      const policies = [
        policy(place.namespace('x'), 'updated', {
          podSelector: POD_A,
          ingress: [{ from: [{ namespaceSelector: { matchLabels: { ns2: 'updated' } } }] }],
        }),
      ];
      return [
        { policies, expected: { 'TCP 80': onlyToA() } },
        { policies, namespaceLabels: { y: { ns2: 'updated' } }, expected: { 'TCP 80': onlyToA('y/*') } },
      ];
    },
  },
  {
    title: 'should allow ingress access from updated pod',
    steps: (place) => {
      const policies = [
        policy(place.namespace('x'), 'updated', {
          podSelector: POD_A,
          ingress: [{ from: [{ podSelector: { matchLabels: { pod: 'b', pod2: 'updated' } } }] }],
        }),
      ];
      return [
        { policies, expected: { 'TCP 80': onlyToA() } },
        { policies, podLabels: { 'x/b': { pod2: 'updated' } }, expected: { 'TCP 80': onlyToA('x/b') } },
      ];
    },
  },
  {
    title: 'should deny ingress access to updated pod',
    steps: (place) => {
      const policies = [
        policy(place.namespace('x'), 'isolated', {
          podSelector: { matchLabels: { target: 'isolated' } },
          policyTypes: ['Ingress'],
          ingress: [],
        }),
      ];
      return [
        { policies, expected: { 'TCP 80': [] } },
        { policies, podLabels: { 'x/a': { target: 'isolated' } }, expected: { 'TCP 80': onlyToA() } },
      ];
    },
  },
  {
    title: 'should enforce multiple ingress policies with ingress allow-all policy taking precedence',
    steps: (place) => {
      const only80 = forX(place, 'only-80', { ingress: [{ ports: [{ port: 80 }] }] });
      return [
        { policies: [only80], expected: { 'TCP 81': [['*', 'x/*', false]] } },
        { policies: [only80, open(place)], expected: { 'TCP 81': [] } },
      ];
    },
  },
  {
    title: 'should enforce multiple egress policies with egress allow-all policy taking precedence',
    steps: (place) => {
      const only80 = forX(place, 'only-80', { policyTypes: ['Egress'], egress: [{ ports: [{ port: 80 }] }] });
      const all = forX(place, 'all', { policyTypes: ['Egress'], egress: [{}] });
      return [
        { policies: [only80], expected: { 'TCP 81': [['x/*', '*', false]] } },
        { policies: [only80, all], expected: { 'TCP 81': [] } },
      ];
    },
  },
  {
    title: 'should stop enforcing policies after they are deleted',
    steps: (place) => [
      {
        policies: [forX(place, 'deny', { policyTypes: ['Ingress', 'Egress'], ingress: [], egress: [] })],
        expected: {
          'TCP 80': [
            ['*', 'x/*', false],
            ['x/*', '*', false],
          ],
        },
      },
      { policies: [], expected: { 'TCP 80': [] } },
    ],
  },
];
