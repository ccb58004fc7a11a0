/** The format of kubeconfig files, as far as it is used here. */
import { z } from 'zod';

const text = z.string().nullish();

const clusterSchema = z.object({
  server: z.string().min(1),
  'certificate-authority': text,
  'certificate-authority-data': text,
  'insecure-skip-tls-verify': z.boolean().nullish(),
  'tls-server-name': text,
  'proxy-url': text,
});

const execSchema = z.object({
  apiVersion: text,
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  provideClusterInfo: z.boolean().nullish(),
});

const userSchema = z.object({
  token: text,
  tokenFile: text,
  'client-certificate': text,
  'client-certificate-data': text,
  'client-key': text,
  'client-key-data': text,
  username: text,
  password: text,
  exec: execSchema.nullish(),
  'auth-provider': z.unknown().optional(),
  as: text,
  'as-uid': text,
  'as-groups': z.array(z.string()).nullish(),
});

const contextSchema = z.object({ cluster: z.string(), user: text, namespace: text });

export const kubeconfigSchema = z.object({
  'current-context': text,
  clusters: z.array(z.object({ name: z.string(), cluster: clusterSchema })).nullish(),
  users: z.array(z.object({ name: z.string(), user: userSchema.nullish() })).nullish(),
  contexts: z.array(z.object({ name: z.string(), context: contextSchema })).nullish(),
});

export type Cluster = z.infer<typeof clusterSchema>;
export type User = z.infer<typeof userSchema>;
export type Context = z.infer<typeof contextSchema>;
