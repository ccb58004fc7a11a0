/**
 * A real API server for tests: that of the kubeconfig in UDN_CONFORMANCE_KUBECONFIG, for a server that may be filled with
 * namespaces, else a sandbox's. UDN_CONFORMANCE_CONTROLLERS=true says that kube-controller-manager runs on the given one.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { connect } from '../../../kube/client/connect.ts';
import { loadConnection } from '../../../kube/config/load.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { type Sandbox, startSandbox } from '../../../sandbox/index.ts';
import { untilNothingIsLeft } from '../../../sandbox/leaks.ts';
import { eventually } from './harness.ts';

const run = promisify(execFile);

export interface RealServer {
  /** A file. */
  readonly kubeconfig: string;
  connect(): Promise<KubeClient>;
  /** Makes it forget its history; absent: it is not ours to compact. */
  readonly compact?: () => Promise<void>;
  close(): Promise<void>;
}

const GIVEN = process.env['UDN_CONFORMANCE_KUBECONFIG'];

export const realServerHasControllers = GIVEN === undefined || process.env['UDN_CONFORMANCE_CONTROLLERS'] === 'true';

/**
 * @param name of the sandbox, one for each file of tests: files run beside each other
 * @param definitions whether our custom resource definitions are there; a given server has what it has
 */
export const startRealServer = async (name: string, { definitions = true } = {}): Promise<RealServer> => {
  if (GIVEN !== undefined) return { ...reached(GIVEN), close: () => Promise.resolve() };
  const sandbox = await startSandbox({ name, nodes: 0, programs: 'api', api: 'kube', definitions });
  const { kubeconfig = '' } = await sandbox.status();
  return {
    ...reached(kubeconfig),
    compact: () => compact(sandbox),
    close: async () => {
      await sandbox.down();
      await untilNothingIsLeft(name);
    },
  };
};

const reached = (kubeconfig: string): Pick<RealServer, 'kubeconfig' | 'connect'> => ({
  kubeconfig,
  connect: async () => connect(await loadConnection({ kubeconfig, env: {} }), { userAgent: 'conformance' }),
});

/** etcd forgets the history, and a new API server has none in its caches. */
const compact = async (sandbox: Sandbox): Promise<void> => {
  const serviceNamed = async (name: string) =>
    (await sandbox.status()).services.find((service) => service.name === name);
  const etcd = await serviceNamed('etcd');
  await run('nsenter', [`--net=/proc/${etcd?.pid}/ns/net`, process.execPath, '--eval', COMPACTION]);
  const before = (await serviceNamed('api'))?.restarts ?? 0;
  await sandbox.kill('control-plane', 'api', 'SIGKILL');
  const client = await sandbox.client();
  await eventually(async () => {
    if ((await serviceNamed('api'))?.restarts !== before + 1) throw new Error('the API server did not start again');
    await client.request({ method: 'GET', path: '/api/v1/namespaces/default' });
  }, 60_000);
};

/** By etcd's JSON gateway, where etcd listens. */
const COMPACTION = `
  const call = async (path, body) => {
    const answer = await fetch('http://127.0.0.1:2379/v3/kv/' + path, { method: 'POST', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(path + ': ' + (await answer.text()));
    return answer.json();
  };
  const { header } = await call('range', { key: 'AA==' });
  await call('compaction', { revision: header.revision, physical: true });
`;
