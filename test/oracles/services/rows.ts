/**
 * Who reaches which Service, by whom it is answered and as whom it is seen. From here come the tests with packets
 * (test/oracles/services/) and the table in docs/services.md. Every cell is of exactly one row (rows.test.ts).
 */
import type { Cell, EndpointPlacement, EntryPoint, Owner, Policy, Source } from './dimensions.ts';
import type { Answered, Seen } from './outcomes.ts';
import { among, type LeftOut, type Row } from './row.ts';

const TENANTS: readonly Owner[] = ['layer 3', 'layer 2'];
const DEFAULT: readonly Owner[] = ['default'];

const PODS: readonly EndpointPlacement[] = ['here', 'there', 'both'];
const HERE: readonly EndpointPlacement[] = ['here', 'both'];
const THERE: readonly EndpointPlacement[] = ['there'];
const NOBODY: readonly EndpointPlacement[] = ['none'];
const ON_NODES: readonly EndpointPlacement[] = ['nodes'];

const CLUSTER_IP: readonly EntryPoint[] = ['ClusterIP'];
const OWN_NODE: readonly EntryPoint[] = ['node port of its own node'];
const OTHER_NODE: readonly EntryPoint[] = ['node port of another node'];
const EXTERNAL: readonly EntryPoint[] = ['externalIP', 'address of a load balancer'];
const OWN_NODE_AND_EXTERNAL: readonly EntryPoint[] = [...OWN_NODE, ...EXTERNAL];
const NEAR_ENTRY_POINTS: readonly EntryPoint[] = [...CLUSTER_IP, ...OWN_NODE_AND_EXTERNAL];

const ETP_LOCAL: readonly Policy[] = ['ETP Local'];
const ITP_LOCAL: readonly Policy[] = ['ITP Local'];
/** For what comes from outside, and for what is asked by ClusterIPs. */
const ETP_CLUSTER: readonly Policy[] = ['Cluster', 'ITP Local'];
const ITP_CLUSTER: readonly Policy[] = ['Cluster', 'ETP Local'];

const SHARED_MODE: readonly Cell['mode'][] = ['shared'];
const LOCAL_MODE: readonly Cell['mode'][] = ['local'];

const OWN_POD: readonly Source[] = ['pod of the network'];
const TENANT_POD: readonly Source[] = ['pod of another tenant'];
const DEFAULT_POD: readonly Source[] = ['pod of the default network'];
const NODE: readonly Source[] = ['process of a node'];
const HOST_POD: readonly Source[] = ['host-network pod of the namespace'];
const HOST: readonly Source[] = [...NODE, ...HOST_POD];
const OUTSIDE: readonly Source[] = ['outside'];

const all = (...as: Seen[]): Answered => ({ by: 'all', as });
const here = (...as: Seen[]): Answered => ({ by: 'here', as });

const REFUSED = 'Without endpoints a Service refuses at once, as kube-proxy does.';

/** Known limits, as docs/services.md says them (rows.test.ts). */
const ALL_NODES =
  '`internalTrafficPolicy: Local` of a tenant’s Service: its host-network pods get endpoints of all nodes at ClusterIPs.';

export const LEFT_OUT: readonly LeftOut[] = [
  { from: DEFAULT_POD, owner: DEFAULT, why: 'That is a pod of the network.' },
  { from: OUTSIDE, to: CLUSTER_IP, why: 'No router outside knows of ClusterIPs.' },
  { from: OUTSIDE, to: OWN_NODE, why: 'It is on no node.' },
];

/** The switch of the pod has the load balancers. */
const OF_OWN_PODS = among({ from: OWN_POD, to: NEAR_ENTRY_POINTS }, [
  {
    to: CLUSTER_IP,
    policy: ITP_CLUSTER,
    endpoints: PODS,
    expect: all('itself'),
    why: 'OKEP-5193: a ClusterIP is there for the pods of its network.',
  },
  ...among({ to: CLUSTER_IP, policy: ITP_LOCAL }, [
    { endpoints: HERE, expect: here('itself'), why: 'KEP-2086: endpoints of the client’s node only.' },
    { endpoints: THERE, expect: 'refused', why: 'KEP-2086: endpoints of other nodes are none.' },
  ]),
  {
    to: OWN_NODE_AND_EXTERNAL,
    endpoints: PODS,
    expect: all('itself'),
    why: 'As within the cluster, whatever is said for clients outside (kube-proxy: KUBE-EXT, pod traffic).',
  },
  { endpoints: NOBODY, expect: 'refused', why: REFUSED },
  ...among({ owner: TENANTS, endpoints: ON_NODES }, [
    {
      to: CLUSTER_IP,
      policy: ITP_LOCAL,
      expect: here('masquerade'),
      why: 'KEP-2086; by the gateway bridge to the node.',
    },
    {
      to: CLUSTER_IP,
      policy: ITP_CLUSTER,
      expect: all('masquerade', 'node'),
      why: 'To the node itself by the gateway bridge, to another one as to anywhere outside.',
    },
    { to: OWN_NODE_AND_EXTERNAL, expect: all('masquerade', 'node'), why: 'The same.' },
  ]),
  ...among({ owner: DEFAULT, endpoints: ON_NODES }, [
    { to: CLUSTER_IP, policy: ITP_LOCAL, expect: here('itself'), why: 'KEP-2086.' },
    {
      to: CLUSTER_IP,
      policy: ITP_CLUSTER,
      expect: all('itself', 'node'),
      why: 'What leaves a node has its address, and what does not has the pod’s.',
    },
    { to: OWN_NODE_AND_EXTERNAL, expect: all('itself', 'node'), why: 'The same.' },
  ]),
]);

