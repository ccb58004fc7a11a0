/** A Service `plain/web` on a node with a gateway, and what OVN is told of it. */
import type { GatewayInput, ServiceInput, SliceInput, TestCluster } from './cluster.ts';
import { serviceCluster } from './service-cluster.ts';

export const GATEWAY = {
  addresses: ['172.30.0.2/24', 'fd00:172::2/64'],
  hostAddresses: ['172.30.0.2/24', '192.168.7.2/24', 'fd00:172::2/64'],
  nextHops: ['172.30.0.1'],
};

export const cluster = (gateway: Partial<GatewayInput> = {}): TestCluster => serviceCluster({ ...GATEWAY, ...gateway });

export type Row = Readonly<Record<string, unknown>>;
export const rows = (it: TestCluster, table: string): readonly Row[] => it.render().northbound[table] ?? [];

/** Of all load balancers of a Service's protocol: scope → vips. */
export const scopes = (it: TestCluster, prefix: string): Record<string, unknown> =>
  Object.fromEntries(
    rows(it, 'Load_Balancer')
      .map(({ name, vips }) => [String(name), vips] as const)
      .filter(([name]) => name.startsWith(`${prefix}_`))
      .map(([name, vips]) => [name.slice(prefix.length + 1), vips]),
  );

/** Names of the rows that refer to a load balancer. */
export const attachmentsOf = (it: TestCluster, balancer: string): unknown[] =>
  ['Load_Balancer_Group', 'Logical_Router', 'Logical_Switch'].flatMap((table) =>
    rows(it, table)
      .filter(({ load_balancer: all }) => [all].flat().includes(`Load_Balancer/${balancer}`))
      .map(({ name }) => name),
  );

export const web = (service: Partial<ServiceInput>, ...slices: SliceInput[]): TestCluster =>
  cluster()
    .service('plain/web', { ips: ['172.16.1.7'], ports: ['http:TCP/80'], ...service })
    .slices('plain/web', ...slices);

export const WEB = 'Service_plain/web_TCP';
export const http = (slice: Omit<SliceInput, 'ports'>): SliceInput => ({ ports: ['http:TCP/8080'], ...slice });
export const here = (ip: string) => ({ ip, node: 'node1' });
export const there = (ip: string) => ({ ip, node: 'node2' });
