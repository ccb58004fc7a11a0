/** What is measured, and what is expected of each probe. Pure. */
import { FAMILIES, type Family, type Ip, ipFamily } from '../../net/ip.ts';
import { PORTS, type PodPlace, type Run, SERVICE_PORT, type Tenant, type TestName } from './run.ts';

/** A pod that runs. */
export interface ProbedPod extends PodPlace {
  /** On the network of its tenant. */
  readonly addresses: readonly Ip[];
  /** Of its interface there; undefined: it could not be read. */
  readonly mtu: number | undefined;
}

export interface Targets {
  readonly pods: readonly ProbedPod[];
  /** The ClusterIPs of each tenant's Service. */
  readonly services: Readonly<Record<Tenant, readonly Ip[]>>;
  /** ClusterIPs of Service default/kubernetes. */
  readonly api: readonly Ip[];
}

export type Expected = 'reached' | 'not reached';

export interface Probe {
  readonly test: TestName;
  readonly from: ProbedPod;
  /** For people: `pod b1`, `Service of b`. */
  readonly to: string;
  /** `10.203.0.4:20080` */
  readonly target: string;
  readonly family: Family | undefined;
  readonly expected: Expected;
  /** A datagram of that many bytes is sent and comes back; absent: a TCP connection is made. */
  readonly datagram?: number;
}

const API_NAME = 'kubernetes.default:443';
const API_PORT = 443;

export const planProbes = (
  run: Pick<Run, 'subnets'>,
  tests: ReadonlySet<TestName>,
  targets: Targets,
): readonly Probe[] =>
  targets.pods
    .flatMap((from) => [
      ...podProbes(run, from, targets),
      ...serviceProbes(run, from, targets),
      ...apiProbes(from, targets),
      ...mtuProbes(from, targets),
    ])
    .filter(({ test }) => tests.has(test));

/** Tenants' networks are apart; on the default network everybody reaches everybody. */
const expectedOf = ({ subnets }: Pick<Run, 'subnets'>, from: Tenant, to: Tenant): Expected =>
  subnets === undefined || from === to ? 'reached' : 'not reached';

const podProbes = (run: Pick<Run, 'subnets'>, from: ProbedPod, { pods }: Targets): readonly Probe[] =>
  pods
    .filter(({ name }) => name !== from.name)
    .flatMap((to) =>
      to.addresses.map((ip) => ({
        ...{ test: 'pods', from, to: `pod ${to.name}`, family: ipFamily(ip) },
        ...{ target: socketAddress(ip, PORTS[to.tenant].tcp), expected: expectedOf(run, from.tenant, to.tenant) },
      })),
    );

const serviceProbes = (run: Pick<Run, 'subnets'>, from: ProbedPod, { services }: Targets): readonly Probe[] =>
  (['a', 'b'] as const).flatMap((to) =>
    services[to].map((ip) => ({
      ...{ test: 'services', from, to: `Service of ${to}`, family: ipFamily(ip) },
      ...{ target: socketAddress(ip, SERVICE_PORT), expected: expectedOf(run, from.tenant, to) },
    })),
  );

/** By its name, as clients do, for the answer of DNS; by its address, so that the one is told from the other. */
const apiProbes = (from: ProbedPod, { api }: Targets): readonly Probe[] => [
  { test: 'dns', from, to: 'kubernetes.default', target: API_NAME, family: undefined, expected: 'reached' },
  ...api.map(
    (ip): Probe => ({
      ...{ test: 'api', from, to: 'API server', family: ipFamily(ip) },
      ...{ target: socketAddress(ip, API_PORT), expected: 'reached' },
    }),
  ),
];

/** From each pod to the first of its tenant on the other node: what fits into a node may not fit into a tunnel. */
const mtuProbes = (from: ProbedPod, { pods }: Targets): readonly Probe[] => {
  const { mtu } = from;
  const to = pods.find(({ tenant, node }) => tenant === from.tenant && node.name !== from.node.name);
  if (to === undefined || mtu === undefined) return [];
  return FAMILIES.flatMap((family) =>
    to.addresses
      .filter((ip) => ipFamily(ip) === family)
      .map(
        (ip): Probe => ({
          ...{ test: 'mtu', from, to: `pod ${to.name}, ${mtu} bytes`, family, expected: 'reached' },
          ...{ target: socketAddress(ip, PORTS[to.tenant].udp), datagram: mtu - HEADERS[family] },
        }),
      ),
  );
};

/** IP without options, and UDP. */
const HEADERS: Readonly<Record<Family, number>> = { 4: 28, 6: 48 };

const socketAddress = (ip: Ip, port: number): string => (ipFamily(ip) === 4 ? `${ip}:${port}` : `[${ip}]:${port}`);
