/** What the sandbox's control plane reads of API objects. */
import { z } from 'zod';
import type { KubeObject } from '../../kube/types.ts';
import { type Family, isIp } from '../../net/ip.ts';
import type { PodFacts, ServiceFacts } from './endpoint-slices.ts';
import type { PlaceableNode, PodToPlace } from './placement.ts';

const strings = z.record(z.string(), z.string());

const nodeSchema = z.object({
  metadata: z.object({ name: z.string(), labels: strings.default({}) }),
  spec: z.object({ unschedulable: z.boolean().default(false) }).default({ unschedulable: false }),
  status: z
    .object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]) })
    .default({ conditions: [] }),
});

const podSchema = z.object({
  metadata: z.object({ name: z.string(), namespace: z.string(), deletionTimestamp: z.string().optional() }),
  spec: z.object({ nodeName: z.string().optional(), nodeSelector: strings.default({}) }),
});

export interface PendingPod extends PodToPlace {
  readonly namespace: string;
  readonly name: string;
}

export const readNode = (object: KubeObject): PlaceableNode => {
  const { metadata, spec, status } = nodeSchema.parse(object);
  return {
    name: metadata.name,
    labels: metadata.labels,
    isReady: status.conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True'),
    isUnschedulable: spec.unschedulable,
  };
};

/** Undefined for pods that have a node or are on their way out. */
export const readPendingPod = (object: KubeObject): PendingPod | undefined => {
  const { metadata, spec } = podSchema.parse(object);
  if (spec.nodeName || metadata.deletionTimestamp !== undefined) return undefined;
  return { namespace: metadata.namespace, name: metadata.name, nodeSelector: spec.nodeSelector };
};

const serviceSchema = z.object({
  metadata: z.object({ name: z.string(), namespace: z.string(), uid: z.string() }),
  spec: z.object({
    selector: strings.optional(),
    type: z.string().default('ClusterIP'),
    clusterIP: z.string().default(''),
    ipFamilies: z.array(z.string()).default(['IPv4']),
    publishNotReadyAddresses: z.boolean().default(false),
    ports: z
      .array(
        z.object({
          name: z.string().default(''),
          protocol: z.string().default('TCP'),
          port: z.number(),
          targetPort: z.union([z.number(), z.string()]).optional(),
          appProtocol: z.string().optional(),
        }),
      )
      .default([]),
  }),
});

/** Undefined for Services that have no EndpointSlices of ours: without selector, or names for something outside. */
export const readService = (object: KubeObject): ServiceFacts | undefined => {
  const { metadata, spec } = serviceSchema.parse(object);
  const { selector = {}, ports, clusterIP, ipFamilies } = spec;
  if (Object.keys(selector).length === 0 || spec.type === 'ExternalName') return undefined;
  return {
    ...{ namespace: metadata.namespace, name: metadata.name, uid: metadata.uid, selector },
    families: ipFamilies.map((family): Family => (family === 'IPv6' ? 6 : 4)),
    publishNotReady: spec.publishNotReadyAddresses,
    isHeadless: clusterIP === 'None',
    ports: ports.map((port) => ({
      ...{ name: port.name, protocol: port.protocol, port: port.port, appProtocol: port.appProtocol },
      targetPort: port.targetPort === undefined || port.targetPort === 0 ? port.port : port.targetPort,
    })),
  };
};

const endpointPodSchema = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
    labels: strings.default({}),
    deletionTimestamp: z.string().optional(),
  }),
  spec: z.object({
    nodeName: z.string().optional(),
    containers: z
      .array(
        z.object({
          ports: z.array(z.object({ name: z.string().optional(), containerPort: z.number() })).default([]),
        }),
      )
      .default([]),
  }),
  status: z
    .object({
      phase: z.string().default('Pending'),
      podIPs: z.array(z.object({ ip: z.string() })).default([]),
      conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]),
    })
    .prefault({}),
});

/** Undefined for pods that can be no endpoints: without address, or done. */
export const readEndpointPod = (object: KubeObject): PodFacts | undefined => {
  const { metadata, spec, status } = endpointPodSchema.parse(object);
  const addresses = status.podIPs.map(({ ip }) => ip).filter(isIp);
  if (addresses.length === 0 || status.phase === 'Succeeded' || status.phase === 'Failed') return undefined;
  const ports = spec.containers.flatMap((container) => container.ports);
  return {
    ...{ namespace: metadata.namespace, name: metadata.name, uid: metadata.uid, labels: metadata.labels, addresses },
    nodeName: spec.nodeName,
    isReady: status.conditions.some(({ type, status: value }) => type === 'Ready' && value === 'True'),
    isTerminating: metadata.deletionTimestamp !== undefined,
    ports: Object.fromEntries(
      ports.flatMap(({ name, containerPort }) => (name === undefined ? [] : [[name, containerPort]])),
    ),
  };
};
