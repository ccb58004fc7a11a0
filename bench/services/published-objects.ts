/** Services that are reached from outside, on the default network, and such that are not. Pure. */
import type { KubeObject } from '../../kube/types.ts';
import { addressAt, parseCidr } from '../../net/cidr.ts';
import { ENDPOINTS_OF_EACH, serviceObject, sliceObject } from './objects.ts';

/** Each so many is published. */
const PUBLISHED_EVERY = 10;
const FIRST_NODE_PORT = 30_000;
const EXTERNAL_IPS = parseCidr('198.18.0.0/16');

/** @param index from 0 on, of those that are published */
export const publishedService = (index: number): number => index * PUBLISHED_EVERY;

/** How many of so many Services are published. */
export const publishedOf = (services: number): number => Math.ceil(services / PUBLISHED_EVERY);

/** Where OVN has it. */
export const vipOf = (index: number): string => `${serviceObject(index).spec.clusterIP}:80`;

/** A ClusterIP; each tenth has a node port and an external address, too, which only answer by endpoints of their node. */
export const mixedService = (index: number): KubeObject => {
  const object = serviceObject(index);
  if (index % PUBLISHED_EVERY !== 0) return object;
  const number = index / PUBLISHED_EVERY;
  const [port] = object.spec.ports;
  return {
    ...object,
    spec: {
      ...object.spec,
      type: 'NodePort',
      externalTrafficPolicy: 'Local',
      internalTrafficPolicy: 'Local',
      externalIPs: [addressAt(EXTERNAL_IPS, BigInt(number + 1))],
      ports: [{ ...port, nodePort: FIRST_NODE_PORT + number }],
    },
  };
};

/** Its endpoints are on the other node; what it has more than the usual number is on this one. */
export const mixedSlice = (index: number, endpoints = ENDPOINTS_OF_EACH): KubeObject => {
  const object = sliceObject(index, endpoints);
  return {
    ...object,
    endpoints: object.endpoints.map((endpoint, position) => ({
      ...endpoint,
      nodeName: position < ENDPOINTS_OF_EACH ? 'node-2' : 'node-1',
    })),
  };
};
