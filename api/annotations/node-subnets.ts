/**
 * `k8s.ovn.org/node-subnets` of a Node: the part of every layer-3 network's subnets that belongs to the node, the default
 * network under `default`. `{"default":["10.244.0.0/24"],"ns_udn":["10.10.0.0/24","2014:100:200::/64"]}`
 */
import { z } from 'zod';
import type { Cidr } from '../../net/cidr.ts';
import { canonicalJson } from '../canonical-json.ts';
import { NODE_ANNOTATIONS } from '../names.ts';
import { parseJsonWith } from '../parse.ts';
import { cidrSchema } from '../scalars.ts';
import { annotationOf } from './annotation-of.ts';

/** Network name → one subnet per family, or per subnet of a default network that has several of a family. */
export type NodeSubnets = ReadonlyMap<string, readonly Cidr[]>;

/** A single subnet may also stand without its list. @throws ApiError */
export const parseNodeSubnets = (text: string, node: string): NodeSubnets =>
  new Map(Object.entries(parseJsonWith(schema, text, annotationOf('Node', NODE_ANNOTATIONS.subnets, node))));

/** Always lists; networks sorted by name. */
export const formatNodeSubnets = (subnets: NodeSubnets): string => canonicalJson(Object.fromEntries(subnets));

const schema = z.record(
  z.string(),
  z.preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(cidrSchema)),
);
