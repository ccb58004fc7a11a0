/** Kubernetes' cases of who may send. */
import {
  EVERY,
  NAMESPACE_NAME,
  namedNamespace,
  notNamespace,
  onlyToA,
  type Place,
  POD_A,
  type PolicyCase,
  pods,
  policy,
} from './case.ts';
import type { Peer, Policy, Port } from './types.ts';

/** To `x/a` from these, at these ports. */
const toA = ({ namespace }: Place, from: readonly Peer[], ports: readonly Port[] = [], name = 'to-a'): Policy =>
  policy(namespace('x'), name, { podSelector: POD_A, policyTypes: ['Ingress'], ingress: [{ from, ports }] });

const denyX = ({ namespace }: Place): Policy =>
  policy(namespace('x'), 'deny', { podSelector: EVERY, policyTypes: ['Ingress'], ingress: [] });

const inY = ({ namespace }: Place, pod: string): Peer => ({
  ...namedNamespace(namespace('y')),
  podSelector: { matchLabels: { pod } },
});

export const INGRESS_CASES: readonly PolicyCase[] = [
  {
    title: "should support a 'default-deny-ingress' policy",
    steps: (place) => [{ policies: [denyX(place)], expected: { 'TCP 80': [['*', 'x/*', false]] } }],
  },
  {
    title: 'should enforce policy to allow traffic from pods within server namespace based on PodSelector',
    steps: (place) => [{ policies: [toA(place, pods('b'))], expected: { 'TCP 80': onlyToA('x/b') } }],
  },
  {
    title: 'should enforce policy to allow ingress traffic for a target',
    steps: (place) => [
      {
        policies: [denyX(place), toA(place, [{ podSelector: EVERY, namespaceSelector: EVERY }])],
        expected: {
          'TCP 80': [
            ['*', 'x/*', false],
            ['*', 'x/a', true],
          ],
        },
      },
    ],
  },
  {
    title: 'should enforce policy to allow ingress traffic from pods in all namespaces',
    steps: (place) => [
      { policies: [toA(place, [{ namespaceSelector: { matchLabels: {} } }])], expected: { 'TCP 80': [] } },
    ],
  },
  {
    title: 'should enforce policy to allow traffic only from a different namespace, based on NamespaceSelector',
    steps: (place) => [
      { policies: [toA(place, [namedNamespace(place.namespace('y'))])], expected: { 'TCP 80': onlyToA('y/*') } },
    ],
  },
  {
    title: 'should enforce policy based on PodSelector with MatchExpressions',
    steps: (place) => [
      {
        policies: [
          toA(place, [{ podSelector: { matchExpressions: [{ key: 'pod', operator: 'In', values: ['b'] }] } }]),
        ],
        expected: { 'TCP 80': onlyToA('x/b') },
      },
    ],
  },
  {
    title: 'should enforce policy based on NamespaceSelector with MatchExpressions',
    steps: (place) => [
      {
        policies: [
          toA(place, [
            {
              namespaceSelector: {
                matchExpressions: [{ key: NAMESPACE_NAME, operator: 'In', values: [place.namespace('y')] }],
              },
            },
          ]),
        ],
        expected: { 'TCP 80': onlyToA('y/*') },
      },
    ],
  },
  {
    title: 'should enforce policy based on PodSelector or NamespaceSelector',
    steps: (place) => [
      {
        policies: [toA(place, [{ ...ofPlace(place) }, ...pods('b')])],
        expected: { 'TCP 80': onlyToA('x/b', 'y/*', 'z/*') },
      },
    ],
  },
  {
    title: 'should enforce policy based on PodSelector and NamespaceSelector',
    steps: (place) => [
      {
        policies: [toA(place, [{ ...ofPlace(place), podSelector: { matchLabels: { pod: 'b' } } }])],
        expected: { 'TCP 80': onlyToA('y/b', 'z/b') },
      },
    ],
  },
  {
    title: 'should enforce policy based on Multiple PodSelectors and NamespaceSelectors',
    steps: (place) => [
      {
        policies: [
          toA(place, [
            {
              ...ofPlace(place),
              podSelector: { matchExpressions: [{ key: 'pod', operator: 'In', values: ['b', 'c'] }] },
            },
          ]),
        ],
        expected: { 'TCP 80': onlyToA('y/b', 'y/c', 'z/b', 'z/c') },
      },
    ],
  },
  {
    title: 'should enforce policy based on any PodSelectors',
    steps: (place) => [{ policies: [toA(place, pods('b', 'c'))], expected: { 'TCP 80': onlyToA('x/b', 'x/c') } }],
  },
  ...(['TCP', 'UDP', 'SCTP'] as const).flatMap((protocol): PolicyCase[] => [
    {
      title: `should enforce policy to allow traffic only from a pod in a different namespace based on PodSelector and NamespaceSelector${suffix(protocol)}`,
      steps: (place) => [
        { policies: [toA(place, [inY(place, 'a')])], expected: { [`${protocol} 80`]: onlyToA('y/a') } },
      ],
    },
    {
      title: `should enforce policy based on Ports${suffix(protocol)}`,
      steps: (place) => [
        {
          policies: [toA(place, [namedNamespace(place.namespace('y'))], [{ protocol, port: 81 }])],
          expected: { [`${protocol} 81`]: onlyToA('y/*'), [`${protocol} 80`]: onlyToA() },
        },
      ],
    },
  ]),
  ...(['UDP', 'SCTP'] as const).map(
    (protocol): PolicyCase => ({
      title: `should support a 'default-deny-ingress' policy${suffix(protocol)}`,
      steps: (place) => [{ policies: [denyX(place)], expected: { [`${protocol} 80`]: [['*', 'x/*', false]] } }],
    }),
  ),
  {
    title: 'should enforce multiple, stacked policies with overlapping podSelectors',
    steps: (place) => {
      const y = [namedNamespace(place.namespace('y'))];
      const first = toA(place, y, [{ protocol: 'TCP', port: 81 }]);
      return [
        { policies: [first], expected: { 'TCP 81': onlyToA('y/*'), 'TCP 80': onlyToA() } },
        {
          policies: [first, toA(place, y, [{ protocol: 'TCP', port: 80 }], 'to-a-at-80')],
          expected: { 'TCP 81': onlyToA('y/*'), 'TCP 80': onlyToA('y/*') },
        },
      ];
    },
  },
  {
    title: 'should deny ingress from pods on other namespaces',
    steps: (place) => [
      {
        policies: [
          policy(place.namespace('x'), 'own', { podSelector: EVERY, ingress: [{ from: [{ podSelector: EVERY }] }] }),
        ],
        expected: {
          'TCP 80': [
            ['y/*', 'x/*', false],
            ['z/*', 'x/*', false],
          ],
        },
      },
    ],
  },
  {
    title: 'should enforce policy to allow traffic based on NamespaceSelector with MatchLabels using default ns label',
    steps: (place) => [
      { policies: [toA(place, [namedNamespace(place.namespace('y'))])], expected: { 'TCP 80': onlyToA('y/*') } },
    ],
  },
  {
    title: 'should enforce ingress policy allowing any port traffic to a server on a specific protocol',
    steps: (place) => [
      { policies: [toA(place, [], [{ protocol: 'TCP' }])], expected: { 'TCP 80': [], 'UDP 80': onlyToA() } },
    ],
  },
  {
    title: "should not mistakenly treat 'protocol: SCTP' as 'protocol: TCP', even if the plugin doesn't support SCTP",
    steps: (place) => [
      {
        policies: [denyX(place), toA(place, [], [{ protocol: 'SCTP', port: 81 }])],
        expected: { 'TCP 81': [['*', 'x/*', false]] },
      },
    ],
  },
  {
    title:
      "should properly isolate pods that are selected by a policy allowing SCTP, even if the plugin doesn't support SCTP",
    steps: (place) => [
      { policies: [toA(place, [], [{ protocol: 'SCTP', port: 80 }])], expected: { 'TCP 81': onlyToA() } },
    ],
  },
  {
    title: 'should not allow access by TCP when a policy specifies only UDP',
    steps: (place) => [
      {
        policies: [toA(place, [], [{ protocol: 'UDP', port: 81 }])],
        expected: { 'TCP 81': onlyToA(), 'UDP 81': [] },
      },
    ],
  },
];

const ofPlace = ({ namespace }: Place): Peer => notNamespace(namespace('x'));

function suffix(protocol: string): string {
  return protocol === 'TCP' ? '' : ` (${protocol})`;
}
