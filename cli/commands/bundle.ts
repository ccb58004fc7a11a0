/** `udnctl bundle`: an archive with all that a report of a bug needs, and no secrets. */
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { messageOf } from '../../base/error-message.ts';
import { tarArchive } from '../../base/tar.ts';
import type { PodExec } from '../../kube/exec/types.ts';
import { NODES, PODS } from '../../kube/resources.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { clusterParts } from '../bundle/cluster-parts.ts';
import { type Bundle, collect, type Part } from '../bundle/collect.ts';
import { logParts } from '../bundle/log-parts.ts';
import { nodeParts } from '../bundle/node-parts.ts';
import { type ServerWithExec, withExec } from '../cluster/cluster-command.ts';
import type { ServerOptions } from '../cluster/server-options.ts';
import { CliError } from '../errors.ts';
import { AGENT_SELECTOR } from '../remote/agent-pods.ts';

export interface BundleOptions extends ServerOptions {
  readonly outputFile?: string;
  readonly agentNamespace: string;
  /** Undefined: all. */
  readonly node?: readonly string[];
}

/** @returns what to say of it */
export const writeBundle = (options: BundleOptions): Promise<string> =>
  withExec(options, async (server) => {
    const name = `udn-bundle-${new Date()
      .toISOString()
      .replace(/[-:]|\..*/g, '')
      .replace('T', '-')}`;
    const file = options.outputFile ?? `${name}.tar.gz`;
    const { entries, missing } = await bundleOf(server, name, options);
    // Only for who asked: dumps name all tenants, their addresses and their pods.
    await writeFile(file, await promisify(gzip)(tarArchive(entries)), { mode: 0o600 });
    const rest = missing === 0 ? '' : `; ${missing} parts are missing, index.txt says why`;
    return `${file}: ${entries.length} files${rest}`;
  });

/** @throws CliError when the API server has nothing to offer: then an archive would have nothing in it */
export const bundleOf = async (
  server: Pick<ServerWithExec, 'client' | 'readLog'> & { readonly exec: Pick<PodExec, 'run'> },
  name: string,
  { agentNamespace: namespace, node }: Pick<BundleOptions, 'agentNamespace' | 'node'>,
): Promise<Bundle> => {
  const { client, exec, readLog } = server;
  const version: Part = { path: 'udnctl-version.txt', read: async () => `udnctl ${packageJson.version}\n` };
  const [cluster, ...others] = await Promise.all([
    clusterParts(client, namespace).catch((error: unknown) => {
      throw new CliError(`no bundle: ${messageOf(error)}`);
    }),
    orMissing('logs', () => logParts(client, readLog, namespace)),
    orMissing('nodes', async () =>
      nodeParts({ client, exec, readLog, namespace }, node ?? (await nodesOf(client, namespace))),
    ),
  ]);
  return await collect(name, [version, ...cluster, ...others.flat()]);
};

/** What cannot even be listed is one line of the index. */
const orMissing = async (path: string, list: () => Promise<readonly Part[]>): Promise<readonly Part[]> => {
  try {
    return await list();
  } catch (error) {
    return [{ path, read: () => Promise.reject(error) }];
  }
};

/** Also those without an agent: that is what is missing of them. */
const nodesOf = async (client: ServerWithExec['client'], namespace: string): Promise<readonly string[]> => {
  const agents = async (): Promise<readonly string[]> =>
    (await client.list(PODS, { namespace, labelSelector: AGENT_SELECTOR })).items.flatMap(({ spec }) => {
      const node = spec !== null && typeof spec === 'object' && 'nodeName' in spec ? spec.nodeName : undefined;
      return typeof node === 'string' ? [node] : [];
    });
  const all = async (): Promise<readonly string[]> =>
    (await client.list(NODES)).items.map(({ metadata }) => metadata.name);
  return await all().catch(agents);
};
