/** Clients of an API server as whom a test likes. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { connect } from '../../kube/client/connect.ts';
import { loadConnection } from '../../kube/config/load.ts';
import type { KubeClient } from '../../kube/types.ts';

/** What a kubeconfig says of who asks. */
export type User = Readonly<Record<string, unknown>>;

const kubeconfigSchema = z.looseObject({ users: z.array(z.looseObject({ user: z.looseObject({}) })) });

/** @param kubeconfig text @param change of its user */
export const connectAs = async (kubeconfig: string, change: (user: User) => User): Promise<KubeClient> => {
  const folder = await mkdtemp(join(tmpdir(), 'connect-as-'));
  try {
    const file = join(folder, 'config');
    const config = kubeconfigSchema.parse(parse(kubeconfig));
    const users = config.users.map((one) => ({ ...one, user: change(one.user) }));
    await writeFile(file, stringify({ ...config, users }), { mode: 0o600 });
    return connect(await loadConnection({ kubeconfig: file, env: {} }), { userAgent: 'test' });
  } finally {
    await rm(folder, { recursive: true });
  }
};