const AT_ANOTHER_NODE: readonly Row[] = [
  {
    policy: ETP_CLUSTER,
    endpoints: PODS,
    expect: all('gateway router'),
    why: 'As from outside: a node port is public, and any node leads to all endpoints.',
    reports: [4736],
  },
  ...among({ policy: ETP_LOCAL }, [
    {
      endpoints: HERE,
      expect: here('node'),
      why: 'As from outside: what leaves the client’s node has its address, which stays.',
      reports: [5531],
    },
    { endpoints: THERE, expect: 'refused', why: 'KEP-1669, externalTrafficPolicy: endpoints of other nodes are none.' },
  ]),
  { endpoints: NOBODY, expect: 'refused', why: REFUSED },
  ...among({ endpoints: ON_NODES }, [
    { policy: ETP_LOCAL, expect: here('node'), why: 'The node itself keeps the address, too.' },
    {
      policy: ETP_CLUSTER,
      expect: all('node of the door', 'masquerade'),
      needsKernel: true,
      why: 'Out of the node that was asked, or to that node itself.',
    },
  ]),
];

/** By the VRF of the client's network and the mark of the Service's: not from outside, so all endpoints. */
const BY_THE_HOST: readonly Row[] = [
  {
    endpoints: PODS,
    expect: all('gateway router'),
    needsKernel: true,
    why: 'A node port is public on the client’s own node, too; by the VRF of its network and the Service’s mark.',
    reports: [4736, 5410, 5419],
  },
  { endpoints: NOBODY, expect: 'refused', needsKernel: true, why: REFUSED },
  { endpoints: ON_NODES, expect: all('masquerade', 'node'), needsKernel: true, why: 'As pods.' },
];

const BY_GATEWAY_ROUTERS: readonly Row[] = [
  ...among({ policy: ETP_LOCAL }, [
    {
      endpoints: HERE,
      expect: here('masquerade'),
      needsKernel: true,
      why: 'The address of the client’s network here.',
    },
    {
      endpoints: [...THERE, ...NOBODY, ...ON_NODES],
      expect: 'unanswered',
      why: 'Out of the node, as to any address outside: whoever is there sends it to a node with endpoints.',
    },
  ]),
  ...among({ policy: ETP_CLUSTER }, [
    {
      endpoints: PODS,
      expect: all('gateway router'),
      needsKernel: true,
      why: 'From gateway router to gateway router.',
    },
    { endpoints: NOBODY, expect: 'refused', why: REFUSED },
    { endpoints: ON_NODES, expect: all('masquerade', 'node'), needsKernel: true, why: 'As pods.' },
  ]),
];

const OF_OTHER_NETWORKS: readonly Row[] = [
  {
    to: CLUSTER_IP,
    expect: 'silent',
    why: 'OKEP-5193: no ClusterIP of another network, but those that are allowed.',
    reports: [4687],
  },
  ...[{ to: OWN_NODE }, { to: EXTERNAL, mode: LOCAL_MODE }].flatMap((where) => among(where, BY_THE_HOST)),
  ...among({ to: EXTERNAL, mode: SHARED_MODE }, BY_GATEWAY_ROUTERS),
];

/** ClusterIPs of tenants. Marked by the cgroup of the process. */
const OF_HOSTS_IN_TENANTS: readonly Row[] = among({ to: CLUSTER_IP }, [
  {
    from: NODE,
    expect: 'silent',
    why: 'OKEP-5193, Service Access: denied, but to host-network pods of the network’s namespaces.',
  },
  ...among({ from: HOST_POD }, [
    ...among({ endpoints: PODS }, [
      {
        policy: ITP_CLUSTER,
        expect: all('gateway router'),
        needsKernel: true,
        why: 'OKEP-5193, Service Access; by the VRF of the network, which nftables have it marked with.',
      },
      { policy: ITP_LOCAL, expect: all('gateway router'), needsKernel: true, isNotYet: true, why: ALL_NODES },
    ]),
    { endpoints: NOBODY, expect: 'refused', needsKernel: true, why: REFUSED },
    ...among({ endpoints: ON_NODES }, [
      {
        policy: ITP_CLUSTER,
        expect: all('masquerade', 'node'),
        needsKernel: true,
        why: 'To the node itself by its masquerade address; another node sees this one.',
      },
      { policy: ITP_LOCAL, expect: all('masquerade', 'node'), needsKernel: true, isNotYet: true, why: ALL_NODES },
    ]),
  ]),
]);

