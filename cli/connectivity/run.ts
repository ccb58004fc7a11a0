/** One test of connectivity: what its objects are called, and what of it is chosen. Pure. */
import type { Cidr } from '../../net/cidr.ts';

/** On every namespace of a run, with the run's name: by it leftovers are found. */
export const RUN_LABEL = 'k8s.ovn.org/connectivity-test';
/** Its values. */
export const RUN_ID = /^[0-9a-f]{6}$/;
export const CONTAINER = 'server';
export const SERVICE_NAME = 'web';

export const TENANTS = ['a', 'b'] as const;
export type Tenant = (typeof TENANTS)[number];

export const TESTS = ['pods', 'services', 'dns', 'api', 'mtu'] as const;
export type TestName = (typeof TESTS)[number];

/** https://kubernetes.io/docs/reference/labels-annotations-taints/#kubernetesiohostname */
export const HOSTNAME_LABEL = 'kubernetes.io/hostname';

export interface RunNode {
  readonly name: string;
  /** The value of its label. */
  readonly hostname: string;
}

export interface Run {
  /** Random: two runs at the same time have no object in common. */
  readonly id: string;
  /** One or two; pods are spread over them. */
  readonly nodes: readonly [RunNode] | readonly [RunNode, RunNode];
  /** Subnets of both tenants' networks; undefined: the default network. */
  readonly subnets: readonly Cidr[] | undefined;
  readonly image: string;
  /** The program in the image that has agnhost's commands `netexec` and `connect`. */
  readonly program: string;
}

export const namespaceName = ({ id }: Pick<Run, 'id'>, tenant: Tenant): string => `connectivity-${id}-${tenant}`;

/**
 * Ports of a tenant's own: where subnets overlap, an address of one tenant may be one of the other, too, and whoever answers at
 * this port is of the tenant that was meant.
 */
export const PORTS: Readonly<Record<Tenant, { readonly tcp: number; readonly udp: number }>> = {
  a: { tcp: 20_080, udp: 20_081 },
  b: { tcp: 30_080, udp: 30_081 },
};

export const SERVICE_PORT = 80;

export interface PodPlace {
  readonly name: string;
  readonly tenant: Tenant;
  readonly node: RunNode;
}

/** Two on the first node and one on the second, so that pairs of one node and of two are measured. */
export const podPlaces = ({ nodes: [first, second = first] }: Pick<Run, 'nodes'>): readonly PodPlace[] =>
  TENANTS.flatMap((tenant) =>
    [first, first, second].map((node, index) => ({ name: `${tenant}${index + 1}`, tenant, node })),
  );
