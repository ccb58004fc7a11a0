/** `api`: an API server in the foreground. */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { startEmbeddedServer } from '../../kube/embedded/server.ts';
import { openDataFolder } from '../api/data-folder.ts';
import { SandboxError } from '../errors.ts';
import { startSandbox } from '../index.ts';
import { API_KINDS } from '../plan/options.ts';

interface ApiOptions {
  readonly api: string;
  readonly kubeconfig: string;
  readonly port: string;
  readonly socket?: string;
  readonly data?: string;
  readonly serviceSubnet: readonly string[];
  readonly endpoint: readonly string[];
  readonly endpointPort: string;
}

const collect = (value: string, all: readonly string[]): readonly string[] => [...all, value];

export const addApiCommand = (program: Command): void => {
  program
    .command('api')
    .exitOverride()
    .description('only an API server, on this machine, until SIGTERM; writes a kubeconfig when it is ready')
    .addOption(new Option('--api <kind>', 'which').choices(API_KINDS).default('embedded').env('UDN_API'))
    .addOption(new Option('--kubeconfig <file>', 'where to write it').makeOptionMandatory())
    .addOption(new Option('--port <port>', 'port on 127.0.0.1; 0 picks a free one').default('0').env('UDN_API_PORT'))
    .addOption(new Option('--socket <path>', 'a unix socket to listen on as well'))
    .addOption(
      new Option(
        '--data <folder>',
        'store the objects there: the next server with this directory continues with them, on the same port',
      ),
    )
    .addOption(new Option('--service-subnet <cidr>', 'where ClusterIPs come from').argParser(collect).default([]))
    .addOption(
      new Option('--endpoint <address>', 'what the Service default/kubernetes leads to').argParser(collect).default([]),
    )
    .addOption(new Option('--endpoint-port <port>', 'of it').default('6443'))
    .action(serve);
};

const serve = async (options: ApiOptions, command: Command): Promise<void> => {
  const stopped = new Promise<void>((resolve) => {
    process.once('SIGTERM', () => resolve()).once('SIGINT', () => resolve());
  });
  await (options.api === 'kube' ? serveReal(options, command, stopped) : serveEmbedded(options, stopped));
};

/** etcd, kube-apiserver and its controllers, as a cluster without nodes has them. What they are told is a sandbox's own. */
const serveReal = async ({ kubeconfig }: ApiOptions, command: Command, stopped: Promise<void>): Promise<void> => {
  const given = OF_EMBEDDED.find(
    (name) => command.getOptionValueSource(name) !== 'default' && command.getOptionValue(name) !== undefined,
  );
  if (given !== undefined) {
    const flag = given.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw new SandboxError('ERR_SANDBOX_USAGE', `--${flag} is of the embedded API server only`);
  }
  const sandbox = await startSandbox({ name: `api-${process.pid}`, api: 'kube', nodes: 0, programs: 'api' });
  try {
    const own = (await sandbox.status()).kubeconfig;
    if (own === undefined) throw new SandboxError('ERR_SANDBOX_MACHINE', 'the API server has no kubeconfig');
    await writeWhole(kubeconfig, await readFile(own, 'utf8'));
    await stopped;
    await rm(kubeconfig, { force: true });
  } finally {
    await sandbox.down();
  }
};

const OF_EMBEDDED = ['port', 'socket', 'data', 'serviceSubnet', 'endpoint', 'endpointPort'] as const;

const serveEmbedded = async (options: ApiOptions, stopped: Promise<void>): Promise<void> => {
  const kept = options.data === undefined ? undefined : await openDataFolder(options.data);
  const server = await startEmbeddedServer({
    listen: [
      { host: '127.0.0.1', port: portOf(options.port) || (kept?.port ?? 0) },
      ...(options.socket === undefined ? [] : [{ path: options.socket }]),
    ],
    data: kept?.objects,
    ...(options.serviceSubnet.length === 0 ? {} : { serviceCidrs: options.serviceSubnet }),
    ...(options.endpoint.length === 0
      ? {}
      : { apiServerEndpoint: { addresses: options.endpoint, port: portOf(options.endpointPort) } }),
  });
  try {
    await writeWhole(options.kubeconfig, server.kubeconfig());
    await stopped;
    // Of a server that will come back it stays true.
    if (kept === undefined) await rm(options.kubeconfig, { force: true });
  } finally {
    await server.close();
  }
};

/** Whoever waits for the file finds all of it. */
const writeWhole = async (path: string, content: string): Promise<void> => {
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, content, { mode: 0o600 });
  await rename(draft, path);
};

const portOf = (text: string): number => {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new SandboxError('ERR_SANDBOX_USAGE', `"${text}" is not a port`);
};
