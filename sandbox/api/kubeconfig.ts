import { parseDocument, stringify } from 'yaml';

/** How an API server is known and who asks it. PEM where not a token. */
export interface KubeconfigCredentials {
  /** Of the server's authority. */
  readonly authority: string;
  readonly user:
    | { readonly kind: 'certificate'; readonly certificate: string; readonly key: string }
    | { readonly kind: 'token'; readonly token: string };
}

/** A kubeconfig; without credentials for a server without authentication. */
export const kubeconfigFor = (server: string, credentials?: KubeconfigCredentials): string =>
  stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'sandbox', cluster: { server, ...clusterOf(credentials) } }],
      users: [{ name: 'sandbox', user: userOf(credentials) }],
      contexts: [{ name: 'sandbox', context: { cluster: 'sandbox', user: 'sandbox', namespace: 'default' } }],
      'current-context': 'sandbox',
    },
    { lineWidth: 0 },
  );

/** The same user and authority at another address, for who reaches the server by another way. */
export const atServer = (kubeconfig: string, server: string): string => {
  const document = parseDocument(kubeconfig);
  document.setIn(['clusters', 0, 'cluster', 'server'], server);
  return document.toString({ lineWidth: 0 });
};

const clusterOf = (credentials: KubeconfigCredentials | undefined): Record<string, string> =>
  credentials === undefined ? {} : { 'certificate-authority-data': base64(credentials.authority) };

const userOf = (credentials: KubeconfigCredentials | undefined): Record<string, string> => {
  if (credentials === undefined) return {};
  const { user } = credentials;
  if (user.kind === 'token') return { token: user.token };
  return { 'client-certificate-data': base64(user.certificate), 'client-key-data': base64(user.key) };
};

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
