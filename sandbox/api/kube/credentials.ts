/** The keys and certificates of one cluster. */
import { mkdir, writeFile } from 'node:fs/promises';
import { type KubeconfigCredentials, kubeconfigFor } from '../kubeconfig.ts';
import { type Authority, createAuthority, createSigningKey, type Subject } from './certificate.ts';
import { CONTROLLER_MANAGER, KUBELET_CLIENT, SCHEDULER } from './identities.ts';
import type { KubePaths } from './paths.ts';

export interface CredentialsSpec {
  readonly paths: KubePaths;
  /** By which programs know the server. */
  readonly serverNames: readonly string[];
  /** Where the controller manager reaches it. */
  readonly server: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface ClusterCredentials {
  /** With a certificate that names the user. */
  kubeconfig(server: string, subject: Subject): string;
  /** With a token that the API server gave. */
  tokenKubeconfig(server: string, token: string): string;
}

/** Makes them, and the files that the control plane reads. */
export const makeCredentials = async (spec: CredentialsSpec): Promise<ClusterCredentials> => {
  const { paths, serverNames, server, now } = spec;
  const authority = createAuthority('sandbox', now);
  const serving = authority.issue({ commonName: 'kube-apiserver' }, serverNames);
  const asking = authority.issue(KUBELET_CLIENT);
  const credentials = credentialsOf(authority);
  await mkdir(paths.folder, { recursive: true, mode: 0o700 });
  const files = [
    [paths.authority, authority.certificate],
    [paths.serverCertificate, serving.certificate],
    [paths.serverKey, serving.key],
    [paths.tokenKey, createSigningKey()],
    [paths.controllerManagerKubeconfig, credentials.kubeconfig(server, CONTROLLER_MANAGER)],
    [paths.schedulerKubeconfig, credentials.kubeconfig(server, SCHEDULER)],
    [paths.kubeletClientCertificate, asking.certificate],
    [paths.kubeletClientKey, asking.key],
  ] as const;
  await Promise.all(files.map(([path, content]) => writeFile(path, content, { mode: 0o600 })));
  return credentials;
};

const credentialsOf = (authority: Authority): ClusterCredentials => {
  const withUser = (server: string, user: KubeconfigCredentials['user']): string =>
    kubeconfigFor(server, { authority: authority.certificate, user });
  return {
    kubeconfig: (server, subject) => withUser(server, { kind: 'certificate', ...authority.issue(subject) }),
    tokenKubeconfig: (server, token) => withUser(server, { kind: 'token', token }),
  };
};
