/** Services and what is behind them, as tests make them. */
import { z } from 'zod';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import type { Target } from '../../../oracles/reachability/service-clients.ts';
import { pod } from '../cluster/manifests.ts';

/** What the toolbox serves on. */
export const SERVED = { TCP: 8080, UDP: 8081, SCTP: 8083 } as const;

export interface ServiceOptions {
  /** Value of the label `app` of its pods; undefined: somebody else writes its slices. */
  readonly app?: string | undefined;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly withSctp?: boolean;
}

/** Dual-stack, TCP 80 and UDP 53. */
export const service = (
  namespace: string,
  name: string,
  { app, spec = {}, withSctp = false }: ServiceOptions,
): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace, name },
  spec: {
    ...(app !== undefined && { selector: { app } }),
    ipFamilyPolicy: 'RequireDualStack',
    ipFamilies: ['IPv4', 'IPv6'],
    ports: [
      // By its name, too: a number comes out of the pod's specification.
      { name: 'http', protocol: 'TCP', port: 80, targetPort: 'web' },
      { name: 'dns', protocol: 'UDP', port: 53, targetPort: SERVED.UDP },
      ...(withSctp ? [{ name: 'sctp', protocol: 'SCTP', port: 90, targetPort: SERVED.SCTP }] : []),
    ],
    ...spec,
  },
});

export const backend = (namespace: string, name: string, node: string, app: string): ManifestObject => {
  const { metadata, spec, ...rest } = pod(namespace, name, node);
  const [container] = (spec as { containers: object[] }).containers;
  const containers = [{ ...container, ports: [{ name: 'web', containerPort: SERVED.TCP, protocol: 'TCP' }] }];
  return { ...rest, metadata: { ...metadata, labels: { app } }, spec: { ...(spec as object), containers } };
};

/** By hand, of a Service without a selector. */
export const handMadeSlice = (
  namespace: string,
  name: string,
  serviceName: string,
  addresses: readonly string[],
): ManifestObject =>
  writtenSlice(
    namespace,
    name,
    serviceName,
    addresses.map((address) => ({ address })),
  );

export interface WrittenEndpoint {
  readonly address: string;
  readonly node?: string;
  /** `ending`: it still answers. */
  readonly state?: 'ready' | 'ending' | 'gone';
  readonly forZone?: string;
  readonly forNode?: string;
}

/** All that somebody who writes a slice by hand can say of endpoints, all of one family. */
export const writtenSlice = (
  namespace: string,
  name: string,
  serviceName: string,
  endpoints: readonly WrittenEndpoint[],
): ManifestObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { namespace, name, labels: { 'kubernetes.io/service-name': serviceName } },
  addressType: endpoints[0]?.address.includes(':') ? 'IPv6' : 'IPv4',
  endpoints: endpoints.map(({ address, node, state = 'ready', forZone, forNode }) => ({
    addresses: [address],
    ...(node !== undefined && { nodeName: node }),
    conditions: { ready: state === 'ready', serving: state !== 'gone', terminating: state !== 'ready' },
    ...((forZone ?? forNode) !== undefined && {
      hints: {
        ...(forZone !== undefined && { forZones: [{ name: forZone }] }),
        ...(forNode !== undefined && { forNodes: [{ name: forNode }] }),
      },
    }),
  })),
  ports: [
    { name: 'http', protocol: 'TCP', port: SERVED.TCP },
    { name: 'dns', protocol: 'UDP', port: SERVED.UDP },
  ],
});

const serviceSchema = z.object({ spec: z.object({ clusterIPs: z.array(z.string()) }) });

/** @param key `namespace/name` */
export const clusterIps = async (sandbox: Sandbox, key: string): Promise<readonly string[]> =>
  serviceSchema.parse(await (await sandbox.objects()).get('Service', key)).spec.clusterIPs;

/** Of both families, TCP and UDP. */
export const targetsOf = async (sandbox: Sandbox, key: string): Promise<Target[]> =>
  (await clusterIps(sandbox, key)).flatMap((ip): Target[] => [
    { ip, port: 80, protocol: 'TCP' },
    { ip, port: 53, protocol: 'UDP' },
  ]);
