/**
 * `k8s.ovn.org/node-subnets` of a Node: the part of every layer-3 network's subnets that belongs to the node, the default
 * network under `default`. `{"default":["10.244.0.0/24"],"ns_udn":["10.10.0.0/24","2014:100:200::/64"]}`
 */
import { z } from 'zod';
import type { Cidr } from '../../net/cidr.ts';
import { NODE_ANNOTATIONS } from '../names.ts';
import { parseJson, parseWith, readJson } from '../parse.ts';
import { cidrSchema } from '../scalars.ts';
import { annotationOf } from './annotation-of.ts';

/** Network name → one subnet per family, or per subnet of a default network that has several of a family. */
export type NodeSubnets = ReadonlyMap<string, readonly Cidr[]>;

/**
 * A single subnet may also stand without its list.
 * @param before what an earlier text said: of hundreds of networks, those that are written the same are not read again
 * @throws ApiError
 */
export const parseNodeSubnets = (text: string, node: string, before: NodeSubnets = new Map()): NodeSubnets => {
  const object = annotationOf('Node', NODE_ANNOTATIONS.subnets, node);
  const written = parseJson(text, object);
  if (!isRecord(written) || before.size === 0) return new Map(Object.entries(parseWith(schema, written, object)));
  const news = Object.entries(written).filter(([network, list]) => !isSame(before.get(network), list));
  const read = new Map(Object.entries(parseWith(schema, Object.fromEntries(news), object)));
  return new Map(
    Object.keys(written).flatMap((network) => {
      const subnets = read.get(network) ?? before.get(network);
      return subnets === undefined ? [] : [[network, subnets] as const];
    }),
  );
};

/** Of a text that is wrong somewhere, what is right: of one network another one's nonsense says nothing. */
export const readableNodeSubnets = (text: string): NodeSubnets => {
  const written = jsonOrNothing(text);
  if (!isRecord(written)) return new Map();
  return new Map(
    Object.entries(written).flatMap(([network, list]) => {
      const subnets = [list].flat().flatMap((item) => cidrSchema.safeParse(item).data ?? []);
      return subnets.length === 0 ? [] : [[network, subnets] as const];
    }),
  );
};

const jsonOrNothing = (text: string): unknown => {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isSame = (known: readonly Cidr[] | undefined, written: unknown): boolean =>
  known !== undefined &&
  Array.isArray(written) &&
  written.length === known.length &&
  known.every((cidr, index) => written[index] === cidr);

/** Always lists; networks sorted by name. */
export const formatNodeSubnets = (subnets: NodeSubnets): string =>
  joinNodeSubnets([...subnets].sort(byName).map(([network, held]) => formatNodeSubnet(network, held)));

/** What the text has of one network. Nothing of a CIDR needs an escape. */
export const formatNodeSubnet = (network: string, subnets: readonly Cidr[]): string =>
  `${JSON.stringify(network)}:[${subnets.map((cidr) => `"${cidr}"`).join(',')}]`;

/** @param parts of `formatNodeSubnet`, in the order of the networks' names */
export const joinNodeSubnets = (parts: readonly string[]): string => `{${parts.join(',')}}`;

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

const schema = z.record(
  z.string(),
  z.preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(cidrSchema)),
);
