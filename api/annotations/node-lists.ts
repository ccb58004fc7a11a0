/** Node annotations that are a JSON list of texts: `k8s.ovn.org/host-cidrs`, `k8s.ovn.org/node-encap-ips`. */
import { z } from 'zod';
import type { InterfaceAddress } from '../../net/cidr.ts';
import type { Ip } from '../../net/ip.ts';
import { NODE_ANNOTATIONS } from '../names.ts';
import { parseJsonWith } from '../parse.ts';
import { interfaceAddressSchema, ipSchema } from '../scalars.ts';
import { annotationOf } from './annotation-of.ts';

/** The addresses of the host with their prefix lengths. @throws ApiError */
export const parseHostCidrs = (text: string, node: string): readonly InterfaceAddress[] =>
  parseJsonWith(z.array(interfaceAddressSchema), text, annotationOf('Node', NODE_ANNOTATIONS.hostCidrs, node));

/** Sorted as text, each once. */
export const formatHostCidrs = (addresses: readonly InterfaceAddress[]): string =>
  JSON.stringify([...new Set(addresses)].sort());

/** Where the other nodes' tunnels end. @throws ApiError */
export const parseEncapIps = (text: string, node: string): readonly Ip[] =>
  parseJsonWith(z.array(ipSchema), text, annotationOf('Node', NODE_ANNOTATIONS.encapIps, node));

export const formatEncapIps = (ips: readonly Ip[]): string => JSON.stringify(ips);