const OF_HOSTS = among({ from: HOST, to: NEAR_ENTRY_POINTS }, [
  ...among({ owner: DEFAULT }, [
    {
      to: CLUSTER_IP,
      policy: ITP_CLUSTER,
      endpoints: PODS,
      expect: all('gateway router'),
      why: 'By br-ex and the gateway router.',
    },
    ...among({ to: CLUSTER_IP, policy: ITP_LOCAL }, [
      {
        endpoints: HERE,
        expect: here('management port'),
        why: 'KEP-2086; by the management port to the node’s switch.',
      },
      { endpoints: [...THERE, ...NOBODY], expect: 'refused', why: 'KEP-2086: endpoints of other nodes are none.' },
      {
        ...{ endpoints: ON_NODES, protocol: ['TCP', 'UDP'] },
        expect: here('masquerade'),
        why: 'KEP-2086; at once to the node itself.',
      },
      {
        ...{ endpoints: ON_NODES, protocol: ['SCTP'] },
        expect: here('masquerade', 'node'),
        why: 'The same; but Linux gives SCTP no link-local address, as that of IPv4 is, as its source.',
      },
    ]),
    {
      to: OWN_NODE_AND_EXTERNAL,
      endpoints: PODS,
      expect: all('gateway router'),
      why: 'nftables leads to the ClusterIP; a node’s own processes are not outside.',
    },
    ...[{ to: CLUSTER_IP, policy: ITP_CLUSTER }, { to: OWN_NODE_AND_EXTERNAL }].flatMap((where) =>
      among(where, [
        { endpoints: NOBODY, expect: 'refused', why: REFUSED },
        {
          endpoints: ON_NODES,
          expect: all('masquerade', 'node'),
          why: 'To the node itself by its masquerade address; another node sees this one.',
        },
      ]),
    ),
  ]),
  ...among({ owner: TENANTS }, [
    ...OF_HOSTS_IN_TENANTS,
    {
      to: OWN_NODE_AND_EXTERNAL,
      endpoints: PODS,
      expect: all('gateway router'),
      needsKernel: true,
      why: 'nftables leads to the ClusterIP, by the VRF of the Service’s network.',
    },
    { to: OWN_NODE_AND_EXTERNAL, endpoints: NOBODY, expect: 'refused', needsKernel: true, why: REFUSED },
    {
      to: OWN_NODE_AND_EXTERNAL,
      endpoints: ON_NODES,
      expect: all('masquerade', 'node'),
      needsKernel: true,
      why: 'To the node itself by its masquerade address; another node sees this one.',
    },
  ]),
]);

const FROM_OUTSIDE: readonly Row[] = [
  ...among({ to: [...OTHER_NODE, ...EXTERNAL] }, [
    { policy: ETP_CLUSTER, endpoints: PODS, expect: all('gateway router'), why: 'Any node leads to all endpoints.' },
    ...among({ policy: ETP_LOCAL }, [
      { endpoints: HERE, expect: here('itself'), why: 'externalTrafficPolicy: the client keeps its address.' },
      { endpoints: THERE, expect: 'refused', why: 'externalTrafficPolicy: endpoints of other nodes are none.' },
    ]),
    { endpoints: NOBODY, expect: 'refused', why: REFUSED },
    ...among({ endpoints: ON_NODES }, [
      { policy: ETP_LOCAL, expect: here('itself'), why: 'The node itself keeps the client’s address, too.' },
      {
        to: EXTERNAL,
        policy: ETP_CLUSTER,
        expect: all('masquerade', 'node of the door'),
        why: 'The node itself, and another one.',
      },
      {
        to: OTHER_NODE,
        policy: ETP_CLUSTER,
        expect: all('masquerade', 'node of the door'),
        needsKernel: true,
        why: 'The node itself, and another one.',
      },
    ]),
  ]),
];

export const ROWS: readonly Row[] = [
  ...OF_OWN_PODS,
  ...among({ from: [...OWN_POD, ...TENANT_POD, ...DEFAULT_POD, ...HOST], to: OTHER_NODE }, AT_ANOTHER_NODE),
  ...among({ from: [...TENANT_POD, ...DEFAULT_POD], to: NEAR_ENTRY_POINTS }, OF_OTHER_NETWORKS),
  ...OF_HOSTS,
  ...among({ from: OUTSIDE }, FROM_OUTSIDE),
];
