import { stringify } from 'yaml';

/** A kubeconfig for a server without authentication. */
export const kubeconfigFor = (server: string): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'sandbox', cluster: { server } }],
    users: [{ name: 'sandbox', user: {} }],
    contexts: [{ name: 'sandbox', context: { cluster: 'sandbox', user: 'sandbox', namespace: 'default' } }],
    'current-context': 'sandbox',
  });
