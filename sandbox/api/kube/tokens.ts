/** Tokens of service accounts, as the kubelet asks for them for pods. */
import { z } from 'zod';
import { NODES } from '../../../kube/resources.ts';
import type { KubeClient } from '../../../kube/types.ts';
import type { ServiceAccount } from '../types.ts';
import { PROJECT_NAMESPACE } from './identities.ts';

const tokenRequest = z.object({ status: z.object({ token: z.string() }) });

/** Nobody reads the file again: the token has to last as long as a sandbox does. */
const LIFETIME_SECONDS = 30 * 24 * 3600;

/**
 * @param account a name: of this project's namespace
 * @param node what the token is bound to: it says from which node its bearer is, and goes with the Node object
 */
export const requestToken = async (
  client: KubeClient,
  account: string | ServiceAccount,
  node: string | undefined,
  signal?: AbortSignal,
): Promise<string> => {
  const spec = { expirationSeconds: LIFETIME_SECONDS, ...(await boundTo(client, node, signal)) };
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
  const { namespace, name } = typeof account === 'string' ? { namespace: PROJECT_NAMESPACE, name: account } : account;
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  return tokenRequest.parse(await client.request({ method: 'POST', path, body }, signal)).status.token;
};

const boundTo = async (
  client: KubeClient,
  node: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Record<string, unknown>> => {
  if (node === undefined) return {};
  const { metadata } = await client.get(NODES, { name: node }, signal);
  return { boundObjectRef: { apiVersion: 'v1', kind: 'Node', name: node, uid: metadata.uid } };
};
