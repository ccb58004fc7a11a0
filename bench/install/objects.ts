/** What is created in both clusters. Pods have no probes and no node: a scheduler chooses. Pure. */
import { PRIMARY_NETWORK_LABEL, UDN_API_VERSION } from '../../api/names.ts';
import type { ManifestObject } from '../../sandbox/index.ts';

const POD = {
  terminationGracePeriodSeconds: 1,
  containers: [{ name: 'main', image: 'toolbox', command: ['sleep', 'infinity'] }],
};

export const namespace = (name: string, isTenant: boolean): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: isTenant ? { [PRIMARY_NETWORK_LABEL]: '' } : {} },
});

export const network = (inNamespace: string): ManifestObject => ({
  apiVersion: UDN_API_VERSION,
  kind: 'UserDefinedNetwork',
  metadata: { name: 'net', namespace: inNamespace },
  spec: {
    topology: 'Layer3',
    layer3: {
      role: 'Primary',
      subnets: [
        { cidr: '10.20.0.0/16', hostSubnet: 24 },
        { cidr: 'fd00:20::/48', hostSubnet: 64 },
      ],
    },
  },
});

export const pod = (inNamespace: string, name: string): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: inNamespace },
  spec: POD,
});

export const deployment = (inNamespace: string, name: string, replicas: number): ManifestObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: inNamespace },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: POD },
  },
});
