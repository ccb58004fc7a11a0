/** NetworkPolicies, and pods that serve what these are about. */
import type { ManifestObject } from '../../../../sandbox/index.ts';
import type { Labels, Policy, PolicySpec } from '../../../oracles/policies/types.ts';
import { pod } from '../cluster/manifests.ts';

export const networkPolicy = (
  namespace: string,
  name: string,
  spec: PolicySpec | Readonly<Record<string, unknown>>,
  annotations: Labels = {},
): ManifestObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { namespace, name, annotations },
  spec,
});

export const policyManifest = ({ namespace, name, spec }: Policy): ManifestObject =>
  networkPolicy(namespace, name, spec);

export interface ServingOptions {
  /** What it calls itself. Default: `namespace/name`, as addresses are the same in several networks. */
  readonly hostname?: string;
  readonly labels?: Labels;
  /** HTTP over TCP and `hostname` over UDP and SCTP at each of them. */
  readonly ports: readonly number[];
  readonly named?: readonly { readonly name: string; readonly protocol: string; readonly port: number }[];
}

export const servingPod = (
  namespace: string,
  name: string,
  node: string,
  { labels = {}, ports, named = [], hostname = `${namespace}/${name}` }: ServingOptions,
): ManifestObject => {
  const { metadata, spec, ...rest } = pod(namespace, name, node);
  const servers = ports.map(
    (port) =>
      `toolbox serve --http-port ${port} --udp-port ${port} --sctp-port ${port} --tcp-port 0 --hostname ${hostname}`,
  );
  const container = {
    name: 'main',
    image: 'toolbox',
    command: [
      'sh',
      '-c',
      `${servers
        .slice(1)
        .map((one) => `${one} & `)
        .join('')}exec ${servers[0]}`,
    ],
    ports: named.map(({ name: portName, protocol, port }) => ({ name: portName, protocol, containerPort: port })),
  };
  return {
    ...rest,
    metadata: { ...metadata, labels },
    spec: { ...(spec as object), containers: [container] },
  };
};
