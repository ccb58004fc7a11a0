/** Services of the cast, with endpoints that are written by hand: who may make EndpointSlices names any address in them. */
import type { ManifestObject } from '../../../sandbox/index.ts';
import { nodeOf } from './cast.ts';
import { DEFAULT_TENANT } from './world.ts';

export interface ServiceOfCast {
  /** `namespace/name` */
  readonly name: string;
  readonly port: number;
  /** The same for UDP and TCP. */
  readonly nodePort: number;
  /** With it `externalTrafficPolicy` is `Local`. */
  readonly healthCheckPort?: number;
  readonly internalTrafficPolicy: 'Cluster' | 'Local';
  /** Pods. */
  readonly names: readonly string[];
  /** By their locked interfaces: nobody is behind it. */
  readonly isLocked: boolean;
}

const of = (
  name: string,
  nodePort: number,
  names: readonly string[],
  more: Partial<ServiceOfCast> = {},
): ServiceOfCast => ({ name, nodePort, names, port: 8081, internalTrafficPolicy: 'Cluster', isLocked: false, ...more });

export const SERVICES: readonly ServiceOfCast[] = [
  of(`${DEFAULT_TENANT}/web`, 30_081, ['plain/b']),
  of('blue/web', 30_082, ['blue/a']),
  of(`${DEFAULT_TENANT}/near`, 30_083, ['plain/b', 'plain/d'], { healthCheckPort: 31_083 }),
  of('blue/near', 30_084, ['blue/a', 'blue/c'], { healthCheckPort: 31_084 }),
  of(`${DEFAULT_TENANT}/trap`, 30_085, ['red/b', 'red/d'], { isLocked: true }),
  of(`${DEFAULT_TENANT}/trap-local`, 30_086, ['red/b', 'red/d'], {
    ...{ isLocked: true, internalTrafficPolicy: 'Local', healthCheckPort: 31_086 },
  }),
];

interface AddressedPod {
  readonly pod: string;
  readonly addresses: readonly string[];
}

export const serviceManifests = (service: ServiceOfCast, endpoints: readonly AddressedPod[]): ManifestObject[] => {
  const [namespace = '', name = ''] = service.name.split('/');
  const { nodePort, healthCheckPort, internalTrafficPolicy } = service;
  const ports = [
    { name: 'udp', protocol: 'UDP', port: service.port },
    { name: 'tcp', protocol: 'TCP', port: 8080 },
  ];
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace },
      spec: {
        type: healthCheckPort === undefined ? 'NodePort' : 'LoadBalancer',
        ...(healthCheckPort !== undefined && { externalTrafficPolicy: 'Local', healthCheckNodePort: healthCheckPort }),
        ipFamilyPolicy: 'RequireDualStack',
        ipFamilies: ['IPv4', 'IPv6'],
        internalTrafficPolicy,
        ports: ports.map((port) => ({ ...port, nodePort })),
      },
    },
    ...(['IPv4', 'IPv6'] as const).map(
      (addressType): ManifestObject => ({
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: {
          name: `${name}-${addressType.toLowerCase()}`,
          namespace,
          labels: { 'kubernetes.io/service-name': name },
        },
        addressType,
        endpoints: endpoints.map(({ pod, addresses }) => ({
          addresses: addresses.filter((one) => one.includes(':') === (addressType === 'IPv6')),
          nodeName: nodeOf(pod),
          conditions: { ready: true },
        })),
        ports,
      }),
    ),
  ];
};
