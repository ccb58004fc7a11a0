/** What is asked for instead of what a kubeconfig says, with kubectl's flags and meaning. */
import { KubeError } from '../errors.ts';
import type { Cluster, User } from './kubeconfig-schema.ts';

export interface ConnectionOverrides {
  /** Of the kubeconfig, instead of those of its context. */
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
  readonly server?: string | undefined;
  readonly tlsServerName?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
  readonly certificateAuthority?: string | undefined;
  readonly clientCertificate?: string | undefined;
  readonly clientKey?: string | undefined;
  readonly token?: string | undefined;
  readonly as?: string | undefined;
  readonly asUid?: string | undefined;
  readonly asGroups?: readonly string[] | undefined;
}

export const isOverridden = (overrides: ConnectionOverrides): boolean =>
  Object.values(overrides).some((value) => value !== undefined);

/** @throws KubeError ERR_KUBE_CONFIG */
export const overriddenCluster = (cluster: Cluster, overrides: ConnectionOverrides): Cluster => {
  const { server, tlsServerName, insecureSkipTlsVerify, certificateAuthority } = overrides;
  if (insecureSkipTlsVerify === true && certificateAuthority !== undefined) {
    throw new KubeError('ERR_KUBE_CONFIG', 'a certificate authority has no meaning where TLS is not verified');
  }
  const changed: Cluster = { ...cluster };
  if (certificateAuthority !== undefined || insecureSkipTlsVerify === true) {
    changed['certificate-authority'] = certificateAuthority;
    changed['certificate-authority-data'] = undefined;
  }
  if (insecureSkipTlsVerify !== undefined) changed['insecure-skip-tls-verify'] = insecureSkipTlsVerify;
  // The name in the certificate is that of the server which is not asked.
  if (server !== undefined || tlsServerName !== undefined) changed['tls-server-name'] = tlsServerName;
  return { ...changed, server: server ?? cluster.server };
};

/** @throws KubeError ERR_KUBE_CONFIG */
export const overriddenUser = (user: User, overrides: ConnectionOverrides): User => {
  const { token, clientCertificate, clientKey, as, asUid, asGroups = [] } = overrides;
  if (as === undefined && (asGroups.length > 0 || asUid !== undefined)) {
    throw new KubeError('ERR_KUBE_CONFIG', 'a group or a UID requires the name of a user: --as');
  }
  const changed: User = { ...user };
  if (token !== undefined) Object.assign(changed, WITHOUT_SECRETS, { token });
  if (clientCertificate !== undefined) {
    changed['client-certificate'] = clientCertificate;
    changed['client-certificate-data'] = undefined;
  }
  if (clientKey !== undefined) {
    changed['client-key'] = clientKey;
    changed['client-key-data'] = undefined;
  }
  // Groups of the kubeconfig are those of the user that it names.
  if (as !== undefined) Object.assign(changed, { as, 'as-uid': asUid, 'as-groups': [...asGroups] });
  return changed;
};

/** A token that is given wins over whatever else says who asks, certificates apart. */
const WITHOUT_SECRETS: Partial<User> = {
  tokenFile: undefined,
  username: undefined,
  password: undefined,
  exec: undefined,
  'auth-provider': undefined,
};
