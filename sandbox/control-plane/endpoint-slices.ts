/** The EndpointSlices of a Service with a selector, as kube-controller-manager would make them. Pure. */
import type { Family } from '../../net/ip.ts';

export interface ServiceFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly selector: Readonly<Record<string, string>>;
  readonly families: readonly Family[];
  readonly ports: readonly ServicePort[];
  readonly publishNotReady: boolean;
  readonly isHeadless: boolean;
}

export interface ServicePort {
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
  /** A number, or the name of a pod's port. */
  readonly targetPort: number | string;
  readonly appProtocol: string | undefined;
}

export interface PodFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly nodeName: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly addresses: readonly string[];
  readonly isReady: boolean;
  readonly isTerminating: boolean;
  /** Named ports by name. */
  readonly ports: Readonly<Record<string, number>>;
}

export const MANAGED_BY = 'endpointslice-controller.k8s.io';
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
export const MANAGED_BY_LABEL = 'endpointslice.kubernetes.io/managed-by';
/** Endpoints per slice, the default of kube-controller-manager. */
const MAX_ENDPOINTS = 100;

export interface SliceObject {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

/** One slice at least per family of the Service; more where pods differ in their ports or are many. */
export const slicesOf = (service: ServiceFacts, pods: readonly PodFacts[]): SliceObject[] =>
  service.families.flatMap((family) => familySlices(service, selected(service, pods), family));

export const isSelected = ({ namespace, selector }: ServiceFacts, pod: PodFacts): boolean =>
  pod.namespace === namespace && Object.entries(selector).every(([label, value]) => pod.labels[label] === value);

const selected = (service: ServiceFacts, pods: readonly PodFacts[]): PodFacts[] =>
  pods.filter((pod) => isSelected(service, pod)).sort((a, b) => (a.name < b.name ? -1 : 1));

const familySlices = (service: ServiceFacts, pods: readonly PodFacts[], family: Family): SliceObject[] => {
  const groups = new Map<string, { ports: unknown[]; endpoints: unknown[] }>();
  for (const pod of pods) {
    const address = pod.addresses.find((ip) => ip.includes(':') === (family === 6));
    if (address === undefined) continue;
    const ports = portsFor(service, pod);
    const key = JSON.stringify(ports);
    const group = groups.get(key) ?? { ports, endpoints: [] };
    group.endpoints.push(endpointOf(service, pod, address));
    groups.set(key, group);
  }
  if (groups.size === 0) groups.set('', { ports: [], endpoints: [] });
  return [...groups.values()]
    .flatMap(({ ports, endpoints }) => chunks(endpoints, MAX_ENDPOINTS).map((part) => ({ ports, endpoints: part })))
    .map(({ ports, endpoints }, index) => sliceObject(service, family, index, ports, endpoints));
};

/** Ports whose name the pod does not have are left out. */
const portsFor = ({ ports }: ServiceFacts, pod: PodFacts): unknown[] =>
  ports.flatMap(({ name, protocol, targetPort, appProtocol }) => {
    const port = typeof targetPort === 'number' ? targetPort : pod.ports[targetPort];
    return port === undefined ? [] : [{ name, protocol, port, ...(appProtocol === undefined ? {} : { appProtocol }) }];
  });

const endpointOf = ({ publishNotReady }: ServiceFacts, pod: PodFacts, address: string): unknown => ({
  addresses: [address],
  conditions: {
    ready: (pod.isReady && !pod.isTerminating) || publishNotReady,
    serving: pod.isReady || publishNotReady,
    terminating: pod.isTerminating,
  },
  ...(pod.nodeName === undefined ? {} : { nodeName: pod.nodeName }),
  targetRef: { kind: 'Pod', namespace: pod.namespace, name: pod.name, uid: pod.uid },
});

const sliceObject = (
  { namespace, name, uid, isHeadless }: ServiceFacts,
  family: Family,
  index: number,
  ports: readonly unknown[],
  endpoints: readonly unknown[],
): SliceObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    name: `${name}-ipv${family}-${index + 1}`,
    namespace,
    labels: {
      [SERVICE_NAME_LABEL]: name,
      [MANAGED_BY_LABEL]: MANAGED_BY,
      ...(isHeadless ? { 'service.kubernetes.io/headless': '' } : {}),
    },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name, uid, controller: true, blockOwnerDeletion: true }],
  },
  addressType: `IPv${family}`,
  endpoints,
  ports,
});

const chunks = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.max(1, Math.ceil(items.length / size)) }, (_, i) => items.slice(i * size, (i + 1) * size));
