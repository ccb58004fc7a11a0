/** Small integers that must not be mixed up. Each is a branded number with its range checked at the border. */
import { NetError } from './errors.ts';

declare const brand: unique symbol;
type Branded<Name extends string> = number & { readonly [brand]: Name };

/** A TCP, UDP or SCTP port, 1–65535. */
export type Port = Branded<'Port'>;
/** A network's id, 0–4095; 0 is the cluster's default network. */
export type NetworkId = Branded<'NetworkId'>;
/** A node's id, 1–5000, from which its join, transit and router-port keys derive. */
export type NodeId = Branded<'NodeId'>;
/** A tunnel key of a datapath, 1–2^24−1 (ovn-architecture(7), "Tunnel Encapsulations"). */
export type DatapathKey = Branded<'DatapathKey'>;
/** A tunnel key of a logical port, 1–32767. */
export type PortKey = Branded<'PortKey'>;

export const MAX_NETWORKS = 4096;
export const DEFAULT_NETWORK_ID = 0 as NetworkId;

export const parsePort = (value: unknown): Port => inRange(value, 1, 65_535, 'ERR_NET_PORT', 'a port') as Port;

export const parseNetworkId = (value: unknown): NetworkId =>
  inRange(value, 0, MAX_NETWORKS - 1, 'ERR_NET_ID', 'a network id') as NetworkId;

export const parseNodeId = (value: unknown): NodeId => inRange(value, 1, 5000, 'ERR_NET_ID', 'a node id') as NodeId;

export const parseDatapathKey = (value: unknown): DatapathKey =>
  inRange(value, 1, 2 ** 24 - 1, 'ERR_NET_ID', 'a datapath key') as DatapathKey;

export const parsePortKey = (value: unknown): PortKey =>
  inRange(value, 1, 32_767, 'ERR_NET_ID', 'a port key') as PortKey;

/** Accepts a number or its plain decimal text, as annotations hold it. */
const inRange = (
  value: unknown,
  min: number,
  max: number,
  code: 'ERR_NET_PORT' | 'ERR_NET_ID',
  what: string,
): number => {
  const number = typeof value === 'string' && /^(0|[1-9][0-9]*)$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < min || number > max) {
    throw new NetError(code, `"${String(value)}" is not ${what} (${min}–${max})`, String(value));
  }
  return number;
};
