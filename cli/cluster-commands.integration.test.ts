/** Who is asked: the node's agent or the API server. */

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { crdFiles } from '../api/crd/crds.ts';
import { startEmbeddedServer } from '../kube/embedded/server.ts';
import type { EmbeddedServer } from '../kube/embedded/types.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../kube/resources.ts';

let server: EmbeddedServer;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'udnctl-asks-'));
  server = await startEmbeddedServer({ listen: [{ host: '127.0.0.1', port: 0 }] });
  const client = server.cluster.client();
  for (const text of Object.values(crdFiles())) await client.create(CUSTOM_RESOURCE_DEFINITIONS, parse(text));
  await server.cluster.settled();
  await writeFile(join(folder, 'config'), server.kubeconfig());
});
afterAll(async () => {
  await server?.close();
  await rm(folder, { recursive: true });
});

const run = (args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<string> => {
  const env = { PATH: process.env['PATH'], KUBECONFIG: join(folder, 'config'), ...more };
  const main = join(import.meta.dirname, 'main.ts');
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { env }, (_, stdout, stderr) => resolve(stdout + stderr));
  });
};

it.concurrent.each([
  ['without an agent, the API server', ['pods'], {}, 'no pods in namespace default; -A shows all\n'],
  [
    'the API server, when that is said',
    ['networks', '--cluster'],
    {},
    'no networks in namespace default; -A shows all\n',
  ],
  ['the API server, for all namespaces', ['networks', '-A', '--agent-socket', '/nonexistent/a'], {}, 'no networks\n'],
  [
    'the API server, which alone is asked for Services',
    ['services', '-n', 'none'],
    { UDN_STATUS_SOCKET: '/nonexistent/a' },
    'no services in namespace none; -A shows all\n',
  ],
  ['the agent that is named', ['networks', '--agent-socket', '/nonexistent/a'], {}, /^udnctl: .*\/nonexistent\/a/],
  ['the agent of the environment', ['pods'], { UDN_STATUS_SOCKET: '/nonexistent/a' }, /^udnctl: .*\/nonexistent\/a/],
  ['the API server, which alone knows what is to be drawn', ['graph', '-A', '-o', 'mermaid'], {}, /^flowchart LR\n/],
  [
    'the API server, for a picture',
    ['graph'],
    { UDN_STATUS_SOCKET: '/nonexistent/a' },
    /^<svg [\s\S]*>no networks<[\s\S]*<\/svg>\n$/,
  ],
  ['nobody, for a kind of picture that there is not', ['graph', '-o', 'a.png'], {}, /^udnctl: -o "a.png" is not svg/],
  [
    'the API server, for a network that it does not have',
    ['graph', 'red/net'],
    {},
    'udnctl: there is no network red/net in namespace red; -A looks everywhere\n',
  ],
  ['of all nodes, in the pod of an agent', ['pods', '-A'], { UDN_NODE: 'n1' }, 'no pods\n'],
] as const)('%s', async (_, args, env, expected) => {
  expect(await run(args, env)).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected));
});

it('a picture goes into a file', async () => {
  const file = join(folder, 'networks.svg');
  expect(await run(['graph', '-A', '-o', file])).toBe('');
  expect(await readFile(file, 'utf8')).toMatch(/^<svg /);
});

it('the doctor of the cluster', async () => {
  expect(await run(['doctor', '--cluster'])).toBe('no problems: 0 networks, 0 NADs, 0 nodes and 0 pods were checked\n');
});
