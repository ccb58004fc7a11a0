/** As whom an endpoint sees its client. */
import { parseClusterConfig } from '../../../api/cluster-config.ts';
import { type Cidr, cidrContainsIp } from '../../../net/cidr.ts';
import { FAMILIES, parseIp } from '../../../net/ip.ts';
import { nodeAddress } from '../../e2e/support/networks/north-south.ts';
import type { Seen } from './outcomes.ts';

const CONFIG = parseClusterConfig();
const RANGES: readonly (readonly [Seen, readonly Cidr[]])[] = [
  ['gateway router', [...CONFIG.joinSubnets, ...CONFIG.udnJoinSubnets]],
  ['masquerade', CONFIG.masqueradeSubnets],
];

export interface Client {
  /** Its own addresses; none of what has those of a node. */
  readonly own: readonly string[];
  /** Undefined outside. */
  readonly node?: string;
  /** Of the management port of that node, of the default network. */
  readonly management?: readonly string[];
}

/** @param doorNode the node that was asked @returns the address where it is none of these */
export const describeSeen = (
  address: string,
  { own, node, management = [] }: Client,
  entryNode: string,
): Seen | string => {
  if (own.includes(address)) return 'itself';
  const isOf = (name: string): boolean => FAMILIES.some((family) => nodeAddress(name, family) === address);
  if (node !== undefined && isOf(node)) return 'node';
  if (isOf(entryNode)) return 'node of the door';
  if (management.includes(address)) return 'management port';
  const ip = parseIp(address);
  return RANGES.find(([, subnets]) => subnets.some((subnet) => cidrContainsIp(subnet, ip)))?.[0] ?? address;
};
