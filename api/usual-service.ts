/** Reads a Service without the schema. */
import { type Ip, parseIp } from '../net/ip.ts';
import type { ServiceFields, ServicePort, ServiceProtocol, TrafficPolicy } from './service.ts';
import { integer, list, map, namespacedMeta, nullish, oneOf, text, unusual, usual } from './usual.ts';

type Spec = ServiceFields['spec'];

/** @returns what the schema makes of it, or undefined: for the schema to decide */
export const usualService = usual((value): ServiceFields => {
  const fields = map(value);
  return {
    metadata: namespacedMeta(fields['metadata']),
    spec: spec(fields['spec']),
    status: nullish(fields['status'], status),
  };
});

const spec = (value: unknown): Spec => {
  const fields = map(value);
  return {
    type: nullish(fields['type'], type) ?? 'ClusterIP',
    clusterIP: nullish(fields['clusterIP'], clusterIp),
    clusterIPs: nullish(fields['clusterIPs'], (ips) => list(ips).map(clusterIp)),
    ports: list(fields['ports']).map(servicePort),
    externalIPs: list(fields['externalIPs']).map(text),
    externalTrafficPolicy: nullish(fields['externalTrafficPolicy'], policy),
    internalTrafficPolicy: nullish(fields['internalTrafficPolicy'], policy),
    healthCheckNodePort: optionalPort(fields['healthCheckNodePort']),
    sessionAffinity: nullish(fields['sessionAffinity'], affinity),
    sessionAffinityConfig: nullish(fields['sessionAffinityConfig'], affinityConfig),
  };
};

const type = oneOf<Spec['type']>(['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName']);
const policy = oneOf<TrafficPolicy>(['Cluster', 'Local']);
const protocol = oneOf<ServiceProtocol>(['TCP', 'UDP', 'SCTP']);
const affinity = oneOf(['None', 'ClientIP'] as const);

const clusterIp = (value: unknown): Ip | undefined =>
  value === 'None' || value === '' ? undefined : parseIp(text(value));

const servicePort = (value: unknown): ServicePort => {
  const fields = map(value);
  const nodePort = optionalPort(fields['nodePort']);
  const port = {
    name: nullish(fields['name'], text) ?? '',
    protocol: nullish(fields['protocol'], protocol) ?? 'TCP',
    port: portNumber(fields['port']),
  };
  return nodePort === undefined ? port : { ...port, nodePort };
};

const portNumber = (value: unknown): number => within(1, 65_535, integer(value));

const optionalPort = (value: unknown): number | undefined =>
  value === undefined || value === null || value === 0 ? undefined : portNumber(value);

const within = (least: number, most: number, value: number): number =>
  value >= least && value <= most ? value : unusual();

const affinityConfig = (value: unknown): NonNullable<Spec['sessionAffinityConfig']> => ({
  clientIP: nullish(map(value)['clientIP'], (clientIP) => ({
    timeoutSeconds: nullish(map(clientIP)['timeoutSeconds'], (seconds) => within(1, 86_400, integer(seconds))),
  })),
});

const status = (value: unknown): NonNullable<ServiceFields['status']> => ({
  loadBalancer: nullish(map(value)['loadBalancer'], (loadBalancer) => ({
    ingress: list(map(loadBalancer)['ingress']).map((one) => {
      const fields = map(one);
      return { ip: nullish(fields['ip'], text), ipMode: nullish(fields['ipMode'], text) };
    }),
  })),
});
