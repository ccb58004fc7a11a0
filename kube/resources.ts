/** The built-in kinds that this project reads or writes. The kinds of CRDs are described where they are used. */
import type { ResourceType } from './types.ts';

const core = (plural: string, kind: string, namespaced: boolean): ResourceType => ({
  group: '',
  version: 'v1',
  plural,
  kind,
  namespaced,
});

const grouped = (group: string, plural: string, kind: string, namespaced: boolean): ResourceType => ({
  group,
  version: 'v1',
  plural,
  kind,
  namespaced,
});

export const NAMESPACES = core('namespaces', 'Namespace', false);
export const NODES = core('nodes', 'Node', false);
export const PODS = core('pods', 'Pod', true);
export const SERVICES = core('services', 'Service', true);
export const ENDPOINTS = core('endpoints', 'Endpoints', true);
export const CONFIG_MAPS = core('configmaps', 'ConfigMap', true);
export const SECRETS = core('secrets', 'Secret', true);
export const SERVICE_ACCOUNTS = core('serviceaccounts', 'ServiceAccount', true);
export const EVENTS = core('events', 'Event', true);
export const ENDPOINT_SLICES = grouped('discovery.k8s.io', 'endpointslices', 'EndpointSlice', true);
export const NETWORK_POLICIES = grouped('networking.k8s.io', 'networkpolicies', 'NetworkPolicy', true);
export const LEASES = grouped('coordination.k8s.io', 'leases', 'Lease', true);
export const DEPLOYMENTS = grouped('apps', 'deployments', 'Deployment', true);
export const DAEMON_SETS = grouped('apps', 'daemonsets', 'DaemonSet', true);
export const CUSTOM_RESOURCE_DEFINITIONS = grouped(
  'apiextensions.k8s.io',
  'customresourcedefinitions',
  'CustomResourceDefinition',
  false,
);
